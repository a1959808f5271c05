//! The same program once more: an empty plan, and nothing written.

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;

/// For people.
pub const ABOUT: &str = "the same program once more plans nothing and does nothing";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stage in trial.stages.iter().filter(|stage| stage.stage == Stage::Idle) {
        if !stage.planned.is_empty() {
            findings.push(Finding::new("idle", "plans a change", stage, format!("{:?}", stage.planned)));
        }
        if !stage.operations.is_empty() {
            let text = format!("{} operations", stage.operations.len());
            findings.push(Finding::new("idle", "does something", stage, text));
        }
    }
    findings
}
