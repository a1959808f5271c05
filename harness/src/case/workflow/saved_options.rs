//! A saved plan remembers what it was asked for: replacements, targets, that nothing was to be read.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, Stage};
use crate::spec::{Action, Options, SavedOptions};

/// The workflow `saved-options`.
pub const WORKFLOW: Workflow = Workflow {
    name: "saved-options",
    about: "plans to a file with -replace, -target or -refresh=false, which the apply of the file has to keep to",
    unchanged: Unchanged::State,
    needs: &[Feature::SavedPlan, Feature::NoRefresh, Feature::Parallelism, Feature::Target, Feature::Replace],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let last = *course.numbers().end();
    for number in course.numbers() {
        let (program, staying) = (course.program(number), course.staying(number));
        let options = match course.draw(3) {
            0 => Options { replace: course.some(&staying, 2).into_iter().collect(), ..Options::USUAL },
            1 if !program.is_empty() => Options { target: course.part(program), ..Options::USUAL },
            _ => Options { refresh: false, parallelism: Some(4), ..Options::USUAL },
        };
        let in_parts = !options.target.is_empty();
        let plan = Action::Plan(Options { save: true, ..options });
        course.with_batch(format!("batch-{number}-plan"), plan, number, JudgedAs::Plan);
        let apply = Action::ApplySaved(SavedOptions::default());
        if in_parts {
            course.with_batch(format!("batch-{number}-part"), apply, number, JudgedAs::Part);
            course.apply(number);
        } else {
            let stage = Stage::apply(&format!("batch-{number}"), number, last);
            course.push(Stage { action: apply, ..stage });
        }
    }
    course.end();
}
