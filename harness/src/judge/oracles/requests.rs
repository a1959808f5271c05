//! What the engine sends along with its requests is right: objects as they are, changes as they were planned;
//! everything is read before it is changed, or nothing if that is asked for, and everything in the program is planned.

use std::collections::BTreeSet;

use super::{ModelView, Trial, calls};
use crate::case::stage::{JudgedAs, ProgramRef};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::requests::BadRequest;
use crate::spec::{Action, NodeKey, PlanMode};

/// What it looks at.
pub const ABOUT: &str =
    "requests contain objects as they are and changes as planned, and everything is asked as often as needed";

/// Looks at what is wrong with requests, and at those that should be there or not.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let requests = trial.requests;
    let succeeded = trial.evidence.succeeded;
    let reached = trial.model.as_ref().and_then(|model| reached(trial, model));
    let is_reached = |key: &str| match &trial.model {
        Some(_) => reached.as_ref().is_none_or(|keys| keys.contains(key)),
        // What targets reach is for the model to tell.
        None => trial.options.target.is_empty(),
    };
    let counts = |bad: &&BadRequest| {
        // A plan is made without the changes that are ignored; a change comes with what is written.
        let ignores = |key: &str| {
            let node = trial.model.as_ref().and_then(|model| model.program.node(key));
            node.is_some_and(|node| node.ignore_changes)
        };
        let decides = bad.decides.as_deref();
        // A command that failed may have come to its end before it had read everything, and one that does not refresh
        // reads nothing.
        (match bad.kind {
            FindingKind::ObjectNotRead => succeeded && trial.refreshes(),
            FindingKind::ConfigurationNotAsPlanned => !decides.is_some_and(ignores),
            FindingKind::ChangedBeforeRead | FindingKind::PlannedBeforeRead => trial.refreshes(),
            _ => true,
        }) && decides.is_none_or(is_reached)
    };
    let finding = |bad: &BadRequest| {
        trial.finding(bad.kind).about(bad.subjects.iter().cloned()).with(bad.detail.clone())
    };
    let mut findings: Vec<Finding> = requests.bad.iter().filter(counts).map(finding).collect();
    let in_the_text = match &trial.stage.program {
        ProgramRef::Broken { defect, .. } => defect.shows_in_the_text(),
        _ => trial.stage.judged_as == JudgedAs::Refused,
    };
    let counted = |kind, observed| trial.finding(kind).with(Detail::Count { observed, expected: None });
    if in_the_text && requests.about_objects > 0 {
        findings.push(counted(FindingKind::RefusedCommandAsks, requests.about_objects));
    }
    if requests.reads > 0 && !trial.refreshes() {
        findings.push(counted(FindingKind::UnwantedRead, requests.reads));
    }
    findings.extend(calls::too_many(trial));
    findings.extend(calls::unreached(trial));
    findings.extend(calls::unvalidated(trial));
    let Some(model) = trial.model.as_ref().filter(|_| succeeded && trial.stage.action.plans()) else {
        return findings;
    };
    // What is saved was planned in the stage before, and a destroy plans deletes, of which providers are not told.
    let asks_for_plans =
        trial.options.mode == PlanMode::Program && trial.stage.judged_as != JudgedAs::Destroy;
    if !asks_for_plans || matches!(trial.stage.action, Action::ApplySaved(_)) {
        return findings;
    }
    let keys = model.program.meaning.nodes.keys().map(|key| &**key);
    let unplanned = keys.filter(|key| is_reached(key)).filter(|key| !requests.planned.contains(*key));
    findings.extend(
        unplanned.map(|key| trial.finding(FindingKind::ResourceNotPlanned).about([Subject::resource(key)])),
    );
    findings
}

/// The keys that a stage with targets looks at; none if it has no targets.
fn reached(trial: &Trial<'_>, model: &ModelView<'_>) -> Option<BTreeSet<String>> {
    if trial.options.target.is_empty() {
        return None;
    }
    // What is destroyed because it depends on a target is not looked at before.
    let target = match trial.stage.action {
        Action::Destroy(_) => trial.stage.action.options().target.clone(),
        _ => model.reached(trial.options)?,
    };
    let is_there = |key: &&NodeKey| model.program.node(key).is_some() || model.deployed.has(key);
    // Whether an old object that is left from an earlier step is looked at is not promised.
    let has_old = |key: &NodeKey| model.deployed.memory.node(key).is_some_and(|it| !it.pending.is_empty());
    Some(target.iter().filter(is_there).filter(|key| !has_old(key)).map(|key| key.to_string()).collect())
}
