//! Programs that an engine has to refuse come in between: nothing is done, and what follows is as if they had not been.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{Defect, JudgedAs, ProgramRef, Stage};
use crate::spec::changes::Cause;
use crate::spec::{Action, NodeKey, Options};

/// The workflow `refused`.
pub const WORKFLOW: Workflow = Workflow {
    name: "refused",
    about: "programs with a cycle, a dangling reference, prevent_destroy or a mistake come in between: all are refused",
    unchanged: Unchanged::Order,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    for number in course.numbers() {
        for (defect, letter) in defects(course, number).into_iter().zip('a'..) {
            let program = ProgramRef::Broken { batch: number, defect };
            let action = Action::Apply(Options::USUAL);
            course.push(Stage::new(format!("refused-{number}{letter}"), action, program, JudgedAs::Refused));
        }
        course.apply(number);
    }
    course.end_without_destroy();
    let last = *course.numbers().end();
    let deployed = course.staying(last);
    if let [resource, ..] = course.some(&deployed, 1).as_slice() {
        let defect = Defect::PreventDestroy { resource: resource.clone() };
        let program = ProgramRef::Broken { batch: last, defect };
        let action = Action::Destroy(Options::USUAL);
        course.push(Stage::new("destroy-refused", action, program, JudgedAs::Refused));
    }
    let destroy = Action::Destroy(Options::USUAL);
    course.push(Stage::new("destroy", destroy, ProgramRef::Batch(last), JudgedAs::Destroy));
}

/// Defects that a batch can have: something that it replaces is protected, a cycle, a mistake in the text.
fn defects(course: &mut Course<'_>, number: usize) -> Vec<Defect> {
    let program = course.program(number);
    let changes = course.changes_to(number);
    // Another pin is a replacement whatever came before; a trigger is not the same for all engines.
    let replaced = changes.numbers().filter(|it| changes.cause(*it) == Some(Cause::Pin));
    let replaced: Vec<NodeKey> = replaced.map(|it| changes.numbering.key(it).clone()).collect();
    let edges: Vec<(NodeKey, NodeKey)> = program
        .meaning
        .nodes
        .iter()
        .flat_map(|(dependent, node)| {
            node.dependencies.keys().map(|dependency| (dependency.clone(), dependent.clone()))
        })
        .collect();
    let all: Vec<NodeKey> = program.meaning.nodes.keys().cloned().collect();
    let protected = course.some(&replaced, 1).pop().map(|resource| Defect::PreventDestroy { resource });
    let cycle = course.some(&edges, 1).pop();
    let cycle = cycle.map(|(resource, dependent)| Defect::Cycle { resource, dependent });
    let mistake = course.some(&all, 1).pop().map(|resource| match course.draw(7) {
        0 => Defect::SelfReference { resource },
        1 => Defect::UnknownArgument { resource },
        2 => Defect::MissingArgument { resource },
        3 => Defect::WrongType { resource },
        4 => Defect::Twice { resource },
        5 => Defect::EmptyKey { resource },
        _ => Defect::Dangling { resource },
    });
    [protected, cycle, mistake].into_iter().flatten().collect()
}
