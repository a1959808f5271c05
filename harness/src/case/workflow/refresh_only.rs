//! Where nothing has drifted, a refresh changes nothing, not even the state.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::JudgedAs;
use crate::spec::{Action, Options};

/// The workflow `refresh-only`.
pub const WORKFLOW: Workflow = Workflow {
    name: "refresh-only",
    about: "an apply with -refresh-only after each batch, where nothing has drifted",
    unchanged: Unchanged::Order,
    needs: &[Feature::Refresh],
    stages,
};

fn stages(course: &mut Course<'_>) {
    for number in course.numbers() {
        course.apply(number);
        let action = Action::Refresh(Options::USUAL);
        course.with_batch(format!("refresh-{number}"), action, number, JudgedAs::Refresh);
    }
    course.end();
}
