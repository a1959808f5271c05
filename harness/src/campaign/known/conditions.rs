//! When a known bug is due, and between which resources: conditions on the programs that led to a step, decided by the
//! model alone. What the engine printed plays no part here; that it names these resources is checked apart.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{Deployment, Expectation, Kind};

/// A condition by its name in the file of known findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// A dependent that had create_before_destroy in force is removed. Something that it depended on, directly or not, is
    /// replaced, the old object first.
    RemovedDependentOutlivesReplacedDependency,
    /// A dependent is replaced, the new object first. Something that it depended on, directly or not, and that did not
    /// have create_before_destroy in force, is removed.
    ReplacedDependentOutlivesRemovedDependency,
    /// A dependent is replaced, the new object first. Something that it depended on, directly or not, is replaced too, the
    /// old object first: the edge between them is gone, or create_before_destroy would have spread.
    ReplacedDependentOutlivesReplacedDependency,
    /// A dependent is replaced, the new object first. Something that it depended on, directly or not, is removed.
    /// create_before_destroy was in force for that, and was forgotten in the step before: it was changed, and none of
    /// its dependents that pass the setting on was.
    ReplacedDependentOutlivesForgetfulDependency,
}

/// What becomes of an old object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Going {
    Removed,
    Replaced,
}

/// Two resources of which a condition is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair<'a> {
    /// The one that depended on the other, directly or not.
    pub dependent: &'a str,
    /// The other.
    pub dependency: &'a str,
}

impl Condition {
    /// The pairs of which it is true in the step to the last of these programs, which were deployed one after the other.
    pub fn pairs<'a>(self, programs: &[&'a Deployment]) -> Vec<Pair<'a>> {
        let (before, after) = last_step(programs);
        let was_in_force = before.create_before_destroy();
        let (dependent, dependency) = match self {
            Self::RemovedDependentOutlivesReplacedDependency => (Going::Removed, Going::Replaced),
            Self::ReplacedDependentOutlivesRemovedDependency => (Going::Replaced, Going::Removed),
            Self::ReplacedDependentOutlivesReplacedDependency => (Going::Replaced, Going::Replaced),
            Self::ReplacedDependentOutlivesForgetfulDependency => (Going::Replaced, Going::Removed),
        };
        let forgets = self == Self::ReplacedDependentOutlivesForgetfulDependency;
        let in_state = if forgets {
            remembered(programs.split_last().map_or(&[], |(_, earlier)| earlier))
        } else {
            was_in_force.clone()
        };
        let forgotten = |key: &str| was_in_force.contains(key) && !in_state.contains(key);
        outliving(&in_state, before, after)
            .into_iter()
            .filter(|(_, goings)| *goings == (dependent, dependency))
            .map(|(pair, _)| pair)
            .filter(|pair| !forgets || forgotten(pair.dependency))
            .collect()
    }
}

/// The last two programs; before the first there is nothing.
pub fn last_step<'a>(programs: &[&'a Deployment]) -> (&'a Deployment, &'a Deployment) {
    static NOTHING: Deployment = Deployment { resources: BTreeMap::new() };
    match programs {
        [.., before, after] => (before, after),
        [after] => (&NOTHING, after),
        [] => (&NOTHING, &NOTHING),
    }
}

/// The pairs of a dependent and one of its dependencies in `before` of which both old objects go, the dependent's after
/// something new is made (create_before_destroy), the dependency's before. An engine that takes the edges of both orders
/// into one graph has a cycle there.
fn outliving<'a>(
    was_in_force: &BTreeSet<&str>,
    before: &'a Deployment,
    after: &Deployment,
) -> Vec<(Pair<'a>, (Going, Going))> {
    let in_force = after.create_before_destroy();
    let expectation = Expectation::between(before, after);
    let deleted = expectation.operations.iter().filter(|operation| operation.kind == Kind::Delete);
    let going: BTreeMap<&str, (Going, bool)> = deleted
        .map(|operation| {
            let key = operation.key.as_str();
            let fate = if after.resources.contains_key(key) {
                (Going::Replaced, in_force.contains(key))
            } else {
                (Going::Removed, was_in_force.contains(key))
            };
            (key, fate)
        })
        .collect();
    let mut pairs = Vec::new();
    for dependent in before.resources.keys() {
        let Some((fate, true)) = going.get(dependent.as_str()) else { continue };
        for dependency in all_dependencies(before, dependent) {
            if let Some((other, false)) = going.get(dependency) {
                pairs.push((Pair { dependent, dependency }, (*fate, *other)));
            }
        }
    }
    pairs
}

/// The resources that a forgetful engine has create_before_destroy in its state for, after the last of the programs:
/// what it left alone has the setting if it is in force, what it changed only if it is in force among all that was changed
/// in the same step.
fn remembered<'a>(programs: &[&'a Deployment]) -> BTreeSet<&'a str> {
    let (before, after) = last_step(programs);
    let operations = Expectation::between(before, after).operations;
    let made =
        |key: &str| operations.iter().any(|operation| operation.key == key && operation.kind != Kind::Delete);
    let changed = after.resources.iter().filter(|(key, _)| made(key));
    let changed = Deployment {
        resources: changed.map(|(key, description)| (key.clone(), description.clone())).collect(),
    };
    let (in_force, passed_on) = (after.create_before_destroy(), changed.create_before_destroy());
    in_force.into_iter().filter(|key| !made(key) || passed_on.contains(key)).collect()
}

/// What a resource depends on, through the whole chain.
fn all_dependencies<'a>(deployment: &'a Deployment, key: &str) -> BTreeSet<&'a str> {
    let direct = |key: &str| deployment.resources.get(key).into_iter().flat_map(|d| d.dependencies.keys());
    let mut open: Vec<&str> = direct(key).map(String::as_str).collect();
    let mut all = BTreeSet::new();
    while let Some(key) = open.pop() {
        if all.insert(key) {
            open.extend(direct(key).map(String::as_str));
        }
    }
    all
}
