//! The provider fails an operation: the engine says so, begins nothing that depends on it, does everything else, and
//! knows what there is. The next apply ends where it would have ended without the failure.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::changes::Change;
use crate::spec::{Action, FailingOperation, Failure, FailureKind, OperationKind, Options};

/// See the module.
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
            course.push(Stage { failures: vec![failure], ..stage });
        }
        course.apply(number);
    }
    course.end();
}

/// An operation of a batch that can fail: one of those that are due, or one that comes before all of them.
fn failure(course: &mut Course<'_>, number: usize) -> Option<Failure> {
    let changes = course.changes_to(number);
    let key = |it| changes.numbering.key(it).to_string();
    let mut possible = Vec::new();
    let mut add = |operation, key: String, how| possible.push(Failure { operation, key, how });
    for (it, kind, _) in changes.operations() {
        let operation = match kind {
            OperationKind::Create => FailingOperation::Create,
            OperationKind::Update => FailingOperation::Update,
            OperationKind::Delete => FailingOperation::Delete,
        };
        add(operation, key(it), FailureKind::Error);
        // Half of an object beside the old one is more than the model goes on from.
        if kind == OperationKind::Update || changes.of_number(it) == Change::Created {
            add(operation, key(it), FailureKind::Partial);
        }
    }
    let mut quiet = Vec::new();
    quiet.extend(changes.before.numbers().map(|it| (FailingOperation::Read, key(it))));
    quiet.extend(changes.after.numbers().map(|it| (FailingOperation::Plan, key(it))));
    quiet.extend(changes.after.numbers().take(1).map(|it| (FailingOperation::Validate, key(it))));
    quiet.push((FailingOperation::Configure, "-".to_owned()));
    // Most of what can fail is a change: one in six is not.
    if possible.is_empty() || course.draw(6) == 0 {
        let (operation, key) = course.some(&quiet, 1).pop()?;
        return Some(Failure { operation, key, how: FailureKind::Error });
    }
    course.some(&possible, 1).pop()
}
