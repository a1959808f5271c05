//! Scenarios: what has to occur in the stages that a workflow makes, so that a fault shows itself.
//!
//! A scenario is a predicate over stages as data. The first seed with which it holds is taken, so it does not matter
//! what a workflow draws beside it, or in which order; and a scenario that no seed has ends the test.

use equiform::case::stage::{Defect, JudgedAs, ProgramRef, Stage};
use equiform::spec::{Action, Drift, Options};
use equiform_proto::faults::{FaultAction, FaultOperation};

/// Whether something occurs in the stages of a variant.
pub type Scenario = fn(&[Stage]) -> bool;

/// Any stages of the workflow will do.
pub fn any(_: &[Stage]) -> bool {
    true
}

/// Whether a stage asks for options of which this is so.
fn asks(stages: &[Stage], is_it: impl Fn(&Options) -> bool) -> bool {
    stages.iter().any(|stage| is_it(stage.action.options()))
}

/// A stage replaces something on request.
pub fn replaces_any(stages: &[Stage]) -> bool {
    asks(stages, |options| !options.replace.is_empty())
}

/// A stage replaces these on request, and no others.
pub fn replaces(stages: &[Stage], keys: &[&str]) -> bool {
    asks(stages, |options| options.replace.iter().map(AsRef::as_ref).eq(keys.iter().copied()))
}

/// A stage is limited to these targets.
pub fn targets(stages: &[Stage], keys: &[&str]) -> bool {
    asks(stages, |options| are_targets(options, keys))
}

fn are_targets(options: &Options, keys: &[&str]) -> bool {
    options.target.iter().map(AsRef::as_ref).eq(keys.iter().copied())
}

/// The first stage with a batch is limited to these targets.
pub fn begins_with_targets(stages: &[Stage], batch: usize, keys: &[&str]) -> bool {
    let first = stages.iter().find(|stage| stage.program == ProgramRef::Batch(batch));
    first.is_some_and(|stage| are_targets(stage.action.options(), keys))
}

/// A batch is applied with one operation at a time.
pub fn applies_one_by_one(stages: &[Stage]) -> bool {
    stages.iter().any(is_applied_one_by_one)
}

/// This batch is applied with one operation at a time.
pub fn applies_batch_one_by_one(stages: &[Stage], batch: usize) -> bool {
    stages.iter().any(|stage| stage.program == ProgramRef::Batch(batch) && is_applied_one_by_one(stage))
}

fn is_applied_one_by_one(stage: &Stage) -> bool {
    matches!(&stage.action, Action::Apply(options) if options.parallelism == Some(1))
}

/// A mark is taken away.
pub fn unmarks(stages: &[Stage]) -> bool {
    stages.iter().any(|stage| matches!(stage.action, Action::Unmark(_)))
}

/// The saved plan of this batch is applied once more.
pub fn refuses_a_stale_plan(stages: &[Stage], batch: usize) -> bool {
    let applies_it = |stage: &Stage| {
        matches!(stage.action, Action::ApplySaved(_)) && stage.program == ProgramRef::Batch(batch)
    };
    stages.iter().any(|stage| applies_it(stage) && stage.judged_as == JudgedAs::Refused)
}

/// A program with such a defect is applied in the place of a batch.
pub fn refuses(stages: &[Stage], is_it: impl Fn(usize, &Defect) -> bool) -> bool {
    stages.iter().any(|stage| match &stage.program {
        ProgramRef::Broken { batch, defect } => is_it(*batch, defect),
        _ => false,
    })
}

/// A destroy is refused, as a resource is protected.
pub fn refuses_to_destroy(stages: &[Stage]) -> bool {
    let destroys = |stage: &Stage| matches!(stage.action, Action::Destroy(_));
    stages.iter().any(|stage| destroys(stage) && stage.judged_as == JudgedAs::Refused)
}

/// An operation fails in this way.
pub fn fails(stages: &[Stage], action: FaultAction) -> bool {
    stages.iter().flat_map(|stage| &stage.faults).any(|fault| fault.action == action)
}

/// This operation on this resource fails in this way.
pub fn fails_in(stages: &[Stage], operation: FaultOperation, key: &str, action: FaultAction) -> bool {
    stages.iter().flat_map(|stage| &stage.faults).any(|fault| {
        let call = &fault.call;
        call.operation == operation && call.key.as_deref() == Some(key) && fault.action == action
    })
}

/// In the stage with this name, this operation on this resource fails.
pub fn fails_at(stages: &[Stage], name: &str, operation: FaultOperation, key: &str) -> bool {
    let stage = stages.iter().find(|stage| stage.name == name);
    stage.is_some_and(|stage| {
        let calls = stage.faults.iter().map(|fault| &fault.call);
        calls.into_iter().any(|call| call.operation == operation && call.key.as_deref() == Some(key))
    })
}

/// In the stage with this name, an object changes in this way behind the engine's back.
pub fn drifts_at(stages: &[Stage], name: &str, is_it: impl Fn(&str, &Drift) -> bool) -> bool {
    stages.iter().any(|stage| {
        stage.name == name && matches!(&stage.action, Action::Drift { key, change } if is_it(key, change))
    })
}

/// An object changes in this way behind the engine's back.
pub fn drifts(stages: &[Stage], is_it: impl Fn(&str, &Drift) -> bool) -> bool {
    stages.iter().any(|stage| matches!(&stage.action, Action::Drift { key, change } if is_it(key, change)))
}

/// What follows on a drift, after all plans.
fn after_drift(stages: &[Stage]) -> Option<(&Stage, &Stage)> {
    let place = stages.iter().position(|stage| matches!(stage.action, Action::Drift { .. }))?;
    let next = stages[place + 1..].iter().find(|stage| !matches!(stage.action, Action::Plan(_)))?;
    Some((&stages[place], next))
}

/// After a drift, a refresh that is not a saved plan takes it into the state.
pub fn refreshes_drift(stages: &[Stage]) -> bool {
    after_drift(stages).is_some_and(|(_, next)| matches!(next.action, Action::Refresh(_)))
}

/// After a drift, an apply of the same program repairs it, with no refresh in between.
pub fn repairs_drift(stages: &[Stage]) -> bool {
    after_drift(stages)
        .is_some_and(|(drift, next)| matches!(next.action, Action::Apply(_)) && next.program == drift.program)
}
