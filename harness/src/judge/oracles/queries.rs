//! Commands that ask and change nothing are answered by what is deployed: objects, outputs, addresses, the changes of a
//! saved plan, and the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::{ModelView, Trial};
use crate::evidence::{Answer, PlannedObject, ShownObject, StateFile, Stored, StoredOutput};
use crate::judge::finding::detail::Counts;
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::{Node, NodeKey, OperationKind};

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
        Answer::Plan(objects) => {
            let shown = objects.iter().flat_map(|object| {
                object.operations.iter().map(|operation| (object.address.clone(), *operation))
            });
            let mut findings: Vec<Finding> = planned(trial, &shown.collect()).into_iter().collect();
            findings.extend(trial.model.iter().flat_map(|model| values(trial, model, stored, objects)));
            findings
        }
        Answer::PlanText { operations, counts } => {
            planned(trial, operations).into_iter().chain(counted(trial, *counts)).collect()
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

/// A saved plan has the changes that are expected.
fn planned(trial: &Trial<'_>, shown: &BTreeSet<(String, OperationKind)>) -> Option<Finding> {
    let plan = trial.model.as_ref()?.plan;
    if !plan.optional.is_empty() {
        return None;
    }
    let due = plan.operations.iter().map(|it| (trial.address(&it.key).unwrap_or_default(), it.kind));
    let due: BTreeSet<(String, OperationKind)> = due.collect();
    let differ: Vec<Subject> = shown
        .symmetric_difference(&due)
        .map(|(address, operation)| Subject::OperationAt { address: address.clone(), operation: *operation })
        .collect();
    (!differ.is_empty()).then(|| trial.finding(FindingKind::AnsweredPlanDiffers).about(differ))
}

/// A plan for people counts the changes that are expected.
fn counted(trial: &Trial<'_>, [created, updated, deleted]: [usize; 3]) -> Option<Finding> {
    let plan = trial.model.as_ref()?.plan;
    let count = |kind| plan.operations.iter().filter(|operation| operation.kind == kind).count();
    let summarised = Counts { created, updated, deleted };
    let observed = Counts {
        created: count(OperationKind::Create),
        updated: count(OperationKind::Update),
        deleted: count(OperationKind::Delete),
    };
    let command = trial.evidence.record.command.clone();
    let detail = Detail::Counts { command, summarised, observed, done: false };
    (plan.optional.is_empty() && summarised != observed)
        .then(|| trial.finding(FindingKind::AnsweredPlanDiffers).with(detail))
}

/// A saved plan shows objects as they are, and as the program wants them. What the provider makes up is not known
/// before.
fn values(
    trial: &Trial<'_>,
    model: &ModelView<'_>,
    stored: &[Stored],
    objects: &[PlannedObject],
) -> Vec<Finding> {
    // What has drifted is read for a plan, and not stored by it.
    if model.deployed.has_drifted() {
        return Vec::new();
    }
    let address = |key: &NodeKey| model.program.encoding.address(key).to_string();
    let nodes = model.program.meaning.nodes.iter();
    let written: BTreeMap<String, &Node> = nodes.map(|(key, node)| (address(key), node)).collect();
    let mut findings = Vec::new();
    for object in objects {
        let mut differs = |name: &str| {
            let subjects = [Subject::address(&object.address), Subject::attribute(name)];
            findings.push(trial.finding(FindingKind::AnsweredPlanValueDiffers).about(subjects));
        };
        let stored = stored.iter().find(|it| it.deposed.is_none() && it.address == object.address);
        if object.before != stored.map(|stored| stored.content.attributes.unpack()) {
            differs("before");
        }
        if object.has_secrets {
            differs("sensitive");
        }
        let (Some(node), Some(after)) = (written.get(&object.address), &object.after) else {
            if written.contains_key(&object.address) != object.after.is_some() {
                differs("after");
            }
            continue;
        };
        let text = |text: &Option<Arc<str>>| text.as_deref().map_or(Json::Null, Json::from);
        let ignored = node.ignore_changes && object.before.is_some();
        let wanted = [("label", text(&node.label), ignored), ("pin", text(&node.pin), false)];
        for (name, value, is_ignored) in wanted {
            if !is_ignored && after.get(name) != Some(&value) {
                differs(name);
            }
        }
        let creates = object.operations.contains(&OperationKind::Create);
        for (name, is_unknown) in [("id", creates), ("revision", !object.operations.is_empty())] {
            if object.unknown.contains(name) != is_unknown || after.contains_key(name) == is_unknown {
                differs(name);
            }
        }
    }
    findings
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
