//! The messages of a command as a sequence: who speaks first, what follows on what, and nothing twice.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::evidence::{Flaw, Message, MessageProblem, Moment, PlannedChange, Refusal};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::{Trial, violations};
use crate::spec::{OperationKind, ResourceOperation};

/// What is wrong with single messages, and with their order.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = flaws(trial);
    findings.extend(introduction(trial));
    findings.extend(order(trial));
    findings.extend(starts(trial));
    findings.extend(waits(trial));
    findings.extend(repeated(trial));
    findings
}

fn flaws(trial: &Trial<'_>) -> Vec<Finding> {
    let finding = |flaw: &Flaw| {
        let kind = match &flaw.problem {
            // A program that nobody has a model of may give a reason.
            MessageProblem::UnexpectedKind { exists: true, .. } if trial.model.is_none() => return None,
            MessageProblem::UnexpectedKind { .. } => FindingKind::MessageUnexpected,
            _ => FindingKind::MessageContradictory,
        };
        let (line, problem, text) = (flaw.line, flaw.problem.clone(), flaw.text.clone());
        Some(trial.finding(kind).with(Detail::Flaw { line, problem, text }))
    };
    trial.evidence.output.flaws.iter().filter_map(finding).collect()
}

/// The engine says first who it is, once.
fn introduction(trial: &Trial<'_>) -> Option<Finding> {
    let found = |kind, words: &str| trial.finding(kind).with(Detail::Quote { words: words.to_owned() });
    let messages = &trial.evidence.output.messages;
    let said = messages.iter().filter_map(|message| match message {
        Message::Introduction { version } => Some(version.as_deref().unwrap_or("nobody")),
        _ => None,
    });
    let said: Vec<&str> = said.collect();
    match (said.as_slice(), messages.first()) {
        (_, None) => None,
        ([], _) => Some(found(FindingKind::IntroductionDiffers, "nobody")),
        ([version], _) => {
            let is_it = trial.version.is_none_or(|version_of| is_version(version, version_of));
            (!is_it).then(|| found(FindingKind::IntroductionDiffers, version))
        }
        ([version, ..], _) => Some(found(FindingKind::MessageRepeated, &format!("I am {version}"))),
    }
}

/// Whether a text is a version, whichever build of it.
fn is_version(text: &str, (major, minor, patch): (u64, u64, u64)) -> bool {
    semver::Version::parse(text).is_ok_and(|it| (it.major, it.minor, it.patch) == (major, minor, patch))
}

/// The parts of a command follow on one another.
fn order(trial: &Trial<'_>) -> Option<Finding> {
    let parts = trial.evidence.output.messages.iter().filter_map(|message| Some((message.part()?, message)));
    let parts: Vec<_> = parts.collect();
    let early = parts.windows(2).find(|pair| pair[1].0 < pair[0].0)?[0];
    let words = format!("{:?}", early.0);
    let finding = trial.finding(FindingKind::MessageOutOfOrder).about(subject(early.1));
    Some(finding.with(Detail::Quote { words }))
}

/// What ends has begun.
fn starts(trial: &Trial<'_>) -> Option<Finding> {
    let mut open: FxHashMap<(&str, Option<OperationKind>), usize> = FxHashMap::default();
    for message in &trial.evidence.output.messages {
        let (about, moment) = match message {
            Message::Operation(it) => ((&*it.address, Some(it.kind)), it.moment),
            Message::Read(it) => ((&*it.address, None), it.moment),
            Message::Waiting { address } => {
                let is_open = |(about, count): (&(&str, Option<OperationKind>), &usize)| {
                    about.0 == &**address && about.1.is_some() && *count > 0
                };
                if open.iter().any(is_open) {
                    continue;
                }
                return Some(early(trial, message));
            }
            _ => continue,
        };
        let count = open.entry(about).or_default();
        match moment {
            Moment::Begin => *count += 1,
            // That something ends which never began is for the comparison with the ledger to find, too; here the order
            // counts.
            Moment::End | Moment::Failure if *count == 0 => return Some(early(trial, message)),
            Moment::End | Moment::Failure => *count -= 1,
        }
    }
    None
}

/// When messages say that an operation began and ended, by their places.
#[derive(Clone, Copy)]
struct Reporting {
    begin: usize,
    end: usize,
}

/// What has to wait for the end of something begins after it, by the messages too. An order that was not kept is for
/// `order` to find. A resource of which several objects are deleted has several messages that say the same.
fn waits(trial: &Trial<'_>) -> Option<Finding> {
    let model = trial.model.as_ref()?;
    let output = &trial.evidence.output;
    let mut by_address: FxHashMap<(&str, OperationKind), Option<Reporting>> = FxHashMap::default();
    for (place, reported) in output.reported().enumerate() {
        let about = (&*reported.address, reported.kind);
        if reported.moment == Moment::Begin {
            let told = Reporting { begin: place, end: usize::MAX };
            by_address.entry(about).and_modify(|it| *it = None).or_insert(Some(told));
        } else if let Some(Some(told)) = by_address.get_mut(&about) {
            told.end = place;
        }
    }
    if by_address.len() < 2 {
        return None;
    }
    let place = |operation: &ResourceOperation| {
        let address = trial.address(&operation.key)?;
        *by_address.get(&(address.as_str(), operation.kind))?
    };
    let operations = trial.evidence.operations.iter().map(|observed| &observed.operation);
    let told: FxHashMap<&ResourceOperation, Reporting> =
        operations.filter_map(|operation| Some((operation, place(operation)?))).collect();
    let is_early = |first: &ResourceOperation, second: &ResourceOperation| {
        told.get(first).zip(told.get(second)).is_some_and(|(first, second)| first.end > second.begin)
    };
    let pair = model.expectation.pairs().find(|(first, second, _)| is_early(first, second))?;
    if !violations(trial).is_empty() {
        return None;
    }
    let words = "a begin before an end that it has to wait for".to_owned();
    let at = |operation: &ResourceOperation| {
        let address = trial.address(&operation.key).unwrap_or_default();
        Subject::OperationAt { address, operation: operation.kind }
    };
    let finding = trial.finding(FindingKind::MessageOutOfOrder).about([at(pair.0), at(pair.1)]);
    Some(finding.with(Detail::Quote { words }))
}

fn early(trial: &Trial<'_>, message: &Message) -> Finding {
    let words = "an end without its begin".to_owned();
    trial.finding(FindingKind::MessageOutOfOrder).about(subject(message)).with(Detail::Quote { words })
}

fn subject(message: &Message) -> Option<Subject> {
    let address = match message {
        Message::Operation(it) => {
            let (address, operation) = (it.address.to_string(), it.kind);
            return Some(Subject::OperationAt { address, operation });
        }
        Message::Read(it) => &*it.address,
        Message::Waiting { address } => address,
        Message::Planned(it) | Message::Drift(it) => it.address.as_str(),
        _ => return None,
    };
    Some(Subject::address(address))
}

/// What is announced is announced once: a resource with old objects may be announced for each of them.
fn repeated(trial: &Trial<'_>) -> Vec<Finding> {
    let output = &trial.evidence.output;
    let mut findings = Vec::new();
    let found = |address: Option<&str>, words: String| {
        let finding = trial.finding(FindingKind::MessageRepeated).about(address.map(Subject::address));
        finding.with(Detail::Quote { words })
    };
    if let Some(model) = &trial.model {
        let nodes = model.deployed.memory.nodes.values().filter(|it| !it.pending.is_empty());
        let old: BTreeMap<String, usize> =
            nodes.map(|it| (it.address.to_string(), it.pending.len())).collect();
        let mut counts: FxHashMap<(&str, &str, bool), usize> = FxHashMap::default();
        let planned = output.planned().map(|change| (change, true));
        let about = |change: &'_ PlannedChange| old.get(&change.address).copied().unwrap_or_default();
        for (change, is_planned) in planned.chain(output.drifted().map(|change| (change, false))) {
            let count =
                counts.entry((change.address.as_str(), change.action.as_str(), is_planned)).or_default();
            *count += 1;
            if *count == 2 + about(change) {
                findings.push(found(Some(&change.address), change.action.clone()));
            }
        }
    }
    // What the program says of itself is found when it is checked and when it is planned.
    let mut diagnostics: Vec<_> =
        output.diagnostics().filter(|it| it.refusal != Some(Refusal::SelfReference)).collect();
    diagnostics.sort_unstable();
    let twice = diagnostics.windows(2).filter(|pair| pair[0] == pair[1]);
    findings.extend(twice.map(|pair| found(pair[0].address.as_deref(), pair[0].summary.clone())));
    let count = |is_it: fn(&Message) -> bool| output.messages.iter().filter(|it| is_it(it)).count();
    for (words, number) in [
        ("planned outputs", count(|message| matches!(message, Message::PlannedOutputs(_)))),
        ("outputs", count(|message| matches!(message, Message::Outputs(_)))),
    ] {
        findings.extend((number > 1).then(|| found(None, words.to_owned())));
    }
    findings
}
