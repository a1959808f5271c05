//! A saved plan has the changes that are expected, for the reasons that there are, and shows the program and the state
//! that it was made from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value as Json;

use super::{ModelView, Trial, at};
use crate::evidence::{PlannedObject, PlannedReason, ShownPlan, Stored, WrittenResource};
use crate::judge::finding::detail::Counts;
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::plan::possible_reasons;
use crate::spec::{EdgeKind, Node, NodeKey, OperationKind};

/// Compares a plan with the state, the model, the program, and itself.
pub fn judge(trial: &Trial<'_>, stored: &[Stored], shown: &ShownPlan) -> Vec<Finding> {
    let changes = shown
        .objects
        .iter()
        .flat_map(|object| object.operations.iter().map(|operation| (object.address.clone(), *operation)));
    let mut findings: Vec<Finding> = operations(trial, &changes.collect()).into_iter().collect();
    findings.extend(shown.contradictions.iter().map(|it| {
        let subjects = it.address.iter().map(|address| Subject::address(address));
        let subjects: Vec<Subject> = subjects.chain([Subject::attribute(&it.field)]).collect();
        trial.finding(FindingKind::AnsweredPlanContradictory).about(subjects)
    }));
    let other_version = shown.written_by.as_deref().zip(trial.version).filter(|(written_by, version)| {
        let version = format!("{}.{}.{}", version.0, version.1, version.2);
        written_by.split(['-', '+']).next() != Some(version.as_str())
    });
    let contradicts = |field: &str| {
        trial.finding(FindingKind::AnsweredPlanContradictory).about([Subject::attribute(field)])
    };
    findings.extend(other_version.map(|_| contradicts("terraform_version")));
    if !shown.is_complete && trial.options.target.is_empty() {
        findings.push(contradicts("complete"));
    }
    let Some(model) = &trial.model else { return findings };
    findings.extend(values(trial, model, stored, &shown.objects));
    findings.extend(program(trial, model, &shown.written));
    if !model.deployed.has_drifted() {
        let drifted = shown.drifted.iter();
        findings.extend(drifted.map(|it| at(trial, FindingKind::AnsweredPlanDiffers, it)));
    }
    findings
}

/// The program in a plan is the one that was planned: resources, what they refer to, and constants.
fn program(
    trial: &Trial<'_>,
    model: &ModelView<'_>,
    shown: &BTreeMap<String, WrittenResource>,
) -> Vec<Finding> {
    let address = |key: &NodeKey| model.written.encoding.address(key).to_string();
    let nodes = &model.written.meaning.nodes;
    let written: BTreeMap<String, &Node> = nodes.iter().map(|(key, node)| (address(key), node)).collect();
    let addresses: BTreeSet<&String> = written.keys().chain(shown.keys()).collect();
    let is_shown = |place: &&String| {
        let (Some(node), Some(shown)) = (written.get(*place), shown.get(*place)) else { return false };
        let all = |kinds: &[EdgeKind]| -> BTreeSet<String> {
            kinds.iter().flat_map(|kind| node.by(*kind)).map(address).collect()
        };
        let text = |text: &Option<Arc<str>>| text.as_deref().map(Json::from);
        shown.references == all(&[EdgeKind::Refs, EdgeKind::PinnedRefs])
            && shown.depends_on == all(&[EdgeKind::DependsOn])
            && shown.constants.get("label") == text(&node.label).as_ref()
            && shown.constants.get("pin") == text(&node.pin).as_ref()
    };
    let differ = addresses.into_iter().filter(|place| !is_shown(place));
    differ.map(|place| at(trial, FindingKind::AnsweredProgramDiffers, place)).collect()
}

/// Whether a change is planned for a reason that there is.
fn has_reason(trial: &Trial<'_>, model: &ModelView<'_>, key: &NodeKey, object: &PlannedObject) -> bool {
    let operations: Vec<OperationKind> = object.operations.iter().copied().collect();
    let possible = possible_reasons(trial, model, key, &operations);
    possible.is_empty() || possible.contains(&object.reason)
}

/// A saved plan has the changes that are expected.
pub fn operations(trial: &Trial<'_>, shown: &BTreeSet<(String, OperationKind)>) -> Option<Finding> {
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
pub fn counts(trial: &Trial<'_>, [created, updated, deleted]: [usize; 3]) -> Option<Finding> {
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
    let remembered = model.deployed.memory.nodes.keys();
    let keys = model.program.meaning.nodes.keys().chain(remembered);
    let keys: BTreeMap<String, &NodeKey> = keys.filter_map(|key| Some((trial.address(key)?, key))).collect();
    let mut findings = Vec::new();
    for object in objects.iter().filter(|object| !object.is_old) {
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
        if keys.get(&object.address).is_some_and(|key| !has_reason(trial, model, key, object)) {
            differs("reason");
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
        let has_changed = |name: &&str| {
            let before = object.before.as_ref().and_then(|before| before.get(*name));
            object.unknown.contains(*name) || before != after.get(*name)
        };
        // A marked object is planned as if it were not there.
        let compares = creates && object.before.is_some() && object.reason != PlannedReason::Marked;
        let fixed = ["pin", "pinned_refs"].into_iter().filter(|name| compares && has_changed(name));
        if object.replaced_for != fixed.map(str::to_owned).collect() {
            differs("replace_paths");
        }
    }
    findings
}
