//! Nothing has drifted, so whether objects are read before anything is planned makes no difference.

use super::{Course, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, ProgramRef, Stage};
use crate::spec::{Action, Options};

/// See the module.
pub const WORKFLOW: Workflow = Workflow {
    name: "no-refresh",
    about: "-refresh=false in every apply and in destroy, where nothing has drifted",
    unchanged: Unchanged::Order,
    stages,
};

fn stages(course: &mut Course<'_>) {
    let options = || Options { refresh: false, ..Options::USUAL };
    course.numbers().for_each(|number| course.apply_with(number, options()));
    course.end_without_destroy();
    let last = ProgramRef::Batch(*course.numbers().end());
    course.push(Stage::new("destroy", Action::Destroy(options()), last, JudgedAs::Destroy));
}
