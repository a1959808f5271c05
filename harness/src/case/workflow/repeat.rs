//! Takes a step again from the same start, with different delays and parallelism: it must do the same.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::Stage;
use crate::spec::{Action, Options};

/// How many operations may be under way in each repetition.
const MOST_AT_ONCE: [Option<u32>; 3] = [None, Some(2), Some(50)];

/// The workflow `repeat`.
pub const WORKFLOW: Workflow = Workflow {
    name: "repeat",
    about: "applies two batches several times from the same start, with different delays",
    unchanged: Unchanged::Order,
    needs: &[Feature::Parallelism],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let (first, second) = (course.later_batch(), course.later_batch());
    for number in course.numbers() {
        course.apply(number);
        if number != first && number != second {
            continue;
        }
        let repeated = course.stages.last().expect("it was just added").clone();
        for (place, parallelism) in (1..).zip(MOST_AT_ONCE) {
            course.push(Stage {
                name: format!("batch-{number}-repeat-{place}"),
                action: Action::Apply(Options { parallelism, ..Options::USUAL }),
                repeats: Some(repeated.name.clone()),
                ..repeated.clone()
            });
        }
    }
    course.end();
}
