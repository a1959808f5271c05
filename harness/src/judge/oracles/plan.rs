//! Planned actions equal executed ones, and the engine counts right. A stage that only plans is held to what the model
//! would have done.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::{Finding, Trial};
use crate::case::stage::JudgedAs;
use crate::evidence::PlannedChange;
use crate::spec::{Action, OperationKind, PlanMode, ResourceOperation};

/// For people.
pub const ABOUT: &str = "the engine does what its plan announced";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("plan", kind, trial, text));
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    if !evidence.succeeded {
        return findings;
    }
    drift(trial, &mut found);
    outputs(trial, &mut found);
    if !action.plans() {
        return findings;
    }
    let summaries = &evidence.output.summaries;
    let plans = summaries.iter().filter(|summary| summary.is_plan).count();
    if plans > 1 {
        found("more than one", format!("one command made {plans} plans"));
    }
    // What a plan without changes must not announce is for `cross` to tell.
    if trial.is_quiet(JudgedAs::Cross) {
        return findings;
    }
    let planned = Changes::planned(trial);
    let is_saved = matches!(action, Action::ApplySaved(_));
    if is_saved && plans > 0 {
        found("made anew", format!("the apply of a saved plan made {plans} more"));
    }
    // The other way round there may be more to tell of than resources.
    if matches!(action, Action::Plan(_)) && !planned.0.is_empty() && !evidence.tells_of_changes {
        found("denies changes", "its exit code says that there is nothing to change".to_owned());
    }
    if !action.changes_the_world() {
        let (mut planned, optional) = (planned, Changes::of(trial, trial.plan.optional.iter()));
        let mut expected = Changes::of(trial, trial.plan.operations.iter());
        for changes in [&mut planned, &mut expected] {
            changes.0.retain(|change| !optional.0.contains(change));
        }
        if planned != expected {
            found(
                "differs from what is due",
                planned.difference(&expected, "planned and not due", "due and not planned"),
            );
        }
    } else if !is_saved {
        let done = Changes::of(trial, evidence.operations.iter().map(|observed| &observed.operation));
        if planned != done {
            let text = planned.difference(&done, "planned and not done", "done and not planned");
            found("differs from what was done", text);
        }
    }
    let (counts, what) = if action.changes_the_world() {
        (count(evidence.operations.iter().map(|observed| observed.operation.kind)), "were")
    } else {
        (count(trial.plan.operations.iter().map(|operation| operation.kind)), "are due")
    };
    // What may be planned or not is counted or not.
    let can_be_counted = action.changes_the_world() || trial.plan.optional.is_empty();
    for summary in summaries.iter().filter(|_| can_be_counted && plans == usize::from(!is_saved)) {
        let told = (summary.created, summary.updated, summary.deleted);
        if told != counts {
            let text = format!(
                "the summary of {} has {told:?} created, updated and deleted, and {counts:?} {what}",
                summary.command
            );
            found("miscounts", text);
        }
    }
    findings
}

/// What the engine says has changed behind its back is what has changed there.
fn drift(trial: &Trial<'_>, found: &mut dyn FnMut(&str, String)) {
    // A plan to destroy does not tell of drift.
    let destroys =
        matches!(trial.stage.action, Action::Destroy(_)) || trial.options.mode == PlanMode::Destroy;
    let looks = trial.refreshes() && !destroys;
    let nodes = trial.deployed.current().filter(|_| looks);
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
    if reported != expected {
        let text = reported.difference(&expected, "reported and not so", "drifted and not reported");
        found("reports another drift", text);
    }
}

/// What is planned for the outputs of a program is what becomes of them, and what is told of them in the end is what is
/// stored.
fn outputs(trial: &Trial<'_>, found: &mut dyn FnMut(&str, String)) {
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    let Some(state) = evidence.state.state().filter(|_| action.changes_the_world()) else { return };
    if let Some(told) = &evidence.output.outputs
        && *told != state.outputs
    {
        let names = told.keys().chain(state.outputs.keys());
        let name = names.into_iter().find(|name| told.get(*name) != state.outputs.get(*name));
        let name = name.map_or("?", String::as_str);
        found("tells other outputs", format!("{name} is told to be another value than is stored"));
    }
    // Of a part of a program nobody says what becomes of its outputs.
    let makes_a_plan = action.plans() && !matches!(action, Action::ApplySaved(_));
    if !makes_a_plan || !trial.options.target.is_empty() {
        return;
    }
    let nothing = BTreeMap::new();
    let before = evidence.state_before.as_ref().map_or(&nothing, |before| &before.outputs);
    let names: BTreeSet<&String> = before.keys().chain(state.outputs.keys()).collect();
    let due = names.into_iter().filter_map(|name| match (before.get(name), state.outputs.get(name)) {
        (None, Some(_)) => Some((name.as_str(), "create")),
        (Some(_), None) => Some((name.as_str(), "delete")),
        (Some(was), Some(is)) if was != is => Some((name.as_str(), "update")),
        _ => None,
    });
    let due: BTreeMap<&str, &str> = due.collect();
    let planned = evidence.output.planned_outputs.iter();
    let planned: BTreeMap<&str, &str> =
        planned.map(|(name, action)| (name.as_str(), action.as_str())).filter(|it| it.1 != "noop").collect();
    if planned != due {
        found("plans other outputs", format!("planned are {planned:?}, and due {due:?}"));
    }
}

fn count(kinds: impl Iterator<Item = OperationKind>) -> (usize, usize, usize) {
    let mut counts = (0, 0, 0);
    for kind in kinds {
        match kind {
            OperationKind::Create => counts.0 += 1,
            OperationKind::Update => counts.1 += 1,
            OperationKind::Delete => counts.2 += 1,
        }
    }
    counts
}

/// What is done to resources, by address.
#[derive(PartialEq, Eq)]
struct Changes(FxHashSet<(String, OperationKind)>);

impl Changes {
    fn planned(trial: &Trial<'_>) -> Self {
        Self::listed(&trial.evidence.output.planned)
    }

    fn listed(changes: &BTreeSet<PlannedChange>) -> Self {
        Self(
            changes
                .iter()
                .flat_map(|change| change.operations.iter().map(|kind| (change.address.clone(), *kind)))
                .collect(),
        )
    }

    fn of<'a>(trial: &Trial<'_>, operations: impl Iterator<Item = &'a ResourceOperation>) -> Self {
        let address = |operation: &ResourceOperation| trial.address(&operation.key).to_string();
        Self(operations.map(|operation| (address(operation), operation.kind)).collect())
    }

    fn difference(&self, other: &Self, only_here: &str, only_there: &str) -> String {
        let only = |one: &Self, other: &Self| -> BTreeSet<String> {
            one.0.difference(&other.0).map(|(address, kind)| format!("{kind} {address}")).collect()
        };
        format!("{only_here}: {:?}; {only_there}: {:?}", only(self, other), only(other, self))
    }
}

/// Planned changes in words.
pub fn listed(planned: &BTreeSet<PlannedChange>) -> String {
    let changes = planned.iter().map(|change| format!("{} {}", change.action, change.address));
    if planned.is_empty() {
        "its exit code says so".to_owned()
    } else {
        changes.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use equiform_proto::ledger::World;

    use super::*;
    use crate::algebra::graph::NamedGraph;
    use crate::case::stage::{ProgramRef, Stage};
    use crate::evidence::{StageEvidence, StageRecord, StoredIdentity, Summary};
    use crate::spec::semantics::terraform::TERRAFORM;
    use crate::spec::{Configuration, Deployed, Expectation, Options};

    /// The kinds of findings in a plan of another variant's program, of which the engine prints so many summaries.
    fn kinds(plans: usize) -> Vec<String> {
        let record = StageRecord {
            stage: "cross".to_owned(),
            command: "plan".to_owned(),
            exit: Some(0),
            timed_out: false,
            lock_left: false,
            milliseconds: 1,
            ledger_bytes: 0,
            warm: false,
        };
        let mut evidence = StageEvidence::without_state(record, Vec::new());
        let summary =
            Summary { command: "plan".to_owned(), is_plan: true, created: 0, updated: 0, deleted: 0 };
        evidence.output.summaries = vec![summary; plans];
        let trial = Trial {
            source: &NamedGraph::default(),
            stage: &Stage::usual(1, 0)[2],
            program_ref: &ProgramRef::Empty,
            program_is_deployed: true,
            options: &Options::USUAL,
            outcome: None,
            identity: StoredIdentity::Never,
            repeated: None,
            deployed: &Deployed::NOTHING,
            program: &Configuration::EMPTY,
            semantics: TERRAFORM,
            plan: &Expectation::nothing(0),
            expectation: &Expectation::nothing(0),
            evidence: &evidence,
            world: &World::default(),
        };
        judge(&trial).into_iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn one_command_makes_one_plan_also_where_nothing_is_to_change() {
        assert!(kinds(1).is_empty());
        assert_eq!(kinds(2), ["more than one"]);
    }
}
