//! Commands that ask and change nothing are answered by what is deployed: objects, outputs, addresses, the changes of a
//! saved plan, and the graph.

mod plan;

use std::collections::{BTreeMap, BTreeSet};

use super::{ModelView, Trial};
use crate::evidence::{Answer, ShownObject, StateFile, Stored, StoredOutput};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::NodeKey;

/// What it looks at.
pub const ABOUT: &str =
    "what the engine says about state, outputs, saved plans and the graph is what there is";

/// Compares the answer to a query with the state, the plan and the program.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(answer) = &trial.evidence.answer else { return Vec::new() };
    let state = trial.evidence.state.state();
    let stored: &[Stored] = state.map_or(&[], |state| &state.objects);
    let no_outputs = BTreeMap::new();
    let kept = state.map_or(&no_outputs, |state| &state.outputs);
    match answer {
        Answer::State { written_by, objects, outputs } => {
            let listed = objects.keys().map(String::as_str);
            let mut findings = addresses(trial, stored, listed);
            let differs = |(address, shown): (&String, &ShownObject)| {
                let stored = stored.iter().find(|it| it.deposed.is_none() && it.address == *address)?;
                let dependencies: BTreeSet<String> = stored.dependencies.iter().map(str::to_owned).collect();
                let is_same = stored.content == shown.content
                    && dependencies == shown.dependencies
                    && stored.tainted == shown.tainted
                    && shown.is_regular;
                let finding = || trial.finding(FindingKind::AnsweredObjectDiffers);
                (!is_same).then(|| finding().about([Subject::address(address)]))
            };
            findings.extend(objects.iter().filter_map(differs));
            if state.is_some_and(|state| written_by.is_some() && state.written_by != *written_by) {
                findings.push(trial.finding(FindingKind::StateCopyDiffers));
            }
            findings.extend(other_outputs(trial, kept, outputs));
            findings
        }
        Answer::Addresses(listed) => {
            let mut findings = addresses(trial, stored, listed.iter().map(String::as_str));
            let twice = listed.iter().enumerate().filter(|(place, it)| listed[..*place].contains(it));
            findings.extend(twice.map(|(_, address)| at(trial, FindingKind::AnswerHasExtraObject, address)));
            findings
        }
        Answer::Outputs(outputs) => other_outputs(trial, kept, outputs),
        Answer::Validity(true) => Vec::new(),
        Answer::Validity(false) => vec![trial.finding(FindingKind::ValidCalledInvalid)],
        Answer::Plan(shown) => plan::judge(trial, stored, shown),
        Answer::PlanText { operations, counts } => {
            plan::operations(trial, operations).into_iter().chain(plan::counts(trial, *counts)).collect()
        }
        Answer::StateCopy(copy) => {
            let is_same = match (copy, state) {
                (StateFile::Read(copy), Some(state)) => copy == state,
                // An engine without a state has an empty one to show, or none.
                (_, None) => !matches!(copy, StateFile::Read(copy) if !copy.objects.is_empty()),
                _ => false,
            };
            (!is_same).then(|| trial.finding(FindingKind::StateCopyDiffers)).into_iter().collect()
        }
        Answer::Providers { expected, by_program, by_state } => {
            let expected = BTreeSet::from([(*expected).to_owned()]);
            let is_needed = !stored.is_empty();
            let is_right = *by_program == expected && (!is_needed || *by_state == expected);
            (!is_right).then(|| trial.finding(FindingKind::AnsweredProvidersDiffer)).into_iter().collect()
        }
        Answer::Graph { nodes, edges } => match &trial.model {
            Some(model) => graph(trial, model, nodes, edges),
            None => Vec::new(),
        },
        Answer::Unreadable(why) => {
            let detail = Detail::Quote { words: why.clone() };
            vec![trial.finding(FindingKind::AnswerUnreadable).with(detail)]
        }
    }
}

fn at(trial: &Trial<'_>, kind: FindingKind, address: &str) -> Finding {
    trial.finding(kind).about([Subject::address(address)])
}

/// What is listed is what is stored. An object whose successor exists is not listed by itself.
fn addresses<'a>(
    trial: &Trial<'_>,
    stored: &[Stored],
    listed: impl Iterator<Item = &'a str>,
) -> Vec<Finding> {
    let listed: BTreeSet<&str> = listed.collect();
    let current = stored.iter().filter(|it| it.deposed.is_none());
    let stored: BTreeSet<&str> = current.map(|it| it.address.as_str()).collect();
    let missing = stored.difference(&listed).map(|it| at(trial, FindingKind::AnswerLacksObject, it));
    let extra = listed.difference(&stored).map(|it| at(trial, FindingKind::AnswerHasExtraObject, it));
    missing.chain(extra).collect()
}

fn other_outputs(
    trial: &Trial<'_>,
    stored: &BTreeMap<String, StoredOutput>,
    shown: &BTreeMap<String, StoredOutput>,
) -> Vec<Finding> {
    let names: BTreeSet<&String> = stored.keys().chain(shown.keys()).collect();
    let differ = names.into_iter().filter(|name| stored.get(*name) != shown.get(*name));
    let finding =
        |name: &String| trial.finding(FindingKind::AnsweredOutputDiffers).about([Subject::output(name)]);
    differ.map(finding).collect()
}

/// The graph has the resources of the program, and orders those that the program orders. After a failure it also has
/// what is only in the state.
fn graph(
    trial: &Trial<'_>,
    model: &ModelView<'_>,
    nodes: &BTreeSet<String>,
    edges: &BTreeSet<(String, String)>,
) -> Vec<Finding> {
    let address = |key: &NodeKey| model.program.encoding.address(key).to_string();
    let written = &model.program.meaning.nodes;
    let expected: BTreeSet<String> = written.keys().map(address).collect();
    let missing = expected.difference(nodes).map(|it| at(trial, FindingKind::AnswerLacksObject, it));
    let mut findings: Vec<Finding> = missing.collect();
    let is_deployed = model.plan.operations.is_empty();
    let extra = nodes.difference(&expected).filter(|_| is_deployed);
    findings.extend(extra.map(|it| at(trial, FindingKind::AnswerHasExtraObject, it)));
    let due = written.iter().flat_map(|(dependent, node)| {
        node.dependencies.keys().map(move |dependency| (address(dependent), address(dependency)))
    });
    let (due, drawn) = (closure(&due.collect()), closure(edges));
    let pair = |kind, (dependent, dependency): &(String, String)| {
        trial.finding(kind).about([Subject::address(dependent), Subject::address(dependency)])
    };
    findings.extend(due.difference(&drawn).map(|it| pair(FindingKind::AnswerLacksDependency, it)));
    let extra = drawn.difference(&due).filter(|_| is_deployed);
    findings.extend(extra.map(|it| pair(FindingKind::AnswerHasExtraDependency, it)));
    findings
}

/// All pairs that follow from pairs.
fn closure(pairs: &BTreeSet<(String, String)>) -> BTreeSet<(String, String)> {
    let mut next: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (first, second) in pairs {
        next.entry(first).or_default().push(second);
    }
    let mut all = BTreeSet::new();
    for first in next.keys() {
        let mut open = vec![*first];
        while let Some(place) = open.pop() {
            for second in next.get(place).into_iter().flatten() {
                if all.insert(((*first).to_owned(), (*second).to_owned())) {
                    open.push(second);
                }
            }
        }
    }
    all
}
