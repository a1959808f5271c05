//! The provider breaks its contract: the engine notices, says which resource it is about, keeps what was done, and
//! continues with everything that does not depend on it. The next apply ends where it would have ended.

use equiform_proto::faults::{Breach, Fault, FaultAction, FaultOperation};

use super::{Course, Unchanged, Workflow};
use crate::case::stage::ProgramRef;
use crate::spec::changes::{Cause, Change};
use crate::spec::{Action, OperationKind, Options};

/// The workflow `breach`.
pub const WORKFLOW: Workflow = Workflow {
    name: "breach",
    about: "the provider breaks its contract in some batches and in a destroy, which are then done again",
    unchanged: Unchanged::World,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = [course.later_batch(), course.later_batch(), 1];
    let special = &special[course.draw(2)..];
    for number in course.numbers() {
        if special.contains(&number) {
            let possible = in_apply(course, number);
            // Each way to break the contract is as likely as any other, however many operations allow it.
            let mut ways: Vec<Breach> = possible.iter().filter_map(|fault| fault.action.breach()).collect();
            ways.sort_unstable();
            ways.dedup();
            let way = course.some(&ways, 1).pop();
            let of_way: Vec<Fault> =
                possible.into_iter().filter(|fault| fault.action.breach() == way).collect();
            if let Some(fault) = course.some(&of_way, 1).pop() {
                let apply = Action::Apply(Options::USUAL);
                course.with_faults(format!("batch-{number}-breach"), apply, number, vec![fault]);
            }
        }
        course.apply(number);
    }
    course.end_without_destroy();
    let last = *course.numbers().end();
    let deployed: Vec<String> = course.deployed.keys().map(|key| key.to_string()).collect();
    if let Some(key) = course.some(&deployed, 1).pop() {
        let action = FaultAction::Breach(Breach::ObjectRemains);
        let remains = Fault::in_first_call(FaultOperation::Delete, Some(&key), action);
        course.with_faults("destroy-breach".to_owned(), Action::Destroy(Options::USUAL), last, vec![remains]);
    }
    course.destroy(ProgramRef::Batch(last));
}

/// All that can break the contract in the apply of a batch.
fn in_apply(course: &Course<'_>, number: usize) -> Vec<Fault> {
    let changes = course.changes_to(number);
    let mut possible = Vec::new();
    let mut add = |operation, it, breach: Breach| {
        let key = changes.numbering.key(it).to_string();
        possible.push(Fault::in_first_call(operation, Some(&key), FaultAction::Breach(breach)));
    };
    for (it, kind, _) in changes.operations() {
        match kind {
            OperationKind::Create => {
                add(FaultOperation::Create, it, Breach::WrongType);
                add(FaultOperation::Create, it, Breach::MissingResult);
                // A suspect object beside the old one is more than the model goes on from.
                if changes.of_number(it) == Change::Created {
                    add(FaultOperation::Create, it, Breach::InconsistentResult);
                    add(FaultOperation::Create, it, Breach::UnknownResult);
                }
            }
            OperationKind::Update => {
                add(FaultOperation::Update, it, Breach::InconsistentResult);
                add(FaultOperation::Update, it, Breach::UnknownResult);
                add(FaultOperation::Update, it, Breach::MissingResult);
            }
            OperationKind::Delete => add(FaultOperation::Delete, it, Breach::ObjectRemains),
        }
    }
    changes.before.numbers().for_each(|it| add(FaultOperation::Read, it, Breach::WrongType));
    for it in changes.after.numbers() {
        add(FaultOperation::Plan, it, Breach::InvalidPlan);
        add(FaultOperation::Plan, it, Breach::WrongType);
        // What is created has nothing to replace.
        let exists = match changes.of_number(it) {
            Change::Kept | Change::Updated => true,
            Change::Replaced => changes.cause(it) == Some(Cause::Pin),
            Change::Created | Change::Deleted => false,
        };
        if exists {
            add(FaultOperation::Plan, it, Breach::InvalidReplacement);
        }
    }
    possible
}
