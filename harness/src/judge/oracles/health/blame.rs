//! Errors are about what caused them: the resource that the case makes fail, or the one that is written wrongly.

use equiform_proto::faults::{Fault, FaultOperation};

use crate::case::stage::{Defect, JudgedAs, ProgramRef};
use crate::evidence::{Diagnostic, ObservedOperation, Refusal};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::Trial;
use crate::spec::{NodeKey, ResourceOperation};

/// The errors of a stage that are about something else than what was provoked.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    if trial.model.is_none() || trial.evidence.succeeded {
        return Vec::new();
    }
    let errors = || trial.evidence.output.diagnostics().filter(|diagnostic| diagnostic.is_error);
    let wrong = errors().filter_map(|error| failed(trial, error).or_else(|| refused(trial, error)));
    // Whoever breaks the contract says nothing of it.
    let gives_errors = trial.stage.faults.iter().all(|fault| fault.action.breach().is_none());
    let is_missing = |observed: &&ObservedOperation| {
        let ResourceOperation { key, kind, .. } = &observed.operation;
        gives_errors
            && observed.fault.is_some()
            && !errors().any(|error| is_about(error, &kind.to_string(), key))
    };
    let missing = trial.evidence.operations.iter().filter(is_missing).map(|observed| {
        let ResourceOperation { key, kind: operation, .. } = &observed.operation;
        let address = address(trial, key);
        let subject = Subject::OperationAt { address, operation: *operation };
        trial.finding(FindingKind::ErrorMissing).about([subject])
    });
    wrong.chain(missing).collect()
}

/// Whether an error has the provider's words about a call that it fails on demand.
fn is_about(error: &Diagnostic, operation: &str, key: &str) -> bool {
    let call = format!("{operation} of {key:?}");
    error.detail.contains(&call.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn misattributed(
    trial: &Trial<'_>,
    error: &Diagnostic,
    blamed: Option<&str>,
    expected: Vec<String>,
) -> Finding {
    let blamed = blamed.map(str::to_owned);
    let detail = Detail::Blame { error: error.summary.clone(), blamed, expected };
    trial.finding(FindingKind::ErrorMisattributed).with(detail)
}

/// The address of a key, if a program or the engine's memory has it.
fn address(trial: &Trial<'_>, key: &str) -> String {
    trial.address(&NodeKey::from(key)).unwrap_or_default()
}

/// An error that the provider gives on demand is about the call that the case makes fail.
fn failed(trial: &Trial<'_>, error: &Diagnostic) -> Option<Finding> {
    let is_demanded = trial.stage.judged_as == JudgedAs::Failure && error.refusal == Some(Refusal::Provider);
    // Engines add an error of their own if the provider cannot be configured.
    let faults: Vec<&Fault> = trial.stage.faults.iter().collect();
    if !is_demanded || faults.iter().any(|fault| fault.call.operation == FaultOperation::Configure) {
        return None;
    }
    let is_of = |fault: &&&Fault| {
        is_about(error, fault.call.operation.name(), fault.call.key.as_deref().unwrap_or_default())
    };
    let Some(fault) = faults.iter().find(is_of) else {
        let expected = faults.iter().map(|fault| format!("{:?}", fault.call.key)).collect();
        return Some(misattributed(trial, error, Some(&error.detail), expected));
    };
    let expected = address(trial, fault.call.key.as_deref().unwrap_or_default());
    let place = error.position.as_ref().and_then(|it| it.resource.as_deref());
    // Nothing in the program says what is deleted or read.
    let names_none = matches!(fault.call.operation, FaultOperation::Delete | FaultOperation::Read);
    let wrong = [error.address.as_deref(), place].into_iter().flatten().find(|named| *named != expected);
    match (wrong, &error.address) {
        (Some(wrong), _) => Some(misattributed(trial, error, Some(wrong), vec![expected])),
        (None, None) if !names_none => Some(misattributed(trial, error, None, vec![expected])),
        _ => None,
    }
}

/// An error about a program is about the resource that is wrong in it.
fn refused(trial: &Trial<'_>, error: &Diagnostic) -> Option<Finding> {
    let ProgramRef::Broken { defect, .. } = &trial.stage.program else { return None };
    if trial.stage.judged_as != JudgedAs::Refused || error.refusal.is_none() {
        return None;
    }
    let expected = address(trial, defect.resource());
    if let Defect::Cycle { dependent, .. } = defect {
        let nodes = trial.evidence.output.errors.iter().flat_map(|error| error.cycle.iter().flatten());
        let named: Vec<&str> = nodes.map(|node| node.address.as_str()).collect();
        let both = vec![expected, address(trial, dependent)];
        let names_both = both.iter().all(|it| named.contains(&it.as_str()));
        return (!named.is_empty() && !names_both).then(|| misattributed(trial, error, None, both));
    }
    let place = error.position.as_ref().and_then(|it| it.resource.as_deref());
    let wrong = [error.address.as_deref(), place].into_iter().flatten().find(|named| *named != expected)?;
    Some(misattributed(trial, error, Some(wrong), vec![expected]))
}
