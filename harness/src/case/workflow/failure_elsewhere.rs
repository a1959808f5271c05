//! The provider fails operations where the workflow `failure` does not: two at once, in saved plans, with targets, one
//! operation at a time, while objects are read, and in a destroy.

use equiform_proto::faults::{Fault, FaultAction, FaultOperation};

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef};
use crate::spec::changes::{Change, Changes};
use crate::spec::{Action, OperationKind, Options, SavedOptions};

/// The workflow `failure-elsewhere`.
pub const WORKFLOW: Workflow = Workflow {
    name: "failure-elsewhere",
    about: "operations fail two at once, in saved plans, with targets, in refreshes and in a destroy",
    unchanged: Unchanged::World,
    needs: &[Feature::SavedPlan, Feature::Refresh, Feature::Parallelism, Feature::Target],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = [course.later_batch(), 1];
    for number in course.numbers() {
        if special.contains(&number) {
            match course.draw(4) {
                0 => several(course, number),
                1 => saved(course, number),
                2 => targeted(course, number),
                _ => several_one_by_one(course, number),
            }
        }
        course.apply(number);
    }
    course.end_without_destroy();
    let last = *course.numbers().end();
    unreadable(course, last);
    let deletes: Vec<Fault> = course
        .deployed
        .keys()
        .map(|key| Fault::in_first_call(FaultOperation::Delete, Some(key), FaultAction::Error))
        .collect();
    let failing = course.some(&deletes, 2);
    if !failing.is_empty() {
        course.with_faults("destroy-fails".to_owned(), Action::Destroy(Options::USUAL), last, failing);
    }
    course.destroy(ProgramRef::Batch(last));
}

/// Operations of a step that can fail.
fn operations(changes: &Changes) -> Vec<Fault> {
    let fault = |(it, kind, _)| {
        let operation = match kind {
            OperationKind::Create => FaultOperation::Create,
            OperationKind::Update => FaultOperation::Update,
            OperationKind::Delete => FaultOperation::Delete,
        };
        Fault::in_first_call(operation, Some(changes.numbering.key(it)), FaultAction::Error)
    };
    changes.operations().map(fault).collect()
}

/// Up to three operations of an apply fail, on different objects.
fn several(course: &mut Course<'_>, number: usize) {
    let failing = of_different_objects(course, number);
    if !failing.is_empty() {
        let apply = Action::Apply(Options::USUAL);
        course.with_faults(format!("batch-{number}-fails"), apply, number, failing);
    }
}

/// The same with one operation at a time.
fn several_one_by_one(course: &mut Course<'_>, number: usize) {
    let failing = of_different_objects(course, number);
    if !failing.is_empty() {
        let apply = Action::Apply(Options { parallelism: Some(1), ..Options::USUAL });
        course.with_faults(format!("batch-{number}-fails"), apply, number, failing);
    }
}

fn of_different_objects(course: &mut Course<'_>, number: usize) -> Vec<Fault> {
    let all = operations(&course.changes_to(number));
    let mut failing: Vec<Fault> = Vec::new();
    for fault in course.some(&all, 3) {
        if failing.iter().all(|other| other.call.key != fault.call.key) {
            failing.push(fault);
        }
    }
    failing
}

/// An operation of a saved plan fails.
fn saved(course: &mut Course<'_>, number: usize) {
    let all = operations(&course.changes_to(number));
    let failing = course.some(&all, 1);
    if failing.is_empty() {
        return;
    }
    let plan = Action::Plan(Options { save: true, ..Options::USUAL });
    course.with_batch(format!("batch-{number}-plan"), plan, number, JudgedAs::Plan);
    let apply = Action::ApplySaved(SavedOptions::default());
    course.with_faults(format!("batch-{number}-fails"), apply, number, failing);
}

/// An operation of an apply with targets fails.
fn targeted(course: &mut Course<'_>, number: usize) {
    let options = Options { target: course.part(course.program(number)), ..Options::USUAL };
    let changes = course.changes_with(number, &options);
    // What targets make of a replacement is a matter of known bugs.
    let is_replaced = |fault: &Fault| {
        let key = fault.call.key.as_deref();
        changes
            .numbers()
            .any(|it| Some(&**changes.numbering.key(it)) == key && changes.of_number(it) == Change::Replaced)
    };
    let all: Vec<Fault> = operations(&changes).into_iter().filter(|fault| !is_replaced(fault)).collect();
    let failing = course.some(&all, 1);
    if !failing.is_empty() {
        course.with_faults(format!("batch-{number}-fails"), Action::Apply(options), number, failing);
    }
}

/// An object cannot be read while everything is refreshed, or planned.
fn unreadable(course: &mut Course<'_>, number: usize) {
    let deployed: Vec<String> = course.deployed.keys().map(|key| key.to_string()).collect();
    let Some(key) = course.some(&deployed, 1).pop() else { return };
    let read = || vec![Fault::in_first_call(FaultOperation::Read, Some(&key), FaultAction::Error)];
    let action = match course.draw(3) {
        0 => Action::Refresh(Options::USUAL),
        1 => Action::Plan(Options::USUAL),
        _ => Action::Destroy(Options::USUAL),
    };
    course.with_faults("unreadable".to_owned(), action, number, read());
}
