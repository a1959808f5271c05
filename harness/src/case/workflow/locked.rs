//! Another command holds the lock on the engine's memory: what comes in between is refused, and succeeds afterwards.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Options};

/// The workflow `locked`.
pub const WORKFLOW: Workflow = Workflow {
    name: "locked",
    about: "plans, applies and destroys while another command holds the lock: all are refused, and succeed afterwards",
    unchanged: Unchanged::Order,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = course.later_batch();
    let last = *course.numbers().end();
    for number in course.numbers() {
        // Before the first apply there is nothing that could be locked.
        if number == special && number > 1 {
            let actions = [Action::Apply(Options::USUAL), Action::Plan(Options::USUAL)];
            let action = actions[course.draw(actions.len())].clone();
            meets_lock(course, format!("batch-{number}-locked"), action, number);
        }
        course.apply(number);
    }
    course.end_without_destroy();
    meets_lock(course, "destroy-locked".to_owned(), Action::Destroy(Options::USUAL), last);
    course.destroy(ProgramRef::Batch(last));
}

fn meets_lock(course: &mut Course<'_>, name: String, action: Action, number: usize) {
    let stage = Stage::new(name, action, ProgramRef::Batch(number), JudgedAs::Refused);
    course.push(Stage { locked: true, ..stage });
}
