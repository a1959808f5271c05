//! What the engine tells of its operations while it works is what it does: each begin and each end, of which object.
//!
//! People and programs follow an apply by these messages; the ledger is not at hand for them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::Trial;
use crate::evidence::{Moment, ObservedOperation, Told};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::OperationKind;

/// What it looks at.
pub const ABOUT: &str =
    "the engine's messages report every operation and no other, each with the object that it changes";

/// Compares messages with operations. Without a model nobody knows the addresses of resources, and these are left out.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let evidence = trial.evidence;
    let Some(told) = &evidence.output.told else { return Vec::new() };
    if !trial.stage.action.changes_the_world() || !evidence.record.ended_in_order() {
        return Vec::new();
    }
    let due = || {
        let address =
            |observed: &ObservedOperation| trial.address(&observed.operation.key).unwrap_or_default();
        let operations = evidence.operations.iter();
        operations.flat_map(move |observed| due(observed, &address(observed)))
    };
    let told = || {
        told.iter().cloned().map(|told| match &trial.model {
            Some(_) => told,
            None => Told { address: "".into(), ..told },
        })
    };
    // Both are long, and nearly always the same.
    if sum(due()) == sum(told()) {
        return Vec::new();
    }
    // How often something was done, less how often it was reported.
    let mut unreported: BTreeMap<Told, isize> = BTreeMap::new();
    due().for_each(|told| *unreported.entry(told).or_default() += 1);
    told().for_each(|told| *unreported.entry(told).or_default() -= 1);
    let different = unreported.into_iter().filter(|(_, count)| *count != 0);
    let finding = |(Told { address, kind: operation, moment, id }, count): (Told, isize)| {
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
fn sum(told: impl Iterator<Item = Told>) -> (usize, u64) {
    told.fold((0, 0), |(count, sum), told| {
        let mut hasher = DefaultHasher::new();
        told.hash(&mut hasher);
        (count + 1, sum.wrapping_add(hasher.finish()))
    })
}

/// What is to be told of an operation.
fn due(observed: &ObservedOperation, address: &str) -> impl Iterator<Item = Told> + use<> {
    let kind = observed.operation.kind;
    let told = |moment, has_id: bool| Told {
        address: address.into(),
        kind,
        moment,
        id: observed.id.clone().filter(|_| has_id),
    };
    // Before it is made, an object has no id, and none after it is deleted.
    let end = match observed.end {
        Some((_, true)) if observed.fault.is_none() => Some(told(Moment::End, kind != OperationKind::Delete)),
        Some(_) => Some(told(Moment::Failure, false)),
        None => None,
    };
    std::iter::once(told(Moment::Begin, kind != OperationKind::Create)).chain(end)
}
