//! What has one correct value in a state, and how its serial advances.

use super::{Trial, of_address, writes};
use crate::evidence::{Irregularity, State, StatePlace};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};

/// The field with the version of the engine.
const WRITTEN_BY: &str = "terraform_version";

/// The field with what became of checks.
const CHECKS: &str = "check_results";

/// Looks for what no state has, and at the serial.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(state) = trial.evidence.state.state() else { return Vec::new() };
    let irregular = state.irregularities.iter().filter(|it| !is_left_by_failure(trial, it));
    let mut findings: Vec<Finding> = irregular.map(|it| irregularity(trial, it)).collect();
    findings.extend(written_by(trial, state));
    if trial.model.is_some() && state.has_checks {
        findings.push(field(trial, &StatePlace::Whole, CHECKS, "some", "null"));
    }
    findings.extend(versions(trial, state));
    findings
}

/// A field that has another value than the only one that it can have.
pub fn field(trial: &Trial<'_>, place: &StatePlace, name: &str, observed: &str, expected: &str) -> Finding {
    let detail = Detail::Field { expected: Some(expected.to_owned()), observed: Some(observed.to_owned()) };
    at(trial.finding(FindingKind::FieldDiffers), place).about([Subject::attribute(name)]).with(detail)
}

fn at(finding: Finding, place: &StatePlace) -> Finding {
    finding.about(match place {
        StatePlace::Whole => None,
        StatePlace::Output(name) => Some(Subject::output(name)),
        StatePlace::Object(address) => Some(Subject::address(address)),
    })
}

fn irregularity(trial: &Trial<'_>, irregularity: &Irregularity) -> Finding {
    match irregularity {
        Irregularity::Field { place, field: name, observed, expected } => {
            field(trial, place, name, observed, expected)
        }
        Irregularity::Unknown { place, field } => at(trial.finding(FindingKind::FieldUnknown), place)
            .about([Subject::attribute(field)])
            .with(Detail::Field { expected: None, observed: None }),
        Irregularity::Empty { address } => of_address(trial, FindingKind::ResourceEmpty, address),
        Irregularity::Twice { address } => of_address(trial, FindingKind::ResourceTwice, address),
    }
}

/// Whether it is a resource of the program that a command which failed did not come to create: all engines leave its
/// name in the state, up to the next command that writes it.
fn is_left_by_failure(trial: &Trial<'_>, irregularity: &Irregularity) -> bool {
    let Irregularity::Empty { address } = irregularity else { return false };
    let Some(model) = &trial.model else { return false };
    let before = trial.evidence.state_before.as_ref();
    let was_there = before.is_some_and(|before| before.irregularities.contains(irregularity));
    let is_left = !trial.evidence.succeeded || !writes(trial) || !trial.options.target.is_empty();
    let mut written = model.written.meaning.nodes.keys();
    let mut is_written = || written.any(|key| model.written.encoding.address(key).to_string() == *address);
    (is_left && was_there) || (!trial.evidence.succeeded && is_written())
}

/// The state says which engine wrote it.
fn written_by(trial: &Trial<'_>, state: &State) -> Option<Finding> {
    let version = &trial.engine?.version;
    let expected = format!("{}.{}.{}", version.major, version.minor, version.patch);
    let observed = state.written_by.as_deref().unwrap_or("none");
    let core = observed.split(['-', '+']).next();
    (core != Some(&expected)).then(|| field(trial, &StatePlace::Whole, WRITTEN_BY, observed, &expected))
}

/// It is the same state as before, and it counts its changes.
fn versions(trial: &Trial<'_>, state: &State) -> Option<Finding> {
    let before = trial.evidence.state_before.as_deref();
    let found = |kind, before: &dyn ToString, after: &dyn ToString| {
        let detail = Detail::Versions { before: before.to_string(), after: after.to_string() };
        Some(trial.finding(kind).with(detail))
    };
    if let Some(before) = before.filter(|before| before.lineage != state.lineage) {
        return found(FindingKind::LineageChanged, &before.lineage, &state.lineage);
    }
    let serial = before.map_or(0, |before| before.serial);
    if serial > state.serial {
        return found(FindingKind::SerialWentBack, &serial, &state.serial);
    }
    // What data sources and checks of a program add to it is not known without a model.
    trial.model.as_ref()?;
    let is_same = before.is_some_and(|before| before.holds_what(state));
    // Terraform writes it after each operation and at the end, OpenTofu only at the end.
    // Where operations fail, the same state is written once more.
    let stays = is_same && trial.evidence.succeeded;
    let most = if stays { 0 } else { trial.evidence.operations.len() as u64 + 1 };
    if state.serial > serial + most {
        found(FindingKind::SerialJumped, &serial, &state.serial)
    } else if state.serial == serial && !is_same {
        found(FindingKind::SerialNotRaised, &serial, &state.serial)
    } else {
        None
    }
}
