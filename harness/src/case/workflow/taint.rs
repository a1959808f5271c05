//! Resources that are marked to be replaced, some of which are unmarked again.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::JudgedAs;
use crate::spec::Action;

/// The workflow `taint`.
pub const WORKFLOW: Workflow = Workflow {
    name: "taint",
    about: "taint of one or several resources between two batches, and untaint of some of them",
    unchanged: Unchanged::State,
    needs: &[Feature::Mark],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = course.later_batch();
    for number in course.numbers() {
        if number == special && number > 1 {
            let deployed: Vec<_> = course.deployed.keys().cloned().collect();
            let tainted = course.some(&deployed, 3);
            for (place, key) in (1..).zip(&tainted) {
                let action = Action::Mark(key.clone());
                course.with_batch(format!("taint-{place}"), action, number - 1, JudgedAs::Mark);
            }
            // The first one stays marked: otherwise nothing would come of it.
            for (place, key) in (1..).zip(tainted.iter().skip(1)) {
                if course.draw(2) == 0 {
                    let action = Action::Unmark(key.clone());
                    course.with_batch(format!("untaint-{place}"), action, number - 1, JudgedAs::Mark);
                }
            }
        }
        course.apply(number);
    }
    course.end();
}
