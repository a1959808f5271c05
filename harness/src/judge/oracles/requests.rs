//! What the engine sends along with its requests is right: objects as they are, changes as they were planned;
//! everything is read before it is changed, and everything in the program is planned.

use std::collections::BTreeSet;

use super::{Finding, Trial};
use crate::case::stage::JudgedAs;
use crate::evidence::{NOT_REFRESHED, READ_TOO_LATE};
use crate::spec::Action;

/// For people.
pub const ABOUT: &str = "requests carry objects as they are and changes as planned; all is read and planned";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let requests = &trial.evidence.requests;
    let succeeded = trial.evidence.succeeded;
    let mut findings: Vec<Finding> = requests
        .problems
        .iter()
        // A command that failed may have come to its end before it had read everything, and one that does not
        // refresh reads nothing.
        .filter(|problem| {
            let reads = succeeded && trial.refreshes();
            (reads || problem.kind != NOT_REFRESHED) && (trial.refreshes() || problem.kind != READ_TOO_LATE)
        })
        .map(|problem| Finding::new("requests", problem.kind, trial, problem.text.clone()))
        .collect();
    if !succeeded || !requests.recorded {
        return findings;
    }
    // What is saved was planned in the stage before, and a destroy plans deletes, of which providers are not told.
    if trial.stage.judged_as == JudgedAs::Destroy || matches!(trial.stage.action, Action::ApplySaved(_)) {
        return findings;
    }
    let keys: BTreeSet<&str> = trial.program.blocks.values().map(|block| &*block.key).collect();
    let unplanned = keys.into_iter().filter(|key| !requests.planned.contains(*key));
    findings.extend(
        unplanned.map(|key| Finding::new("requests", "not planned", trial, format!("{key} was not planned"))),
    );
    findings
}
