//! Uses `-replace` on one or several resources; the model says what follows from it.

use super::{Course, Feature, Unchanged, Workflow};
use crate::spec::Options;

/// The workflow `replace`.
pub const WORKFLOW: Workflow = Workflow {
    name: "replace",
    about: "uses -replace on one or several resources in every batch but the first",
    unchanged: Unchanged::State,
    needs: &[Feature::Replace],
    stages,
};

fn stages(course: &mut Course<'_>) {
    for number in course.numbers() {
        let staying = course.staying(number);
        let replace = course.some(&staying, 2).into_iter().collect();
        course.apply_with(number, Options { replace, ..Options::USUAL });
    }
    course.end();
}
