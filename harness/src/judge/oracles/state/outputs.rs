//! The outputs in a state tell of the objects as they are, or as they were where a command did not come to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use super::fields::field;
use super::{Trial, writes};
use crate::evidence::{State, StatePlace, Stored, StoredOutput};
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::judge::oracles::ModelView;
use crate::spec::{Action, PlanMode};

/// Compares values with the world and with the state before, and types with values.
pub fn judge(trial: &Trial<'_>, model: &ModelView<'_>) -> Vec<Finding> {
    let Some(state) = trial.evidence.state.state().filter(|_| trial.evidence.record.ended_in_order()) else {
        return Vec::new();
    };
    let mut findings: Vec<Finding> = state.outputs.iter().filter_map(|it| typed(trial, it)).collect();
    if writes(trial) {
        findings.extend(values(trial, model, state));
    }
    findings
}

/// The type that an output is stored with is that of its value, which is no secret.
fn typed(trial: &Trial<'_>, (name, output): (&String, &StoredOutput)) -> Option<Finding> {
    let place = || StatePlace::Output(name.clone());
    if output.secret {
        return Some(field(trial, &place(), "sensitive", "true", "false"));
    }
    let of_both = |name: &str| json!(["object", { "id": name, "label": name }]);
    let expected = of_both("string");
    // What is not there may have values of no type.
    let is_right = output.value_type == expected
        || (output.value["id"].is_null() && output.value_type == of_both("dynamic"));
    (!is_right).then(|| field(trial, &place(), "type", &output.value_type.to_string(), &expected.to_string()))
}

fn values(trial: &Trial<'_>, model: &ModelView<'_>, state: &State) -> Option<Finding> {
    let is_whole = matches!(trial.stage.action, Action::Apply(_) | Action::ApplySaved(_))
        && trial.options.mode == PlanMode::Program
        && trial.options.target.is_empty()
        && trial.evidence.succeeded;
    let encoding = &model.written.encoding;
    let now = values_of(encoding.outputs.then_some(state));
    // What the program says; of a resource that is not there, that it is not.
    let written = model.written.meaning.nodes.iter().filter(|_| encoding.outputs).map(|(key, node)| {
        let address = encoding.address(key);
        let (text, name) = (address.to_string(), address.name.to_string());
        let value = now.get(text.as_str()).cloned();
        (name, Written { value, label: node.label.as_deref(), address: text })
    });
    let written: BTreeMap<String, Written<'_>> = written.collect();
    let state_before = trial.evidence.state_before.as_deref();
    let earlier = values_of(state_before.filter(|_| !is_whole && encoding.outputs));
    let nothing = BTreeMap::new();
    let before = state_before.map_or(&nothing, |before| &before.outputs);
    let names: BTreeSet<&String> = written.keys().chain(state.outputs.keys()).chain(before.keys()).collect();
    let absent = json!({ "id": null, "label": null });
    let destroys =
        matches!(trial.stage.action, Action::Destroy(_)) || trial.options.mode == PlanMode::Destroy;
    let is_right = |name: &&String| {
        let observed = state.outputs.get(*name).map(|output| &output.value);
        let was = before.get(*name).map(|output| &output.value);
        let written = written.get(*name);
        match (written, observed) {
            (written, observed) if is_whole => written.and_then(|it| it.value.as_ref()) == observed,
            (_, observed) if observed == was => true,
            // A command that fails may have set it to what was planned, and a destroy to what it found.
            (Some(it), Some(observed)) => {
                let objects = [it.value.as_ref(), earlier.get(it.address.as_str())];
                let is_of = |value: &Json| *observed == *value || *observed == it.planned(value);
                objects.into_iter().flatten().any(is_of) || (it.value.is_none() && *observed == absent)
            }
            // A destroy takes all of them out of the state, also if it fails.
            (_, None) if destroys => true,
            (written, None) => written.is_none_or(|it| it.value.is_none()),
            (None, Some(_)) => false,
        }
    };
    let name = names.into_iter().find(|name| !is_right(name))?;
    let expected = written.get(name).and_then(|it| it.value.clone());
    let observed = state.outputs.get(name).map(|output| output.value.clone());
    let detail = Detail::OutputValue { expected, observed };
    Some(trial.finding(FindingKind::StoredOutputsDiffer).about([Subject::output(name)]).with(detail))
}

/// What the program says of an output.
struct Written<'a> {
    /// The address of its resource.
    address: String,
    /// What it tells of the resource's object; none if there is none.
    value: Option<Json>,
    /// The label of the resource.
    label: Option<&'a str>,
}

impl Written<'_> {
    /// What it tells once the resource has the label of the program.
    fn planned(&self, value: &Json) -> Json {
        json!({ "id": value["id"], "label": self.label })
    }
}

/// What outputs tell of the current objects of a state, by address.
fn values_of(state: Option<&State>) -> BTreeMap<&str, Json> {
    let objects = state.map(|state| state.objects.iter()).into_iter().flatten();
    let value = |stored: &Stored| {
        let label = stored.content.attributes.unpack().get("label").cloned().unwrap_or_default();
        json!({ "id": &*stored.content.id, "label": label })
    };
    let current = objects.filter(|stored| stored.deposed.is_none());
    current.map(|stored| (stored.address.as_str(), value(stored))).collect()
}
