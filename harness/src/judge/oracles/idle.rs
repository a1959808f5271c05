//! The same program once more: an empty plan, and nothing written.

use super::Trial;
use super::plan::planned;
use crate::case::stage::JudgedAs;
use crate::judge::finding::{Detail, Finding, FindingKind};

/// What it looks at.
pub const ABOUT: &str = "applying the same program again plans nothing and does nothing";

/// Looks for planned changes and for operations.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !trial.is_quiet(JudgedAs::Idle) {
        return findings;
    }
    let changes = || trial.evidence.output.planned();
    if changes().next().is_some() {
        findings.push(trial.finding(FindingKind::IdlePlansChange).with(planned(changes())));
    }
    let observed = trial.evidence.operations.len();
    if observed > 0 {
        let detail = Detail::Count { observed, expected: None };
        findings.push(trial.finding(FindingKind::IdleChangesWorld).with(detail));
    }
    findings
}
