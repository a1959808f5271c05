//! The engine's state and the world agree: no orphan, no ghost, the same dependencies.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Trial};
use crate::deploy::evidence::{Stage, StageEvidence};
use crate::model::Deployment;
use crate::render::label;

/// For people.
pub const ABOUT: &str = "the engine's state holds what is in the world, with its dependencies";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stage in trial.stages.iter().filter(|stage| stage.record.exit == Some(0)) {
        let deployment = match stage.stage {
            Stage::Batch(number) => &trial.batches[number - 1].deployment,
            Stage::Idle => match trial.batches.last() {
                Some(last) => &last.deployment,
                None => continue,
            },
            Stage::Cross | Stage::Destroy => continue,
        };
        compare(stage, deployment, &mut findings);
    }
    findings
}

fn compare(stage: &StageEvidence, deployment: &Deployment, findings: &mut Vec<Finding>) {
    let Some(state) = &stage.state else {
        if !stage.world.is_empty() {
            findings.push(Finding::new("state", "missing", stage, "the engine wrote no state"));
        }
        return;
    };
    let mut ids = BTreeSet::new();
    let expected = dependencies(deployment);
    for stored in state {
        let id = stored.attributes.get("id").and_then(|id| id.as_str()).unwrap_or_default();
        ids.insert(id);
        if stored.deposed {
            let text = format!("{} has an old object {id} that was not deleted", stored.name);
            findings.push(Finding::new("state", "deposed object left", stage, text));
        }
        match stage.world.get(id) {
            None => {
                let text = format!("{} is {id} in the state, which is not in the world", stored.name);
                findings.push(Finding::new("state", "ghost", stage, text));
            }
            Some(object) if object.attributes != stored.attributes => {
                let text = format!("{} has other attributes in the state than in the world", stored.name);
                findings.push(Finding::new("state", "other attributes", stage, text));
            }
            Some(object) if object.key.as_deref().map(label).as_ref() != Some(&stored.name) => {
                let key = object.key.as_deref().unwrap_or("?");
                let text = format!("{id} is {} in the state, which is {key} in the world", stored.name);
                findings.push(Finding::new("state", "another name", stage, text));
            }
            Some(_) => {}
        }
        if let Some(expected) = expected.get(&stored.name)
            && *expected != stored.dependencies
        {
            let text = format!(
                "{} depends on {:?} in the state, on {expected:?} in the program",
                stored.name, stored.dependencies
            );
            findings.push(Finding::new("state", "other dependencies", stage, text));
        }
    }
    for object in stage.world.objects().filter(|object| !ids.contains(object.id.as_str())) {
        let name = object.key.as_deref().unwrap_or("?");
        let text = format!("{name} is {} in the world, which is not in the state", object.id);
        findings.push(Finding::new("state", "orphan", stage, text));
    }
}

/// The addresses that each resource depends on, through the whole chain, as engines store them.
fn dependencies(deployment: &Deployment) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for key in deployment.dependencies_first() {
        let mut reached = BTreeSet::new();
        for dependency in deployment.resources[key].dependencies.keys() {
            reached.insert(dependency.as_str());
            reached.extend(all.get(dependency.as_str()).into_iter().flatten());
        }
        all.insert(key, reached);
    }
    let address = |key: &&str| format!("mock_node.{}", label(key));
    all.iter().map(|(key, reached)| (label(key), reached.iter().map(address).collect())).collect()
}
