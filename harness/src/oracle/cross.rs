//! On the state that one variant reached, another variant's final program plans no change.

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;

/// For people.
pub const ABOUT: &str = "on the state of one variant, another variant's program plans no change";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let cross = trial.stages.iter().filter(|stage| stage.stage == Stage::Cross);
    cross
        .filter(|stage| stage.record.exit == Some(2) || !stage.planned.is_empty())
        .map(|stage| Finding::new("cross", "plans a change", stage, format!("{:?}", stage.planned)))
        .collect()
}
