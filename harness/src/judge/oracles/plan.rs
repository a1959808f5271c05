//! Planned actions equal executed ones, and the engine counts right. A stage that only plans is held to what the model
//! would have done.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::Trial;
use crate::case::stage::JudgedAs;
use crate::evidence::PlannedChange;
use crate::judge::finding::detail::{ChangeAt, Counts, PlannedAt};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::{Action, OperationKind, PlanMode, ResourceOperation};

/// What it looks at.
pub const ABOUT: &str = "the engine does what its plan announced";

/// Compares plans with what was done, or is expected. Without a model nobody knows the addresses of resources, and only
/// numbers are compared.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    if !evidence.succeeded {
        return findings;
    }
    findings.extend(drift(trial));
    findings.extend(outputs(trial));
    if !action.plans() {
        return findings;
    }
    let counted = |kind, observed| trial.finding(kind).with(Detail::Count { observed, expected: None });
    let plans = evidence.output.summaries.iter().filter(|summary| summary.is_plan).count();
    if plans > 1 {
        findings.push(counted(FindingKind::SeveralPlans, plans));
    }
    // What a plan without changes must not announce is for `cross` to tell.
    if trial.is_quiet(JudgedAs::Cross) {
        return findings;
    }
    let is_saved = matches!(action, Action::ApplySaved(_));
    if is_saved && plans > 0 {
        findings.push(counted(FindingKind::SavedPlanMadeAgain, plans));
    }
    // The other way round there may be more to tell of than resources.
    let announces = evidence.output.planned.iter().any(|change| !change.operations.is_empty());
    if matches!(action, Action::Plan(_)) && announces && !evidence.tells_of_changes {
        findings.push(trial.finding(FindingKind::ChangesDenied));
    }
    findings.extend(changes(trial));
    if plans == usize::from(!is_saved) {
        findings.extend(miscounts(trial));
    }
    findings
}

/// What is announced is done, or expected where nothing is done.
fn changes(trial: &Trial<'_>) -> Option<Finding> {
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    let plan = trial.model.as_ref().map(|model| model.plan)?;
    let mut planned = Changes::listed(&evidence.output.planned);
    if !action.changes_the_world() {
        let optional = Changes::of(trial, plan.optional.iter());
        let mut expected = Changes::of(trial, plan.operations.iter());
        for changes in [&mut planned, &mut expected] {
            changes.0.retain(|change| !optional.0.contains(change));
        }
        return planned.difference(&expected, || trial.finding(FindingKind::PlanDiffersFromModel));
    }
    if matches!(action, Action::ApplySaved(_)) {
        return None;
    }
    let done = Changes::of(trial, evidence.operations.iter().map(|observed| &observed.operation));
    planned.difference(&done, || trial.finding(FindingKind::PlanDiffersFromDone))
}

/// The engine counts what is done, or expected where nothing is done.
fn miscounts(trial: &Trial<'_>) -> Vec<Finding> {
    let (evidence, done) = (trial.evidence, trial.stage.action.changes_the_world());
    let observed = match &trial.model {
        _ if done => count(evidence.operations.iter().map(|observed| observed.operation.kind)),
        // What may be planned or not is counted or not.
        Some(model) if model.plan.optional.is_empty() => {
            count(model.plan.operations.iter().map(|operation| operation.kind))
        }
        _ => return Vec::new(),
    };
    let wrong = evidence.output.summaries.iter().filter_map(|summary| {
        let (created, updated, deleted) = (summary.created, summary.updated, summary.deleted);
        let summarised = Counts { created, updated, deleted };
        let detail = Detail::Counts { command: summary.command.clone(), summarised, observed, done };
        (summarised != observed).then(|| trial.finding(FindingKind::Miscount).with(detail))
    });
    wrong.collect()
}

/// What the engine says has changed behind its back is what has changed there.
fn drift(trial: &Trial<'_>) -> Option<Finding> {
    let model = trial.model.as_ref()?;
    // A plan to destroy does not tell of drift.
    let destroys =
        matches!(trial.stage.action, Action::Destroy(_)) || trial.options.mode == PlanMode::Destroy;
    let looks = trial.refreshes() && !destroys;
    let nodes = model.deployed.current().filter(|_| looks);
    let drifted = nodes.filter_map(|(_, remembered, current, object)| {
        let kind = match object {
            None => OperationKind::Delete,
            Some(object) if (&object.label, &object.pin) != (&current.label, &current.pin) => {
                OperationKind::Update
            }
            Some(_) => return None,
        };
        Some((remembered.address.to_string(), kind))
    });
    let expected = Changes(drifted.collect());
    let reported = Changes::listed(&trial.evidence.output.drifted);
    reported.difference(&expected, || trial.finding(FindingKind::DriftMisreported))
}

/// What is planned for the outputs of a program is what becomes of them, and what is told of them in the end is what is
/// stored.
fn outputs(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    let Some(state) = evidence.state.state().filter(|_| action.changes_the_world()) else { return findings };
    if let Some(told) = &evidence.output.outputs {
        let stored = |name: &String| state.outputs.get(name).map(|output| &output.value);
        let mut names = told.keys().chain(state.outputs.keys());
        if let Some(name) = names.find(|name| told.get(*name) != stored(name)) {
            findings.push(trial.finding(FindingKind::OutputMisreported).about([Subject::output(name)]));
        }
    }
    // Of a part of a program nobody says what becomes of its outputs.
    let makes_a_plan = action.plans() && !matches!(action, Action::ApplySaved(_));
    if !makes_a_plan || !trial.options.target.is_empty() {
        return findings;
    }
    let nothing = BTreeMap::new();
    let before = evidence.state_before.as_ref().map_or(&nothing, |before| &before.outputs);
    let names: BTreeSet<&String> = before.keys().chain(state.outputs.keys()).collect();
    let due = names.into_iter().filter_map(|name| match (before.get(name), state.outputs.get(name)) {
        (None, Some(_)) => Some((name.clone(), "create".to_owned())),
        (Some(_), None) => Some((name.clone(), "delete".to_owned())),
        (Some(was), Some(is)) if was.value != is.value => Some((name.clone(), "update".to_owned())),
        _ => None,
    });
    let due: BTreeMap<String, String> = due.collect();
    let planned: BTreeMap<String, String> =
        evidence.output.planned_outputs.clone().into_iter().filter(|it| it.1 != "noop").collect();
    if planned != due {
        let detail = Detail::OutputChanges { planned, due };
        findings.push(trial.finding(FindingKind::OutputPlanDiffers).with(detail));
    }
    findings
}

fn count(kinds: impl Iterator<Item = OperationKind>) -> Counts {
    let mut counts = Counts::default();
    for kind in kinds {
        match kind {
            OperationKind::Create => counts.created += 1,
            OperationKind::Update => counts.updated += 1,
            OperationKind::Delete => counts.deleted += 1,
        }
    }
    counts
}

/// What is done to resources, by address.
#[derive(PartialEq, Eq)]
struct Changes(FxHashSet<(String, OperationKind)>);

impl Changes {
    fn listed(changes: &BTreeSet<PlannedChange>) -> Self {
        Self(
            changes
                .iter()
                .flat_map(|change| change.operations.iter().map(|kind| (change.address.clone(), *kind)))
                .collect(),
        )
    }

    fn of<'a>(trial: &Trial<'_>, operations: impl Iterator<Item = &'a ResourceOperation>) -> Self {
        let address = |operation: &ResourceOperation| {
            trial.address(&operation.key).unwrap_or_else(|| operation.key.to_string())
        };
        Self(operations.map(|operation| (address(operation), operation.kind)).collect())
    }

    /// A finding with how they differ from others; none if they do not.
    fn difference(&self, there: &Self, finding: impl FnOnce() -> Finding) -> Option<Finding> {
        let only = |one: &Self, other: &Self| -> Vec<ChangeAt> {
            let only = one.0.difference(&other.0);
            let mut only: Vec<ChangeAt> =
                only.map(|(address, kind)| ChangeAt { operation: *kind, address: address.clone() }).collect();
            only.sort_unstable();
            only
        };
        (self != there).then(|| {
            let (only_announced, only_there) = (only(self, there), only(there, self));
            let at = |change: &ChangeAt| Subject::OperationAt {
                address: change.address.clone(),
                operation: change.operation,
            };
            let subjects: Vec<Subject> = only_announced.iter().chain(&only_there).map(at).collect();
            finding().about(subjects).with(Detail::Changes { only_announced, only_there })
        })
    }
}

/// Planned changes, as a finding has them.
pub fn planned(changes: &BTreeSet<PlannedChange>) -> Detail {
    let at =
        |change: &PlannedChange| PlannedAt { action: change.action.clone(), address: change.address.clone() };
    Detail::Planned { changes: changes.iter().map(at).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{StageEvidence, StageRecord, Summary};
    use crate::judge::oracles::tests::judged;

    /// The kinds of findings in a plan of another variant's program, of which the engine prints so many summaries.
    fn kinds(plans: usize) -> Vec<FindingKind> {
        let mut evidence = StageEvidence::without_state(StageRecord::new("cross", "plan"), Vec::new());
        let summary =
            Summary { command: "plan".to_owned(), is_plan: true, created: 0, updated: 0, deleted: 0 };
        evidence.output.summaries = vec![summary; plans];
        judged(judge, &evidence)
    }

    #[test]
    fn one_command_makes_one_plan_also_where_nothing_is_to_change() {
        assert!(kinds(1).is_empty());
        assert_eq!(kinds(2), [FindingKind::SeveralPlans]);
    }
}
