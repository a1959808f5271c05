//! What the engine sends along with its requests is right: objects as they are, changes as they were planned;
//! everything is read before it is changed, and everything in the program is planned.

use std::collections::BTreeSet;

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;

/// For people.
pub const ABOUT: &str = "requests carry objects as they are and changes as planned; all is read and planned";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let requests = &trial.stage.requests;
    let succeeded = trial.stage.record.succeeded();
    let mut findings: Vec<Finding> = requests
        .misfits
        .iter()
        // A command that failed may have come to its end before it had read everything.
        .filter(|misfit| succeeded || misfit.kind != "not refreshed")
        .map(|misfit| Finding::new("requests", misfit.kind, trial, misfit.text.clone()))
        .collect();
    if !succeeded || !requests.recorded {
        return findings;
    }
    let program: BTreeSet<&str> = match trial.stage.stage {
        Stage::Batch(number) => {
            trial.batches[number - 1].deployment.resources.keys().map(String::as_str).collect()
        }
        Stage::Idle | Stage::Cross => trial.source.nodes.iter().map(String::as_str).collect(),
        Stage::Destroy => return findings,
    };
    let unplanned = program.into_iter().filter(|key| !requests.planned.contains(*key));
    findings.extend(
        unplanned.map(|key| Finding::new("requests", "not planned", trial, format!("{key} was not planned"))),
    );
    findings
}
