//! Plan to a file, then apply that file, as most CI does it. A plan that was applied already is stale.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, Stage};
use crate::spec::{Action, Options};

/// See the module.
pub const WORKFLOW: Workflow = Workflow {
    name: "saved-plan",
    about: "each batch is planned to a file, and the file applied; a stale file is refused",
    unchanged: Unchanged::Order,
    stages,
};

fn stages(course: &mut Course<'_>) {
    let stale = course.later_batch();
    for number in course.numbers() {
        let changes = course.changes_to(number).operations().next().is_some();
        let save = Options { save: true, ..Options::USUAL };
        course.with_batch(format!("batch-{number}-plan"), Action::Plan(save), number, JudgedAs::Plan);
        let apply = Stage::apply(&format!("batch-{number}"), number, *course.numbers().end());
        course.push(Stage { action: Action::ApplySaved(Options::USUAL), ..apply });
        if number == stale && changes {
            let action = Action::ApplySaved(Options::USUAL);
            course.with_batch(format!("batch-{number}-stale"), action, number, JudgedAs::Refused);
        }
    }
    course.end();
}
