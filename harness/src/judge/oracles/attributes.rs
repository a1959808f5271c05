//! After every stage each object has the attributes that the model says: those of the program, but for what is
//! ignored, was not reached, failed, or changed behind the engine's back. Ids are read as keys: they are minted.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::{Object, World};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;

use super::Trial;
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::world::Object as ModelObject;
use crate::spec::{Deployed, EdgeKind, NodeKey, Remembered};

/// What it looks at.
pub const ABOUT: &str = "after every stage each object has the attributes that the program gives it";

/// Compares all objects with the model.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(deployed) = trial.settled() else { return Vec::new() };
    let current = deployed.current().map(|(key, remembered, _, object)| (&**key, (remembered, object)));
    let current: FxHashMap<&str, (&Remembered, Option<&ModelObject>)> = current.collect();
    let mut expected: FxHashMap<&str, usize> = deployed.memory.nodes.keys().map(|key| (&**key, 0)).collect();
    deployed.world.objects.keys().for_each(|id| *expected.entry(&id.key).or_default() += 1);
    let mut differences: BTreeMap<(FindingKind, Vec<Subject>), Detail> = BTreeMap::new();
    let mut objects: FxHashMap<&str, usize> = FxHashMap::default();
    for object in trial.world.unordered() {
        let key = object.key.as_deref().unwrap_or_default();
        *objects.entry(key).or_default() += 1;
        match (expected.get(key), current.get(key)) {
            (None, _) => {
                let subjects = vec![Subject::resource(key), Subject::object(&object.id)];
                differences.insert((FindingKind::ObjectUnexpected, subjects), Detail::None);
            }
            // Which of two objects is the old one is for `state` to report.
            (Some(1), Some((remembered, Some(modelled)))) => {
                let references = Expected { modelled, remembered, deployed, world: trial.world };
                let different = differing(object, references).map(|(name, detail)| {
                    let subjects = vec![Subject::resource(key), Subject::attribute(&name)];
                    ((FindingKind::AttributeDiffers, subjects), detail)
                });
                differences.extend(different);
            }
            _ => {}
        }
    }
    for (key, expected) in expected {
        let observed = objects.get(key).copied().unwrap_or_default();
        let (kind, detail) = match observed.cmp(&expected) {
            std::cmp::Ordering::Greater => {
                (FindingKind::SeveralObjects, Detail::Count { observed, expected: Some(expected) })
            }
            std::cmp::Ordering::Less => (FindingKind::ObjectMissing, Detail::None),
            std::cmp::Ordering::Equal => continue,
        };
        differences.insert((kind, vec![Subject::resource(key)]), detail);
    }
    let finding = |((kind, subjects), detail)| trial.finding(kind).about(subjects).with(detail);
    differences.into_iter().map(finding).collect()
}

/// How an object's attributes differ from what the model says of it, by their names.
fn differing<'a>(object: &'a Object, expect: Expected<'a>) -> impl Iterator<Item = (String, Detail)> + 'a {
    object.attributes.unpack().into_iter().filter_map(move |(name, value)| {
        let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().map_or(Json::Null, Json::from);
        let references = |kind| expect.difference(&value, kind);
        let expected = match name.as_str() {
            // The provider's own: that the id is right is known by it, and the revision counts what happened.
            "id" | "revision" => return None,
            "key" => object.key.clone().map_or(Json::Null, Json::String),
            "label" => text(&expect.modelled.label),
            "pin" => text(&expect.modelled.pin),
            "refs" => return references(EdgeKind::Refs).map(|detail| (name, detail)),
            "pinned_refs" => return references(EdgeKind::PinnedRefs).map(|detail| (name, detail)),
            // Programs say nothing of the others.
            _ => Json::Null,
        };
        (value != expected).then_some((name, Detail::Value { expected, observed: value }))
    })
}

/// What an object is to be, and to refer to.
struct Expected<'a> {
    modelled: &'a ModelObject,
    remembered: &'a Remembered,
    deployed: &'a Deployed,
    world: &'a World,
}

impl Expected<'_> {
    /// How the references of a kind differ from what the object is to refer to.
    fn difference(&self, value: &Json, kind: EdgeKind) -> Option<Detail> {
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
        (!same).then(|| Detail::References {
            expected: of_kind.iter().map(|key| key.to_string()).collect(),
            observed: found.iter().map(|key| key.map(str::to_owned)).collect(),
        })
    }
}
