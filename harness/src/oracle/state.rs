//! The engine's state and the world agree: no orphan, no ghost, the same dependencies.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Finding, Trial};
use crate::deploy::evidence::{Stage, Stored};
use crate::model::Deployment;
use crate::render::label;

/// For people.
pub const ABOUT: &str = "the engine's state holds what is in the world, with its dependencies";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let batch = match trial.stage.stage {
        Stage::Batch(number) => trial.batches.get(number - 1),
        Stage::Idle => trial.batches.last(),
        Stage::Cross | Stage::Destroy => None,
    };
    match batch {
        Some(batch) if trial.stage.record.succeeded() => compare(trial, &batch.deployment),
        _ => Vec::new(),
    }
}

fn compare(trial: &Trial<'_>, deployment: &Deployment) -> Vec<Finding> {
    let Some(state) = &trial.stage.state else {
        let missing = Finding::new("state", "missing", trial, "the engine wrote no state");
        return if trial.world.is_empty() { Vec::new() } else { vec![missing] };
    };
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("state", kind, trial, text));
    let names: HashMap<String, &str> =
        deployment.resources.keys().map(|key| (label(key), key.as_str())).collect();
    let mut ids = HashSet::new();
    for stored in state {
        let id = stored.attributes.get("id").and_then(|id| id.as_str()).unwrap_or_default();
        let name = &stored.name;
        ids.insert(id);
        if stored.deposed {
            found("deposed object left", format!("{name} has an old object {id} that was not deleted"));
        }
        match trial.world.get(id) {
            None => found("ghost", format!("{name} is {id} in the state, which is not in the world")),
            Some(object) if object.attributes != stored.attributes => {
                found(
                    "other attributes",
                    format!("{name} has other attributes in the state than in the world"),
                );
            }
            Some(object) if object.key.as_deref().map(label).as_ref() != Some(name) => {
                let key = object.key.as_deref().unwrap_or("?");
                found("another name", format!("{id} is {name} in the state, which is {key} in the world"));
            }
            Some(_) => {}
        }
        if let Some(key) = names.get(name)
            && let Some(text) = other_dependencies(stored, key, deployment)
        {
            found("other dependencies", text);
        }
    }
    for object in trial.world.objects().filter(|object| !ids.contains(object.id.as_str())) {
        let name = object.key.as_deref().unwrap_or("?");
        found("orphan", format!("{name} is {} in the world, which is not in the state", object.id));
    }
    findings
}

/// Compares the addresses that a resource depends on with the program's. Engines store the whole chain.
fn other_dependencies(stored: &Stored, key: &str, deployment: &Deployment) -> Option<String> {
    let (mut open, mut reached) = (vec![key], HashSet::new());
    while let Some(key) = open.pop() {
        let dependencies =
            deployment.resources.get(key).into_iter().flat_map(|found| found.dependencies.keys());
        open.extend(dependencies.map(String::as_str).filter(|dependency| reached.insert(*dependency)));
    }
    let expected: BTreeSet<String> = reached.iter().map(|key| format!("mock_node.{}", label(key))).collect();
    let is: BTreeSet<&str> = stored.dependencies.iter().map(String::as_str).collect();
    (!is.iter().copied().eq(expected.iter().map(String::as_str)))
        .then(|| format!("{} depends on {is:?} in the state, on {expected:?} in the program", stored.name))
}
