//! Plans to a file, then applies that file, as most CI does. A plan that was already applied is stale.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::changes::{Cause, Change};
use crate::spec::{Action, Options, PlanMode, SavedOptions};

/// The workflow `saved-plan`.
pub const WORKFLOW: Workflow = Workflow {
    name: "saved-plan",
    about: "plans each batch and the destroy to a file, then applies the file; a stale file must be refused",
    unchanged: Unchanged::Order,
    needs: &[Feature::SavedPlan],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let stale = course.later_batch();
    let last = *course.numbers().end();
    for number in course.numbers() {
        let step = course.changes_to(number);
        // A trigger is not the same for all engines; these are.
        let is_sure = |it| {
            let comes_or_goes = matches!(step.of_number(it), Change::Created | Change::Deleted);
            comes_or_goes || step.cause(it) == Some(Cause::Pin)
        };
        let changes = step.numbers().any(is_sure);
        plan(course, &format!("batch-{number}"), number, Options::USUAL);
        let apply = Stage::apply(&format!("batch-{number}"), number, last);
        course.push(Stage { action: Action::ApplySaved(SavedOptions::default()), ..apply });
        if number == stale && changes {
            let action = Action::ApplySaved(SavedOptions::default());
            course.with_batch(format!("batch-{number}-stale"), action, number, JudgedAs::Refused);
        }
    }
    course.end_without_destroy();
    plan(course, "destroy", last, Options { mode: PlanMode::Destroy, ..Options::USUAL });
    let destroy = Action::ApplySaved(SavedOptions::default());
    course.push(Stage::new("destroy", destroy, ProgramRef::Batch(last), JudgedAs::Destroy));
}

/// Plans a batch to a file.
fn plan(course: &mut Course<'_>, name: &str, number: usize, options: Options) {
    let action = Action::Plan(Options { save: true, ..options });
    course.with_batch(format!("{name}-plan"), action, number, JudgedAs::Plan);
}
