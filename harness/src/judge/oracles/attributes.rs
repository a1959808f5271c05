//! After every stage each object has the attributes that the model says: those of the program, but for what is
//! ignored, was not reached, failed, or changed behind the engine's back. Ids are read as keys: they are minted.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::{Object, World};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::{Finding, Trial};
use crate::spec::{Address, Deployed, Drift, EdgeKind, Instance, InstanceAddress};

/// For people.
pub const ABOUT: &str = "after every stage each object has the attributes that the program gives it";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(deployed) = trial.settled() else { return Vec::new() };
    let instances: FxHashMap<&str, &Instance> =
        deployed.instances.values().map(|instance| (&*instance.key, instance)).collect();
    let mut differences = BTreeSet::new();
    let mut objects: BTreeMap<&str, usize> = BTreeMap::new();
    for object in trial.world.unordered() {
        let key = object.key.as_deref().unwrap_or_default();
        *objects.entry(key).or_default() += 1;
        match instances.get(key) {
            None => drop(differences.insert(("not in the program", format!("{key} ({})", object.id)))),
            // Which of two objects is the old one is for `state` to tell.
            Some(instance) if instance.deposed => {}
            Some(instance) => differences.extend(
                differing(object, instance, deployed, trial.world)
                    .map(|text| ("other attributes", format!("{key}: {text}"))),
            ),
        }
    }
    for (key, instance) in instances {
        let expected =
            if instance.drift == Some(Drift::Gone) { 0 } else { 1 + usize::from(instance.deposed) };
        let there = objects.get(key).copied().unwrap_or_default();
        if there > expected {
            differences.insert(("several objects", format!("{key} is there {there} times")));
        } else if there < expected {
            differences.insert(("no object", format!("{key} is not there")));
        }
    }
    differences.into_iter().map(|(kind, text)| Finding::new("attributes", kind, trial, text)).collect()
}

/// How an object's attributes differ from what the model says of it.
fn differing<'a>(
    object: &'a Object,
    instance: &'a Instance,
    deployed: &'a Deployed,
    world: &'a World,
) -> impl Iterator<Item = String> + 'a {
    object.attributes.unpack().into_iter().filter_map(move |(name, value)| {
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map_or(Json::Null, Json::from);
        let expected = match (name.as_str(), &instance.drift) {
            // The provider's own: that the id is right is known by it, and the revision counts what happened.
            ("id" | "revision", _) => return None,
            ("key", _) => object.key.clone().map_or(Json::Null, Json::String),
            ("label", Some(Drift::Label(label))) => text(label),
            ("label", _) => text(&instance.label),
            ("pin", Some(Drift::Pin(pin))) => text(pin),
            ("pin", _) => text(&instance.pin),
            ("refs", _) => {
                return different_references(&name, &value, EdgeKind::Refs, instance, deployed, world);
            }
            ("pinned_refs", _) => {
                return different_references(&name, &value, EdgeKind::PinnedRefs, instance, deployed, world);
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
    kind: EdgeKind,
    instance: &Instance,
    deployed: &Deployed,
    world: &World,
) -> Option<String> {
    let of_kind: Vec<&Address> =
        instance.dependencies.iter().filter(|(_, it)| **it == kind).map(|(address, _)| address).collect();
    let found: Vec<Option<&str>> = value
        .as_array()
        .into_iter()
        .flatten()
        .map(|id| world.get(id.as_str().unwrap_or_default()).and_then(|object| object.key.as_deref()))
        .collect();
    // What an object refers to may be gone: by the engine's doing, or behind its back.
    let dangles = |address: &Address| {
        let there = deployed.instances.get(&InstanceAddress::from(address));
        instance.stale.contains(address) || there.is_none_or(|there| there.drift == Some(Drift::Gone))
    };
    let key = |address: &Address| {
        deployed.instances.get(&InstanceAddress::from(address)).map_or("?", |instance| &*instance.key)
    };
    let (gone, there): (Vec<&Address>, Vec<&Address>) = of_kind.iter().partition(|address| dangles(address));
    let expected: BTreeSet<&str> = there.into_iter().map(key).collect();
    // An old object that could not be deleted is still there, and referred to by what was not changed over.
    let old: BTreeSet<&str> = gone.iter().map(|address| key(address)).collect();
    let is: BTreeSet<&str> = found.iter().flatten().copied().filter(|key| !old.contains(key)).collect();
    // A program that refers to nothing says nothing.
    let same = is == expected && found.len() == of_kind.len() && value.is_null() == of_kind.is_empty();
    let named: Vec<&str> = of_kind.iter().map(|address| address.name()).collect();
    (!same).then(|| {
        let found: Vec<&str> = found.iter().map(|key| key.unwrap_or("something that is not there")).collect();
        format!("{name} refers to {found:?}, and the program says {named:?}")
    })
}
