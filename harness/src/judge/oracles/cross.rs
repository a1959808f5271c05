//! On the state that one variant reached, another variant's final program plans no change.

use super::Trial;
use super::plan::planned;
use crate::case::stage::JudgedAs;
use crate::judge::finding::{Finding, FindingKind};

/// What it looks at.
pub const ABOUT: &str = "on the state of one variant, another variant's program plans no change";

/// Looks for planned changes.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let changes = || trial.evidence.output.planned();
    if !trial.is_quiet(JudgedAs::Cross) || (!trial.evidence.tells_of_changes && changes().next().is_none()) {
        return Vec::new();
    }
    vec![trial.finding(FindingKind::CrossPlansChange).with(planned(changes()))]
}
