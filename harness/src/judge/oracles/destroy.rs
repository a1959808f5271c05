//! Destroy leaves an empty world and an empty state.

use super::{Finding, Trial};
use crate::case::stage::JudgedAs;

/// For people.
pub const ABOUT: &str = "destroy leaves nothing in the world and nothing in the state";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if trial.stage.judged_as != JudgedAs::Destroy {
        return findings;
    }
    if !trial.world.is_empty() {
        let text = format!("{} objects are left", trial.world.len());
        findings.push(Finding::new("destroy", "objects left", trial, text));
    }
    if trial.evidence.state.state().is_some_and(|state| !state.objects.is_empty()) {
        findings.push(Finding::new("destroy", "state left", trial, "the state is not empty"));
    }
    if trial.evidence.succeeded && trial.evidence.state.state().is_some_and(|state| !state.outputs.is_empty())
    {
        findings.push(Finding::new("destroy", "outputs left", trial, "the state still has outputs"));
    }
    findings
}
