//! Each batch by one `apply`, as most people do it.

use super::{Course, Unchanged, Workflow};

/// See the module.
pub const WORKFLOW: Workflow = Workflow {
    name: "plain",
    about: "each batch is applied by one command",
    unchanged: Unchanged::Order,
    stages,
};

fn stages(course: &mut Course<'_>) {
    course.numbers().for_each(|number| course.apply(number));
    course.end();
}
