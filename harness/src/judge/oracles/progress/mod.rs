//! What the engine reports while it works is what it does: each begin and each end of an operation or a read, of which
//! object, in an order that makes sense, and in messages that do not contradict themselves.
//!
//! People and programs follow an apply by these messages; the ledger is not at hand for them.

mod reads;
mod sequence;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::Trial;
use crate::evidence::{Moment, ObservedOperation, Reported};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::OperationKind;

/// What it looks at.
pub const ABOUT: &str =
    "the engine's messages report every operation and read and no other, in order and without contradiction";

/// Compares messages with each other, with operations and with reads. Without a model nobody knows the addresses of
/// resources, and these are left out.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let evidence = trial.evidence;
    if !trial.speaks() || !evidence.record.ended_in_order() {
        return Vec::new();
    }
    let mut findings = sequence::judge(trial);
    if evidence.output.is_compared {
        findings.extend(operations(trial));
        findings.extend(reads::judge(trial));
    }
    findings
}

/// What is reported is done, and what is done is reported.
fn operations(trial: &Trial<'_>) -> Vec<Finding> {
    let evidence = trial.evidence;
    // What a command does that should change nothing is for others to tell; that it speaks of it is told here.
    let is_due = trial.stage.action.changes_the_world();
    let due = || {
        let address =
            |observed: &ObservedOperation| trial.address(&observed.operation.key).unwrap_or_default();
        let operations = evidence.operations.iter().filter(|_| is_due);
        operations.flat_map(move |observed| due(observed, &address(observed)))
    };
    let reported = || {
        evidence.output.reported().cloned().map(|reported| match &trial.model {
            Some(_) => reported,
            None => Reported { address: "".into(), ..reported },
        })
    };
    // Both are long, and nearly always the same.
    if sum(due()) == sum(reported()) {
        return Vec::new();
    }
    // How often something was done, less how often it was reported.
    let mut unreported: BTreeMap<Reported, isize> = BTreeMap::new();
    due().for_each(|reported| *unreported.entry(reported).or_default() += 1);
    reported().for_each(|reported| *unreported.entry(reported).or_default() -= 1);
    let different = unreported.into_iter().filter(|(_, count)| *count != 0);
    let finding = |(Reported { address, kind: operation, moment, id }, count): (Reported, isize)| {
        let kind = match moment {
            _ if count < 0 => FindingKind::UndoneOperationReported,
            Moment::Failure => FindingKind::FailureUnreported,
            Moment::Begin | Moment::End => FindingKind::OperationUnreported,
        };
        let subject = Subject::OperationAt { address: address.into(), operation };
        trial.finding(kind).about([subject]).with(Detail::Message { moment, id: id.map(Into::into) })
    };
    different.map(finding).collect()
}

/// What is the same for the same in any order, and for nothing else.
fn sum(reported: impl Iterator<Item = Reported>) -> (usize, u64) {
    reported.fold((0, 0), |(count, sum), reported| {
        let mut hasher = DefaultHasher::new();
        reported.hash(&mut hasher);
        (count + 1, sum.wrapping_add(hasher.finish()))
    })
}

/// What is to be reported of an operation.
fn due(observed: &ObservedOperation, address: &str) -> impl Iterator<Item = Reported> + use<> {
    let kind = observed.operation.kind;
    let reported = |moment, has_id: bool| Reported {
        address: address.into(),
        kind,
        moment,
        id: observed.id.clone().filter(|_| has_id),
    };
    // Before it is made, an object has no id, and none after it is deleted.
    let end = match observed.end {
        Some((_, true)) if observed.fault.is_none() => {
            Some(reported(Moment::End, kind != OperationKind::Delete))
        }
        Some(_) => Some(reported(Moment::Failure, false)),
        None => None,
    };
    std::iter::once(reported(Moment::Begin, kind != OperationKind::Create)).chain(end)
}
