//! After every batch each object has the attributes that the program gives it. Ids are read as keys: they are minted.

use std::collections::BTreeSet;

use equiform_proto::ledger::{Object, World};
use rustc_hash::FxHashSet;
use serde_json::Value as Json;

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;
use crate::model::{EdgeKind, ResourceDescription};

/// For people.
pub const ABOUT: &str = "after every batch each object has the attributes that the program gives it";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let batch = match trial.stage.stage {
        Stage::Batch(number) => trial.batches.get(number - 1),
        Stage::Idle | Stage::Cross => trial.batches.last(),
        Stage::Destroy => None,
    };
    let Some(batch) = batch.filter(|_| trial.stage.record.succeeded()) else { return Vec::new() };
    let mut differences = BTreeSet::new();
    let mut keys = FxHashSet::default();
    for object in trial.world.unordered() {
        let key = object.key.as_deref().unwrap_or_default();
        match batch.deployment.resources.get(key) {
            None => drop(differences.insert(("not in the program", format!("{key} ({})", object.id)))),
            Some(description) => differences.extend(
                differing(object, description, trial.world)
                    .map(|text| ("other attributes", format!("{key}: {text}"))),
            ),
        }
        if !keys.insert(key) {
            differences.insert(("several objects", format!("{key} is there more than once")));
        }
    }
    let missing = batch.deployment.resources.keys().filter(|key| !keys.contains(key.as_str()));
    differences.extend(missing.map(|key| ("no object", format!("{key} is not there"))));
    differences.into_iter().map(|(kind, text)| Finding::new("attributes", kind, trial, text)).collect()
}

/// How an object's attributes differ from what the program says of it.
fn differing<'a>(
    object: &'a Object,
    description: &'a ResourceDescription,
    world: &'a World,
) -> impl Iterator<Item = String> + 'a {
    object.attributes.unpack().into_iter().filter_map(move |(name, value)| {
        let of_kind = |kind| -> BTreeSet<&str> { description.by(kind).collect() };
        let expected = match name.as_str() {
            // The provider's own: that the id is right is known by it, and the revision counts what happened.
            "id" | "revision" => return None,
            "key" => object.key.clone().map_or(Json::Null, Json::String),
            "refs" => return different_references(&name, &value, &of_kind(EdgeKind::Refs), world),
            "pinned_refs" => {
                return different_references(&name, &value, &of_kind(EdgeKind::PinnedRefs), world);
            }
            // Programs say nothing of the others.
            _ => Json::Null,
        };
        (value != expected).then(|| format!("{name} is {value}, and the program says {expected}"))
    })
}

fn different_references(
    name: &str,
    value: &Json,
    expected: &BTreeSet<&str>,
    world: &World,
) -> Option<String> {
    let key_of = |id: &Json| {
        let id = id.as_str().unwrap_or_default();
        world
            .get(id)
            .and_then(|object| object.key.clone())
            .unwrap_or_else(|| format!("{id}, which is not there"))
    };
    let found: Vec<String> = value.as_array().into_iter().flatten().map(key_of).collect();
    let is: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    // A program that refers to nothing says nothing.
    let same = is == *expected && found.len() == is.len() && value.is_null() == expected.is_empty();
    (!same).then(|| format!("{name} refers to {found:?}, and the program says {expected:?}"))
}
