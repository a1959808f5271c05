//! When a known bug is due: conditions on a step from one deployment to the next, decided by the model alone. What the
//! engine printed plays no part, so a new bug that prints the same words is not taken for an old one.

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
}

/// What becomes of an old object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Going {
    Removed,
    Replaced,
}

impl Condition {
    /// Whether it is true of a step.
    pub fn holds(self, before: &Deployment, after: &Deployment) -> bool {
        let sought = match self {
            Self::RemovedDependentOutlivesReplacedDependency => (Going::Removed, Going::Replaced),
            Self::ReplacedDependentOutlivesRemovedDependency => (Going::Replaced, Going::Removed),
            Self::ReplacedDependentOutlivesReplacedDependency => (Going::Replaced, Going::Replaced),
        };
        outliving(before, after).contains(&sought)
    }
}

/// The pairs of a dependent and one of its dependencies in `before` of which both old objects go, the dependent's after
/// something new is made (create_before_destroy), the dependency's before. An engine that takes the edges of both orders
/// into one graph has a cycle there.
fn outliving(before: &Deployment, after: &Deployment) -> Vec<(Going, Going)> {
    let (was_in_force, in_force) = (before.create_before_destroy(), after.create_before_destroy());
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
    for (dependent, (fate, late)) in going.iter().filter(|(_, (_, late))| *late) {
        for dependency in all_dependencies(before, dependent) {
            if let Some((other, other_late)) = going.get(dependency)
                && late != other_late
            {
                pairs.push((*fate, *other));
            }
        }
    }
    pairs
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
