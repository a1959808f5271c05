//! What the engine sends along with its requests is right: objects as they are, changes as they were planned;
//! everything is read before it is changed, or nothing if that is asked for, and everything in the program is planned.

use std::collections::BTreeSet;

use super::{Finding, Trial};
use crate::case::stage::{JudgedAs, ProgramRef};
use crate::evidence::{ANOTHER_CONFIGURATION, NOT_REFRESHED, READ_TOO_LATE};
use crate::spec::{Action, NodeKey, PlanMode};

/// For people.
pub const ABOUT: &str = "requests carry objects as they are and changes as planned; all is read and planned";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let requests = &trial.evidence.requests;
    let succeeded = trial.evidence.succeeded;
    let reached = reached(trial);
    let is_reached = |key: &str| reached.as_ref().is_none_or(|keys| keys.contains(key));
    let mut findings: Vec<Finding> = requests
        .problems
        .iter()
        // A command that failed may have come to its end before it had read everything, and one that does not
        // refresh reads nothing.
        .filter(|problem| {
            let reads = succeeded && trial.refreshes();
            let key = problem.key.as_deref();
            // A plan is made without the changes that are ignored; a change comes with what is written.
            let ignores = |key| trial.program.node(key).is_some_and(|node| node.ignore_changes);
            (reads || problem.kind != NOT_REFRESHED)
                && (problem.kind != ANOTHER_CONFIGURATION || !key.is_some_and(ignores))
                && (trial.refreshes() || problem.kind != READ_TOO_LATE)
                && key.is_none_or(is_reached)
        })
        .map(|problem| Finding::new("requests", problem.kind, trial, problem.text.clone()))
        .collect();
    let in_the_text = match trial.program_ref {
        ProgramRef::Broken { defect, .. } => defect.shows_in_the_text(),
        _ => trial.stage.judged_as == JudgedAs::Refused,
    };
    if in_the_text && requests.about_objects > 0 {
        let text =
            format!("{} requests about objects, and the command has to be refused", requests.about_objects);
        findings.push(Finding::new("requests", "asks in vain", trial, text));
    }
    if requests.reads > 0 && !trial.refreshes() {
        let text = format!("{} objects were read, and the command is to read none", requests.reads);
        findings.push(Finding::new("requests", "reads what it is not to read", trial, text));
    }
    if !succeeded || !requests.recorded || !trial.stage.action.plans() {
        return findings;
    }
    // What is saved was planned in the stage before, and a destroy plans deletes, of which providers are not told.
    let asks_for_plans =
        trial.options.mode == PlanMode::Program && trial.stage.judged_as != JudgedAs::Destroy;
    if !asks_for_plans || matches!(trial.stage.action, Action::ApplySaved(_)) {
        return findings;
    }
    let keys = trial.program.meaning.nodes.keys().map(|key| &**key);
    let unplanned = keys.filter(|key| is_reached(key)).filter(|key| !requests.planned.contains(*key));
    findings.extend(
        unplanned.map(|key| Finding::new("requests", "not planned", trial, format!("{key} was not planned"))),
    );
    findings
}

/// The keys that a stage with targets looks at; none if it has no targets.
fn reached(trial: &Trial<'_>) -> Option<BTreeSet<String>> {
    if trial.options.target.is_empty() {
        return None;
    }
    // What is destroyed because it depends on a target is not looked at before.
    let target = match trial.stage.action {
        Action::Destroy(_) => trial.stage.action.options().target.clone(),
        _ => trial.reached()?,
    };
    let is_there = |key: &&NodeKey| trial.program.node(key).is_some() || trial.deployed.has(key);
    // Whether an old object that is left from an earlier step is looked at is not promised.
    let has_old = |key: &NodeKey| trial.deployed.memory.node(key).is_some_and(|it| !it.pending.is_empty());
    Some(target.iter().filter(is_there).filter(|key| !has_old(key)).map(|key| key.to_string()).collect())
}
