//! The provider fails an operation: the engine says so, begins nothing that depends on it, does everything else, and
//! knows what there is. The next apply ends where it would have ended without the failure.

use equiform_proto::faults::{Fault, FaultAction, FaultOperation, Faults};

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::changes::Change;
use crate::spec::{Action, OperationKind, Options};

/// The workflow `failure`.
pub const WORKFLOW: Workflow = Workflow {
    name: "failure",
    about: "the provider fails an operation in some batches, each of which is then applied again",
    unchanged: Unchanged::World,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = [course.later_batch(), course.later_batch(), 1];
    let special = &special[course.draw(2)..];
    for number in course.numbers() {
        if special.contains(&number)
            && let Some(failure) = failure(course, number)
        {
            let action = Action::Apply(Options::USUAL);
            let program = ProgramRef::Batch(number);
            let stage = Stage::new(format!("batch-{number}-fails"), action, program, JudgedAs::Failure);
            let faults = Faults::new(vec![failure]).expect("the provider can produce it");
            course.push(Stage { faults, ..stage });
        }
        course.apply(number);
    }
    course.end();
}

/// An operation of a batch that can fail: one of those that are due, or one that comes before all of them.
fn failure(course: &mut Course<'_>, number: usize) -> Option<Fault> {
    let changes = course.changes_to(number);
    let key = |it| changes.numbering.key(it).to_string();
    let mut possible = Vec::new();
    let mut add = |operation, key: String, action| {
        possible.push(Fault::in_first_call(operation, Some(&key), action));
    };
    for (it, kind, _) in changes.operations() {
        let operation = match kind {
            OperationKind::Create => FaultOperation::Create,
            OperationKind::Update => FaultOperation::Update,
            OperationKind::Delete => FaultOperation::Delete,
        };
        add(operation, key(it), FaultAction::Error);
        // Half of an object beside the old one is more than the model goes on from.
        if kind == OperationKind::Update || changes.of_number(it) == Change::Created {
            add(operation, key(it), FaultAction::ErrorWithPartialObject);
        }
    }
    let mut quiet = Vec::new();
    quiet.extend(changes.before.numbers().map(|it| (FaultOperation::Read, Some(key(it)))));
    quiet.extend(changes.after.numbers().map(|it| (FaultOperation::Plan, Some(key(it)))));
    quiet.extend(changes.after.numbers().take(1).map(|it| (FaultOperation::Validate, Some(key(it)))));
    quiet.push((FaultOperation::Configure, None));
    // Most of what can fail is a change: one in six is not.
    if possible.is_empty() || course.draw(6) == 0 {
        let (operation, key) = course.some(&quiet, 1).pop()?;
        return Some(Fault::in_first_call(operation, key.as_deref(), FaultAction::Error));
    }
    course.some(&possible, 1).pop()
}
