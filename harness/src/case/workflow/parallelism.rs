//! Varies `-parallelism`, which changes when operations happen, and nothing else.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Options};

/// What is asked for, one after the other.
const MOST_AT_ONCE: [u32; 4] = [1, 2, 10, 50];

/// The workflow `parallelism`.
pub const WORKFLOW: Workflow = Workflow {
    name: "parallelism",
    about: "uses -parallelism of 1, 2, 10 and 50, a different one in each batch and in destroy",
    unchanged: Unchanged::Order,
    needs: &[Feature::Parallelism],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let first = course.draw(MOST_AT_ONCE.len());
    let options = |number: usize| {
        let parallelism = Some(MOST_AT_ONCE[(first + number) % MOST_AT_ONCE.len()]);
        Options { parallelism, ..Options::USUAL }
    };
    course.numbers().for_each(|number| course.apply_with(number, options(number)));
    course.end_without_destroy();
    let last = *course.numbers().end();
    let destroy = Action::Destroy(options(last + 1));
    course.push(Stage::new("destroy", destroy, ProgramRef::Batch(last), JudgedAs::Destroy));
}
