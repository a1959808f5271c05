//! Planned actions equal executed ones, and the engine counts right. A stage that only plans is held to what the model
//! would have done.

mod outputs;
mod summaries;

use rustc_hash::FxHashSet;

use super::{ModelView, Trial};
use crate::case::stage::JudgedAs;
use crate::evidence::PlannedChange;
use crate::judge::finding::detail::{ChangeAt, Counts, PlannedAt};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::{Action, Expectation, OperationKind, PlanMode, ResourceOperation};
pub use summaries::possible_reasons;

/// What it looks at.
pub const ABOUT: &str = "the engine does what its plan announced";

/// Compares plans with what was done, or is expected. Without a model nobody knows the addresses of resources, and only
/// numbers are compared.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    if !trial.speaks() || !evidence.record.ended_in_order() {
        return findings;
    }
    findings.extend(summaries::number(trial));
    findings.extend(summaries::reasons(trial));
    let counted = |kind, observed| trial.finding(kind).with(Detail::Count { observed, expected: None });
    let plans = evidence.output.summaries().filter(|summary| summary.is_plan).count();
    if plans > 1 {
        findings.push(counted(FindingKind::SeveralPlans, plans));
    }
    if !evidence.succeeded {
        findings.extend(summaries::of_failure(trial));
        return findings;
    }
    findings.extend(drift(trial));
    findings.extend(outputs::judge(trial));
    let only_reads = matches!(action, Action::Refresh(_));
    if !action.plans() && !only_reads {
        return findings;
    }
    // What a plan without changes must not announce is for `cross` to tell.
    if trial.is_quiet(JudgedAs::Cross) {
        return findings;
    }
    let is_saved = matches!(action, Action::ApplySaved(_));
    if is_saved && plans > 0 {
        findings.push(counted(FindingKind::SavedPlanMadeAgain, plans));
    }
    findings.extend(exit_code(trial));
    findings.extend(changes(trial));
    if plans == usize::from(!is_saved) {
        findings.extend(miscounts(trial));
    }
    findings
}

/// Whether a plan is empty is what its exit code says.
fn exit_code(trial: &Trial<'_>) -> Option<Finding> {
    let (output, says) = (&trial.evidence.output, trial.evidence.tells_of_changes);
    if !matches!(trial.stage.action, Action::Plan(_)) {
        return None;
    }
    let announces = output.planned().any(|change| !change.operations.is_empty());
    // A plan that only takes in what has changed is not empty if something has.
    let only_reads = trial.options.mode == PlanMode::Refresh;
    let takes_in = only_reads && output.drifted().next().is_some();
    let has_outputs = output.planned_outputs().is_some_and(|it| it.values().any(|action| action != "noop"));
    let expected = trial.model.as_ref().is_some_and(|model| {
        let has_drift = only_reads && !drifted(trial, model).0.is_empty();
        has_drift || model.plan.operations.difference(&model.plan.optional).next().is_some()
    });
    // Engines do not agree whether outputs alone make a plan that only reads one with changes.
    let has_more = has_outputs && !only_reads;
    match says {
        false if announces || takes_in || has_more || expected => {
            Some(trial.finding(FindingKind::ChangesDenied))
        }
        true if !announces && !takes_in && !has_outputs && !expected => {
            Some(trial.finding(FindingKind::ChangesClaimed))
        }
        _ => None,
    }
}

/// What is announced is done, or expected where nothing is done.
fn changes(trial: &Trial<'_>) -> Option<Finding> {
    let (evidence, action) = (trial.evidence, &trial.stage.action);
    let plan = trial.model.as_ref().map(|model| model.plan)?;
    let planned = Changes::listed(evidence.output.planned());
    if !action.changes_the_world() {
        return planned.differs_from_model(trial, plan);
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
    let wrong = evidence.output.summaries().filter_map(|summary| {
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
    let expected = drifted(trial, model);
    let reported = Changes::listed(trial.evidence.output.drifted());
    reported.difference(&expected, || trial.finding(FindingKind::DriftMisreported))
}

/// What has changed behind the engine's back, as far as it looks.
fn drifted(trial: &Trial<'_>, model: &ModelView<'_>) -> Changes {
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
    Changes(drifted.collect())
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
    fn listed<'a>(changes: impl Iterator<Item = &'a PlannedChange>) -> Self {
        let each =
            |change: &'a PlannedChange| change.operations.iter().map(|kind| (change.address.clone(), *kind));
        Self(changes.flat_map(each).collect())
    }

    /// A finding with how planned changes differ from those that the model expects; none if they do not.
    fn differs_from_model(mut self, trial: &Trial<'_>, plan: &Expectation) -> Option<Finding> {
        let optional = Self::of(trial, plan.optional.iter());
        let mut expected = Self::of(trial, plan.operations.iter());
        for changes in [&mut self, &mut expected] {
            changes.0.retain(|change| !optional.0.contains(change));
        }
        self.difference(&expected, || trial.finding(FindingKind::PlanDiffersFromModel))
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
pub fn planned<'a>(changes: impl Iterator<Item = &'a PlannedChange>) -> Detail {
    let at =
        |change: &PlannedChange| PlannedAt { action: change.action.clone(), address: change.address.clone() };
    let mut changes: Vec<PlannedAt> = changes.map(at).collect();
    changes.sort_unstable_by(|one, other| (&one.address, &one.action).cmp(&(&other.address, &other.action)));
    changes.dedup();
    Detail::Planned { changes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{Message, StageEvidence, StageRecord, Summary};
    use crate::judge::oracles::tests::judged;

    /// The kinds of findings in a plan of another variant's program, of which the engine prints so many summaries.
    fn kinds(plans: usize) -> Vec<FindingKind> {
        let mut evidence = StageEvidence::without_state(StageRecord::new("cross", "plan"), Vec::new());
        let (command, is_plan) = ("plan".to_owned(), true);
        let summary = Summary { command, is_plan, created: 0, updated: 0, deleted: 0, others: 0 };
        evidence.output.messages = vec![Message::Summary(summary); plans];
        judged(judge, &evidence)
    }

    #[test]
    fn one_command_makes_one_plan_also_where_nothing_is_to_change() {
        assert!(kinds(1).is_empty());
        assert_eq!(kinds(2), [FindingKind::SeveralPlans]);
        assert_eq!(kinds(0), [FindingKind::SummaryMissing]);
    }
}
