//! Destroy leaves an empty world and an empty state.

use super::Trial;
use crate::case::stage::JudgedAs;
use crate::judge::finding::{Detail, Finding, FindingKind};

/// What it looks at.
pub const ABOUT: &str = "destroy leaves nothing in the world and nothing in the state";

/// Looks for what is left.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if trial.stage.judged_as != JudgedAs::Destroy {
        return findings;
    }
    if !trial.world.is_empty() {
        let detail = Detail::Count { observed: trial.world.len(), expected: None };
        findings.push(trial.finding(FindingKind::ObjectsLeft).with(detail));
    }
    let state = trial.evidence.state.state();
    if state.is_some_and(|state| !state.objects.is_empty()) {
        findings.push(trial.finding(FindingKind::StateLeft));
    }
    if trial.evidence.succeeded && state.is_some_and(|state| !state.outputs.is_empty()) {
        findings.push(trial.finding(FindingKind::OutputsLeft));
    }
    findings
}
