//! Planned actions equal executed ones, and the engine counts right.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::{Finding, Trial};
use crate::deploy::evidence::{Stage, StageEvidence};
use crate::model::Kind;
use crate::render::label;

/// For people.
pub const ABOUT: &str = "the engine does what its plan announced";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let stage = trial.stage;
    if !stage.record.succeeded() {
        return findings;
    }
    let summaries = &stage.output.summaries;
    let plans = summaries.iter().filter(|summary| summary.operation == "plan").count();
    if plans > 1 {
        findings.push(Finding::new(
            "plan",
            "more than one",
            trial,
            format!("one command made {plans} plans"),
        ));
    }
    if stage.stage == Stage::Cross {
        return findings;
    }
    let (planned, done) = (planned(stage), done(stage));
    if planned != done {
        let (missing, extra) = (only_in(&planned, &done), only_in(&done, &planned));
        let text = format!("planned and not done: {missing:?}; done and not planned: {extra:?}");
        findings.push(Finding::new("plan", "differs from what was done", trial, text));
    }
    let count = |kind| stage.operations.iter().filter(|observed| observed.operation.kind == kind).count();
    let counts = (count(Kind::Create), count(Kind::Update), count(Kind::Delete));
    for summary in summaries.iter().filter(|_| plans == 1) {
        let told = (summary.add, summary.change, summary.remove);
        if told != counts {
            let text = format!(
                "the summary of {} has {told:?} created, updated and deleted, and {counts:?} were",
                summary.operation
            );
            findings.push(Finding::new("plan", "miscounts", trial, text));
        }
    }
    findings
}

/// What is done to resources, by the names that they have in programs.
type Steps<'a> = FxHashSet<(Cow<'a, str>, Kind)>;

fn planned(stage: &StageEvidence) -> Steps<'_> {
    let kinds = |action: &str| -> &[Kind] {
        match action {
            "create" => &[Kind::Create],
            "update" => &[Kind::Update],
            "delete" => &[Kind::Delete],
            "replace" => &[Kind::Delete, Kind::Create],
            _ => &[],
        }
    };
    let planned = stage.output.planned.iter();
    planned
        .flat_map(|(name, action)| kinds(action).iter().map(move |kind| (Cow::from(name), *kind)))
        .collect()
}

fn done(stage: &StageEvidence) -> Steps<'_> {
    let operations = stage.operations.iter().map(|observed| &observed.operation);
    operations.map(|operation| (label(&operation.key).into(), operation.kind)).collect()
}

fn only_in<'a, 'b>(one: &'b Steps<'a>, other: &Steps<'a>) -> BTreeSet<&'b (Cow<'a, str>, Kind)> {
    one.iter().filter(|step| !other.contains(step)).collect()
}
