//! Several objects change or vanish behind the engine's back, between two batches and before the destroy: what is gone
//! already needs no delete.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Drift, Options};

/// The workflow `drift-of-several`.
pub const WORKFLOW: Workflow = Workflow {
    name: "drift-of-several",
    about: "several objects change or vanish between two batches and before the destroy",
    unchanged: Unchanged::State,
    needs: &[],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = course.later_batch();
    let last = *course.numbers().end();
    for number in course.numbers() {
        course.apply(number);
        if number == special {
            drift(course, "drift", number, "drifted");
            let plan = Action::Plan(Options::USUAL);
            course.push(Stage::new("drift-planned", plan, ProgramRef::Batch(number), JudgedAs::Plan));
            course.push(Stage::apply("drift-repaired", number, last));
        }
    }
    course.end_without_destroy();
    // A value that a label whose changes are ignored may have kept would be no drift.
    drift(course, "drift-at-end", last, "drifted again");
    course.destroy(ProgramRef::Batch(last));
}

/// Two or three objects change, or vanish.
fn drift(course: &mut Course<'_>, name: &str, number: usize, text: &str) {
    let keys: Vec<String> = course.deployed.keys().map(|key| key.to_string()).collect();
    let mut chosen = course.some(&keys, 2);
    for key in course.some(&keys, 2) {
        if !chosen.contains(&key) {
            chosen.push(key);
        }
    }
    for (place, key) in chosen.into_iter().enumerate() {
        let value = || Some(text.into());
        let change = [Drift::Gone, Drift::Label(value()), Drift::Pin(value())][course.draw(3)].clone();
        let action = Action::Drift { key, change };
        let stage = format!("{name}-{}", place + 1);
        course.push(Stage::new(stage, action, ProgramRef::Batch(number), JudgedAs::Drift));
    }
}
