//! An object changes or vanishes behind the engine's back: a plan tells of that and of the repair, one without a
//! refresh does not, and a refresh takes it into the state.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Drift, Options, PlanMode, SavedOptions};

/// The workflow `drift`.
pub const WORKFLOW: Workflow = Workflow {
    name: "drift",
    about: "an object changes or vanishes between two batches: it is planned, refreshed or repaired",
    unchanged: Unchanged::State,
    needs: &[Feature::Refresh, Feature::NoRefresh, Feature::SavedPlan],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = course.later_batch();
    for number in course.numbers() {
        course.apply(number);
        if number == special {
            drift(course, number);
        }
    }
    course.end();
}

fn drift(course: &mut Course<'_>, number: usize) {
    let keys: Vec<String> = course.deployed.keys().map(|key| key.to_string()).collect();
    let Some(key) = course.some(&keys, 1).pop() else { return };
    let value = || Some("drifted".into());
    let change = [Drift::Gone, Drift::Label(value()), Drift::Pin(value())][course.draw(3)].clone();
    let program = || ProgramRef::Batch(number);
    course.push(Stage::new("drift", Action::Drift { key, change }, program(), JudgedAs::Drift));
    let blind = Action::Plan(Options { refresh: false, ..Options::USUAL });
    course.push(Stage::new("drift-unseen", blind, program(), JudgedAs::Plan));
    course.push(Stage::new("drift-planned", Action::Plan(Options::USUAL), program(), JudgedAs::Plan));
    let only = Action::Plan(Options { mode: PlanMode::Refresh, save: true, ..Options::USUAL });
    course.push(Stage::new("drift-looked-for", only, program(), JudgedAs::Plan));
    let last = *course.numbers().end();
    match course.draw(4) {
        0 => {
            let saved = Action::ApplySaved(SavedOptions::default());
            course.push(Stage::new("drift-refreshed", saved, program(), JudgedAs::Refresh));
            course.push(Stage::apply("drift-repaired", number, last));
        }
        1 => {
            let refresh = Action::Refresh(Options::USUAL);
            course.push(Stage::new("drift-refreshed", refresh, program(), JudgedAs::Refresh));
            course.push(Stage::apply("drift-repaired", number, last));
        }
        2 => course.push(Stage::apply("drift-repaired", number, last)),
        // The next batch repairs it; after the last one there is none.
        _ if number == last => course.push(Stage::apply("drift-repaired", number, last)),
        _ => {}
    }
}
