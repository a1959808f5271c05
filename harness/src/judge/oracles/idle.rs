//! The same program once more: an empty plan, and nothing written.

use super::{Finding, Trial};
use crate::case::stage::JudgedAs;

/// For people.
pub const ABOUT: &str = "the same program once more plans nothing and does nothing";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !trial.is_quiet(JudgedAs::Idle) {
        return findings;
    }
    let planned = &trial.evidence.output.planned;
    if !planned.is_empty() {
        findings.push(Finding::new("idle", "plans a change", trial, super::plan::listed(planned)));
    }
    if !trial.evidence.operations.is_empty() {
        let text = format!("{} operations", trial.evidence.operations.len());
        findings.push(Finding::new("idle", "does something", trial, text));
    }
    findings
}
