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
    let mut findings = Vec::new();
    for stage in trial.stages.iter().filter(|stage| stage.record.exit == Some(0)) {
        let plans = stage.summaries.iter().filter(|summary| summary.operation == "plan").count();
        if plans > 1 {
            let text = format!("one command made {plans} plans");
            findings.push(Finding::new("plan", "more than one", stage, text));
        }
        if stage.stage == Stage::Cross {
            continue;
        }
        let (planned, done) = (planned(stage), done(stage));
        if planned != done {
            let missing: Vec<_> = planned.difference(&done).collect();
            let extra: Vec<_> = done.difference(&planned).collect();
            let text = format!("planned and not done: {missing:?}; done and not planned: {extra:?}");
            findings.push(Finding::new("plan", "differs from what was done", stage, text));
        }
        let count = |kind| stage.operations.iter().filter(|observed| observed.operation.kind == kind).count();
        let done = (count(Kind::Create), count(Kind::Update), count(Kind::Delete));
        for summary in &stage.summaries {
            let told = (summary.add, summary.change, summary.remove);
            if plans == 1 && told != done {
                let text = format!(
                    "the summary of {} has {told:?} created, updated and deleted, and {done:?} were",
                    summary.operation
                );
                findings.push(Finding::new("plan", "miscounts", stage, text));
            }
        }
    }
    findings
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
