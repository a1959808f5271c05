//! What is planned and reported for the outputs of a program.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::Trial;
use crate::spec::Action;

/// What is planned for the outputs of a program is what becomes of them, and what is told of them in the end is what is
/// stored.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    let writes = action.changes_the_world() || matches!(action, Action::Refresh(_));
    let Some(state) = evidence.state.state().filter(|_| writes) else { return findings };
    // A destroy reports none.
    if evidence.output.outputs().is_none()
        && !state.outputs.is_empty()
        && !matches!(action, Action::Destroy(_))
    {
        findings.push(trial.finding(FindingKind::OutputsUnreported));
    }
    if let Some(reported) = evidence.output.outputs() {
        let stored = |name: &String| state.outputs.get(name).map(|output| &output.value);
        let mut names = reported.keys().chain(state.outputs.keys());
        if let Some(name) = names.find(|name| reported.get(*name) != stored(name)) {
            findings.push(trial.finding(FindingKind::OutputMisreported).about([Subject::output(name)]));
        }
    }
    // Of a part of a program nobody says what becomes of its outputs.
    let makes_a_plan = action.plans() && !matches!(action, Action::ApplySaved(_));
    if !makes_a_plan || !trial.options.target.is_empty() {
        return findings;
    }
    let (nothing, nothing_planned) = (BTreeMap::new(), BTreeMap::new());
    let before = evidence.state_before.as_ref().map_or(&nothing, |before| &before.outputs);
    let names: BTreeSet<&String> = before.keys().chain(state.outputs.keys()).collect();
    // Outputs that stay as they are are listed, too.
    let is_listed = |name: &&&String| {
        evidence.output.planned_outputs().is_some_and(|planned| planned.contains_key(**name))
    };
    if let Some(name) = names.iter().find(|name| !is_listed(name)) {
        findings.push(trial.finding(FindingKind::OutputsUnreported).about([Subject::output(name)]));
    }
    let due = names.into_iter().filter_map(|name| match (before.get(name), state.outputs.get(name)) {
        (None, Some(_)) => Some((name.clone(), "create".to_owned())),
        (Some(_), None) => Some((name.clone(), "delete".to_owned())),
        (Some(was), Some(is)) if was.value != is.value => Some((name.clone(), "update".to_owned())),
        _ => None,
    });
    let due: BTreeMap<String, String> = due.collect();
    let planned = evidence.output.planned_outputs().unwrap_or(&nothing_planned).iter();
    // A destroy that failed has taken all outputs out of the state, and the next one plans to delete them once more.
    let is_destroyed_again = |name: &String, change: &str| {
        matches!(action, Action::Destroy(_)) && change == "delete" && !before.contains_key(name)
    };
    let planned = planned.filter(|(name, change)| *change != "noop" && !is_destroyed_again(name, change));
    let planned: BTreeMap<String, String> =
        planned.map(|(name, change)| (name.clone(), change.clone())).collect();
    if planned != due {
        let detail = Detail::OutputChanges { planned, due };
        findings.push(trial.finding(FindingKind::OutputPlanDiffers).with(detail));
    }
    findings
}
