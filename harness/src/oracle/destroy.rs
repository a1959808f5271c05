//! Destroy leaves an empty world and an empty state.

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;

/// For people.
pub const ABOUT: &str = "destroy leaves nothing in the world and nothing in the state";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stage in trial.stages.iter().filter(|stage| stage.stage == Stage::Destroy) {
        if !stage.world.is_empty() {
            let text = format!("{} objects are left", stage.world.len());
            findings.push(Finding::new("destroy", "objects left", stage, text));
        }
        if stage.state.as_ref().is_some_and(|state| !state.is_empty()) {
            findings.push(Finding::new("destroy", "state left", stage, "the state is not empty"));
        }
    }
    findings
}
