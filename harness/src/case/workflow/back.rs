//! Goes forward, back and forward again.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::Stage;

/// The workflow `back`.
pub const WORKFLOW: Workflow = Workflow {
    name: "back",
    about: "after a batch, applies the one before it again, then this one once more",
    unchanged: Unchanged::State,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = course.later_batch();
    let last = *course.numbers().end();
    for number in course.numbers() {
        course.apply(number);
        if number == special && number > 1 {
            course.push(Stage::apply("back", number - 1, last));
            course.push(Stage::apply("forth", number, last));
        }
    }
    course.end();
}
