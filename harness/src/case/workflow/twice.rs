//! Applies each batch twice: the second time there is nothing to do.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::JudgedAs;
use crate::spec::{Action, Options};

/// The workflow `twice`.
pub const WORKFLOW: Workflow = Workflow {
    name: "twice",
    about: "applies each batch twice",
    unchanged: Unchanged::Order,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    for number in course.numbers() {
        course.apply(number);
        let action = Action::Apply(Options::USUAL);
        course.with_batch(format!("batch-{number}-again"), action, number, JudgedAs::Idle);
    }
    course.end();
}
