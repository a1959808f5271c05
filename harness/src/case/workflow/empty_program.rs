//! Destroys everything by applying a program without resources.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Options};

/// The workflow `empty-program`.
pub const WORKFLOW: Workflow = Workflow {
    name: "empty-program",
    about: "destroys everything by applying a program without resources",
    unchanged: Unchanged::Order,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    course.numbers().for_each(|number| course.apply(number));
    course.end_without_destroy();
    let action = Action::Apply(Options::USUAL);
    course.push(Stage::new("destroy", action, ProgramRef::Empty, JudgedAs::Destroy));
}
