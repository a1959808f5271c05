//! Planned actions equal executed ones.

use std::collections::BTreeSet;

use super::{Finding, Trial};
use crate::deploy::evidence::{Stage, StageEvidence};
use crate::model::Kind;
use crate::render::label;

/// For people.
pub const ABOUT: &str = "the engine does what its plan announced";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let deployed =
        trial.stages.iter().filter(|stage| stage.stage != Stage::Cross && stage.record.exit == Some(0));
    deployed
        .filter_map(|stage| {
            let (planned, done) = (planned(stage), done(stage));
            (planned != done).then(|| {
                let missing: Vec<_> = planned.difference(&done).collect();
                let extra: Vec<_> = done.difference(&planned).collect();
                let text = format!("planned and not done: {missing:?}; done and not planned: {extra:?}");
                Finding::new("plan", "differs from what was done", stage, text)
            })
        })
        .collect()
}

fn planned(stage: &StageEvidence) -> BTreeSet<(String, Kind)> {
    let kinds = |action: &str| match action {
        "create" => vec![Kind::Create],
        "update" => vec![Kind::Update],
        "delete" => vec![Kind::Delete],
        "replace" => vec![Kind::Delete, Kind::Create],
        _ => Vec::new(),
    };
    let planned = stage.planned.iter();
    planned.flat_map(|(name, action)| kinds(action).into_iter().map(|kind| (name.clone(), kind))).collect()
}

fn done(stage: &StageEvidence) -> BTreeSet<(String, Kind)> {
    let operations = stage.operations.iter().map(|observed| &observed.operation);
    operations.map(|operation| (label(&operation.key), operation.kind)).collect()
}
