//! Applies each batch with one command, as most people do.

use super::{Course, Unchanged, Workflow};

/// The workflow `plain`.
pub const WORKFLOW: Workflow = Workflow {
    name: "plain",
    about: "applies each batch with one command",
    unchanged: Unchanged::Order,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    course.numbers().for_each(|number| course.apply(number));
    course.end();
}
