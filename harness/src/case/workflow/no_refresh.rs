//! Applies with `-refresh=false`. Nothing has drifted, so it makes no difference whether objects are read first.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Options};

/// The workflow `no-refresh`.
pub const WORKFLOW: Workflow = Workflow {
    name: "no-refresh",
    about: "uses -refresh=false in every apply and in destroy, when nothing has drifted",
    unchanged: Unchanged::Order,
    needs: &[Feature::NoRefresh],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let options = || Options { refresh: false, ..Options::USUAL };
    course.numbers().for_each(|number| course.apply_with(number, options()));
    course.end_without_destroy();
    let last = ProgramRef::Batch(*course.numbers().end());
    course.push(Stage::new("destroy", Action::Destroy(options()), last, JudgedAs::Destroy));
}
