//! One summary of each plan and of each apply, with the right numbers; reasons, and nothing that nobody asked for.

use super::{Changes, count};
use crate::case::stage::JudgedAs;
use crate::evidence::PlannedReason;
use crate::judge::finding::detail::Counts;
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::{ModelView, Trial};
use crate::spec::{Action, EdgeKind, NodeKey, OperationKind, PlanMode};

/// How many summaries there are, of what the stage asks for.
pub fn number(trial: &Trial<'_>) -> Vec<Finding> {
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    let plans_first = !matches!(action, Action::ApplySaved(_));
    let count = |is_plan| evidence.output.summaries().filter(|it| it.is_plan == is_plan).count();
    let (plans, ends) = (count(true), count(false));
    let succeeded = evidence.succeeded;
    // A command that failed has a summary if it came as far as to have a plan, and none of what it did.
    let has_planned =
        evidence.output.planned().next().is_some() || evidence.output.reported().next().is_some();
    let plan_due = plans_first && (succeeded || has_planned);
    let end_due = succeeded && !matches!(action, Action::Plan(_));
    let found = |kind, words: &str| trial.finding(kind).with(Detail::Quote { words: words.to_owned() });
    let mut findings = Vec::new();
    for (words, is_due, is_there) in [("the plan", plan_due, plans), ("the changes", end_due, ends)] {
        if is_due && is_there == 0 {
            findings.push(found(FindingKind::SummaryMissing, words));
        }
    }
    // Several plans, and those of a saved plan, have kinds of their own.
    if ends > usize::from(end_due) {
        findings.push(found(FindingKind::SummaryExtra, "the changes"));
    }
    findings
}

/// The plan of a command that failed counts what it lists. If only an operation failed, it lists what the model
/// expects.
pub fn of_failure(trial: &Trial<'_>) -> Vec<Finding> {
    let output = &trial.evidence.output;
    let listed = count(output.planned().flat_map(|change| change.operations.iter().copied()));
    let summaries = output.summaries().filter(|summary| summary.is_plan);
    let wrong = summaries.filter_map(|summary| {
        let (created, updated, deleted) = (summary.created, summary.updated, summary.deleted);
        let summarised = Counts { created, updated, deleted };
        let detail =
            Detail::Counts { command: summary.command.clone(), summarised, observed: listed, done: false };
        (summarised != listed).then(|| trial.finding(FindingKind::Miscount).with(detail))
    });
    let mut findings: Vec<Finding> = wrong.collect();
    let Some(model) = &trial.model else { return findings };
    let is_change = |fault| OperationKind::met_by(fault).is_some();
    let is_whole = trial.stage.judged_as == JudgedAs::Failure
        && trial.stage.faults.iter().all(is_change)
        && output.summaries().any(|summary| summary.is_plan);
    if is_whole {
        let planned = Changes::listed(output.planned());
        findings.extend(planned.differs_from_model(trial, model.plan));
    }
    findings
}

/// What nobody asked for, and changes for another reason than there is.
pub fn reasons(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(model) = &trial.model else { return Vec::new() };
    let output = &trial.evidence.output;
    let mut findings = Vec::new();
    let unasked = output.planned().chain(output.drifted()).filter(|change| change.asks_more);
    findings.extend(unasked.map(|change| {
        let words = change.action.clone();
        let subject = Subject::address(&change.address);
        trial.finding(FindingKind::ChangeUnasked).about([subject]).with(Detail::Quote { words })
    }));
    if output.summaries().any(|summary| summary.others > 0) {
        findings.push(trial.finding(FindingKind::ChangeUnasked));
    }
    let nodes = model.program.meaning.nodes.keys().chain(model.deployed.memory.nodes.keys());
    let mut keys: Vec<(String, &NodeKey)> =
        nodes.filter_map(|key| Some((trial.address(key)?, key))).collect();
    keys.sort_unstable();
    for change in output.planned() {
        let place = keys.partition_point(|(address, _)| *address < change.address);
        let Some((_, key)) = keys.get(place).filter(|(address, _)| *address == change.address) else {
            continue;
        };
        let possible = possible_reasons(trial, model, key, change.operations);
        if !possible.is_empty() && !possible.contains(&change.reason) {
            let detail = Detail::Reason { given: change.reason, possible };
            let subject = Subject::address(&change.address);
            findings.push(trial.finding(FindingKind::ReasonDiffers).about([subject]).with(detail));
        }
    }
    findings
}

/// The reasons that there can be for a planned change. None if the model does not know of any.
pub fn possible_reasons(
    trial: &Trial<'_>,
    model: &ModelView<'_>,
    key: &NodeKey,
    operations: &[OperationKind],
) -> Vec<PlannedReason> {
    let remembered = model.deployed.memory.node(key);
    let node = model.program.node(key);
    let edge = |kinds: &[EdgeKind]| {
        node.is_some_and(|node| kinds.iter().any(|kind| node.by(*kind).next().is_some()))
    };
    let is_triggered = edge(&[EdgeKind::TriggeredBy, EdgeKind::TriggeredByLabel]);
    let mut possible = Vec::new();
    let mut add = |is_so: bool, reason| possible.extend(is_so.then_some(reason));
    match operations {
        [OperationKind::Delete] => {
            let destroys =
                matches!(trial.stage.action, Action::Destroy(_)) || trial.options.mode == PlanMode::Destroy;
            let has_old = remembered.is_some_and(|it| !it.pending.is_empty());
            // A step with targets may reach less of the program than is written.
            let is_written = node.is_some();
            add(!destroys && !is_written, PlannedReason::NotWritten);
            add(destroys || has_old, PlannedReason::None);
        }
        [OperationKind::Create] | [OperationKind::Update] => {
            add(true, PlannedReason::None);
            add(is_triggered, PlannedReason::Triggered);
        }
        [_, _] => {
            let current = remembered.and_then(|it| it.current.as_ref());
            // What has changed behind the engine's back is compared as it is, or as it was if nothing is read.
            let object = model.deployed.object(key);
            let mut pins = object.map(|it| &it.pin).into_iter().chain(current.map(|it| &it.pin));
            let has_pin = node.is_some_and(|node| pins.any(|pin| *pin != node.pin));
            let was_pinned = remembered
                .is_some_and(|it| it.dependencies.values().any(|kind| *kind == EdgeKind::PinnedRefs));
            add(has_pin || was_pinned || edge(&[EdgeKind::PinnedRefs]), PlannedReason::CannotUpdate);
            add(trial.options.replace.contains(key), PlannedReason::Asked);
            add(current.is_some_and(|it| it.marked), PlannedReason::Marked);
            add(is_triggered, PlannedReason::Triggered);
        }
        _ => {}
    }
    possible
}
