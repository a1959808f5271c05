//! The same program once more: an empty plan, and nothing written.

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;

/// For people.
pub const ABOUT: &str = "the same program once more plans nothing and does nothing";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if trial.stage.stage != Stage::Idle {
        return findings;
    }
    let planned = &trial.stage.output.planned;
    if !planned.is_empty() {
        findings.push(Finding::new("idle", "plans a change", trial, format!("{planned:?}")));
    }
    if !trial.stage.operations.is_empty() {
        let text = format!("{} operations", trial.stage.operations.len());
        findings.push(Finding::new("idle", "does something", trial, text));
    }
    findings
}
