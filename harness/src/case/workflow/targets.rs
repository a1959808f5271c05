//! A batch in parts: each with all that it depends on, whether that is named or not. In the end the whole is applied.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::JudgedAs;
use crate::spec::{Action, Options};

/// The workflow `targets`.
pub const WORKFLOW: Workflow = Workflow {
    name: "targets",
    about: "a batch in parts by -target, which bring along what they depend on, and then as a whole",
    unchanged: Unchanged::State,
    needs: &[Feature::Target],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let (first, second) = (course.later_batch(), course.later_batch());
    for number in course.numbers() {
        if number == first || number == second {
            for part in 1..=1 + course.draw(2) {
                let program = course.program(number);
                if program.is_empty() {
                    continue;
                }
                let target = course.part(program);
                let action = Action::Apply(Options { target, ..Options::USUAL });
                course.with_batch(format!("batch-{number}-part-{part}"), action, number, JudgedAs::Part);
            }
        }
        course.apply(number);
    }
    course.end();
}
