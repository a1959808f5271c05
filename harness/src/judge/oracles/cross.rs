//! On the state that one variant reached, another variant's final program plans no change.

use super::{Finding, Trial};
use crate::case::stage::JudgedAs;

/// For people.
pub const ABOUT: &str = "on the state of one variant, another variant's program plans no change";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let planned = &trial.evidence.output.planned;
    if !trial.is_quiet(JudgedAs::Cross) || (!trial.evidence.tells_of_changes && planned.is_empty()) {
        return Vec::new();
    }
    vec![Finding::new("cross", "plans a change", trial, super::plan::listed(planned))]
}
