//! After every stage each object has the attributes that the model says: those of the program, but for what is
//! ignored, was not reached, failed, or changed behind the engine's back. Ids are read as keys: they are minted.

use std::collections::BTreeSet;

use equiform_proto::ledger::{Object, World};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::{Finding, Trial};
use crate::spec::world::Object as ModelObject;
use crate::spec::{Deployed, EdgeKind, NodeKey, Remembered};

/// For people.
pub const ABOUT: &str = "after every stage each object has the attributes that the program gives it";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(deployed) = trial.settled() else { return Vec::new() };
    let current = deployed.current().map(|(key, remembered, _, object)| (&**key, (remembered, object)));
    let current: FxHashMap<&str, (&Remembered, Option<&ModelObject>)> = current.collect();
    let mut expected: FxHashMap<&str, usize> = deployed.memory.nodes.keys().map(|key| (&**key, 0)).collect();
    deployed.world.objects.keys().for_each(|id| *expected.entry(&id.key).or_default() += 1);
    let mut differences = BTreeSet::new();
    let mut objects: FxHashMap<&str, usize> = FxHashMap::default();
    for object in trial.world.unordered() {
        let key = object.key.as_deref().unwrap_or_default();
        *objects.entry(key).or_default() += 1;
        match (expected.get(key), current.get(key)) {
            (None, _) => drop(differences.insert(("not in the program", format!("{key} ({})", object.id)))),
            // Which of two objects is the old one is for `state` to report.
            (Some(1), Some((remembered, Some(modelled)))) => differences.extend(
                differing(object, modelled, remembered, deployed, trial.world)
                    .map(|text| ("other attributes", format!("{key}: {text}"))),
            ),
            _ => {}
        }
    }
    for (key, expected) in expected {
        let there = objects.get(key).copied().unwrap_or_default();
        if there > expected {
            differences.insert(("several objects", format!("{key} is there {there} times")));
        } else if there < expected {
            differences.insert(("no object", format!("{key} is not there")));
        }
    }
    differences.into_iter().map(|(kind, text)| Finding::new("attributes", kind, trial, text)).collect()
}

/// The attributes of an object that are others than the model says.
fn differing<'a>(
    object: &'a Object,
    modelled: &'a ModelObject,
    remembered: &'a Remembered,
    deployed: &'a Deployed,
    world: &'a World,
) -> impl Iterator<Item = String> + 'a {
    object.attributes.unpack().into_iter().filter_map(move |(name, value)| {
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map_or(Json::Null, Json::from);
        let references = Expected { modelled, remembered, deployed, world };
        let expected = match name.as_str() {
            // The provider's own: that the id is right is known by it, and the revision counts what happened.
            "id" | "revision" => return None,
            "key" => object.key.clone().map_or(Json::Null, Json::String),
            "label" => text(&modelled.label),
            "pin" => text(&modelled.pin),
            "refs" => return references.difference(&name, &value, EdgeKind::Refs),
            "pinned_refs" => return references.difference(&name, &value, EdgeKind::PinnedRefs),
            // Programs say nothing of the others.
            _ => Json::Null,
        };
        (value != expected).then(|| format!("{name} is {value}, and the program says {expected}"))
    })
}

/// What an object is to refer to.
struct Expected<'a> {
    modelled: &'a ModelObject,
    remembered: &'a Remembered,
    deployed: &'a Deployed,
    world: &'a World,
}

impl Expected<'_> {
    /// How the references of a kind differ from what the object is to refer to.
    fn difference(&self, name: &str, value: &Json, kind: EdgeKind) -> Option<String> {
        let dependencies = self.remembered.dependencies.iter();
        let of_kind: Vec<&NodeKey> =
            dependencies.filter(|(_, it)| **it == kind).map(|(key, _)| key).collect();
        let of_id =
            |id: &Json| self.world.get(id.as_str().unwrap_or_default()).and_then(|it| it.key.as_deref());
        let found: Vec<Option<&str>> = value.as_array().into_iter().flatten().map(of_id).collect();
        // What an object refers to may be gone: by the engine's doing, or behind its back.
        let dangles =
            |key: &NodeKey| self.modelled.outdated.contains(key) || self.deployed.object(key).is_none();
        let (gone, there): (Vec<&NodeKey>, Vec<&NodeKey>) = of_kind.iter().partition(|key| dangles(key));
        let expected: BTreeSet<&str> = there.into_iter().map(|key| &**key).collect();
        // An old object that could not be deleted is still there, and referred to by what was not changed over.
        let old: BTreeSet<&str> = gone.iter().map(|key| &***key).collect();
        let is: BTreeSet<&str> = found.iter().flatten().copied().filter(|key| !old.contains(key)).collect();
        // A program that refers to nothing says nothing.
        let same = is == expected && found.len() == of_kind.len() && value.is_null() == of_kind.is_empty();
        (!same).then(|| {
            let found: Vec<&str> =
                found.iter().map(|key| key.unwrap_or("something that is not there")).collect();
            format!("{name} refers to {found:?}, and the program says {of_kind:?}")
        })
    }
}
