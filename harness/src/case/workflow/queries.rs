//! The engine is asked about what is deployed, and about a saved plan, between its other commands.

use super::{Course, Feature, Unchanged, Workflow};
use crate::case::stage::{JudgedAs, Stage};
use crate::spec::{Action, Options, Query, SavedOptions};

/// The workflow `queries`.
pub const WORKFLOW: Workflow = Workflow {
    name: "queries",
    about: "asks for state, outputs, addresses, validity, graph, providers and a saved plan between applies",
    unchanged: Unchanged::Order,
    needs: &[Feature::SavedPlan],
    stages,
};

fn stages(course: &mut Course<'_>) {
    let special = course.later_batch();
    let last = *course.numbers().end();
    for number in course.numbers() {
        if number == special {
            let plan = Action::Plan(Options { save: true, ..Options::USUAL });
            course.with_batch(format!("batch-{number}-plan"), plan, number, JudgedAs::Plan);
            ask(course, &format!("batch-{number}-plan-shown"), Query::Plan, number);
            ask(course, &format!("batch-{number}-plan-read"), Query::PlanText, number);
            let apply = Stage::apply(&format!("batch-{number}"), number, last);
            course.push(Stage { action: Action::ApplySaved(SavedOptions::default()), ..apply });
            let query = course.some(&[Query::State, Query::Graph], 1);
            query.into_iter().for_each(|query| ask(course, &format!("batch-{number}-asked"), query, number));
        } else {
            course.apply(number);
        }
    }
    for query in [
        Query::State,
        Query::StateText,
        Query::StateCopy,
        Query::Outputs,
        Query::Addresses,
        Query::Validity,
        Query::Graph,
        Query::Providers,
    ] {
        ask(course, &format!("asked-for-{}", query.name()), query, last);
    }
    course.end();
}

fn ask(course: &mut Course<'_>, name: &str, query: Query, number: usize) {
    course.with_batch(name.to_owned(), Action::Query(query), number, JudgedAs::Query);
}
