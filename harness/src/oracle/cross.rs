//! On the state that one variant reached, another variant's final program plans no change.

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;

/// For people.
pub const ABOUT: &str = "on the state of one variant, another variant's program plans no change";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let planned = &trial.stage.output.planned;
    if trial.stage.stage != Stage::Cross || (trial.stage.record.exit != Some(2) && planned.is_empty()) {
        return Vec::new();
    }
    vec![Finding::new("cross", "plans a change", trial, format!("{planned:?}"))]
}
