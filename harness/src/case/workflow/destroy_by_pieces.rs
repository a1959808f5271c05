//! Everything is deleted piece by piece, each with all that depends on it.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Options};

/// How many pieces there are before the rest is destroyed.
const PIECES: usize = 3;

/// The workflow `destroy-by-pieces`.
pub const WORKFLOW: Workflow = Workflow {
    name: "destroy-by-pieces",
    about: "destroy with -target, one resource after the other with what depends on it, and then the rest",
    unchanged: Unchanged::Operations,
    needs: &[Feature::Target],
    stages,
};

fn stages(course: &mut Course<'_>) {
    course.numbers().for_each(|number| course.apply(number));
    course.end_without_destroy();
    let last = *course.numbers().end();
    for piece in 1..=PIECES {
        let left: Vec<_> = course.deployed.keys().cloned().collect();
        let target = course.some(&left, 1);
        if target.is_empty() {
            break;
        }
        let options = Options { target: target.into_iter().collect(), ..Options::USUAL };
        course.with_batch(format!("destroy-{piece}"), Action::Destroy(options), last, JudgedAs::Part);
    }
    let destroy = Action::Destroy(Options::USUAL);
    course.push(Stage::new("destroy", destroy, ProgramRef::Batch(last), JudgedAs::Destroy));
}
