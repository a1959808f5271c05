//! After every batch each object has the attributes that the program gives it. Ids are read as keys: they are minted.

use std::collections::BTreeSet;

use equiform_proto::ledger::{Object, World};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value as Json;

use super::{Finding, Trial};
use crate::spec::{Block, EdgeKind, Program};

/// For people.
pub const ABOUT: &str = "after every batch each object has the attributes that the program gives it";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    if !trial.program_is_deployed() {
        return Vec::new();
    }
    let blocks: FxHashMap<&str, &Block> =
        trial.program.blocks.values().map(|block| (&*block.key, block)).collect();
    let mut differences = BTreeSet::new();
    let mut keys = FxHashSet::default();
    for object in trial.world.unordered() {
        let key = object.key.as_deref().unwrap_or_default();
        match blocks.get(key) {
            None => drop(differences.insert(("not in the program", format!("{key} ({})", object.id)))),
            Some(block) => differences.extend(
                differing(object, block, trial.program, trial.world)
                    .map(|text| ("other attributes", format!("{key}: {text}"))),
            ),
        }
        if !keys.insert(key) {
            differences.insert(("several objects", format!("{key} is there more than once")));
        }
    }
    let missing = blocks.keys().filter(|key| !keys.contains(*key));
    differences.extend(missing.map(|key| ("no object", format!("{key} is not there"))));
    differences.into_iter().map(|(kind, text)| Finding::new("attributes", kind, trial, text)).collect()
}

/// How an object's attributes differ from what the program says of it.
fn differing<'a>(
    object: &'a Object,
    block: &'a Block,
    program: &'a Program,
    world: &'a World,
) -> impl Iterator<Item = String> + 'a {
    object.attributes.unpack().into_iter().filter_map(move |(name, value)| {
        let key = |address| program.key(address).map_or("?", |key| &**key);
        let of_kind = |kind| -> BTreeSet<&str> { block.by(kind).map(key).collect() };
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
