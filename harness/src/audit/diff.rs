//! The difference between two worlds, object by object.
//!
//! Objects are paired by key, since a replacement, and another ledger, mint other ids. Ids inside attributes are
//! read as the keys of the objects they stand for.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::{Attributes, Object, World};
use serde::Serialize;
use serde_json::Value;

use super::names::printable;
use super::palette::Palette;

/// How two worlds relate, which decides what ids mean between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worlds {
    /// Two moments of one ledger: another id is another object.
    OfOneLedger,
    /// Two ledgers: ids always differ and mean nothing.
    OfTwoLedgers,
}

/// What became of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It is only in the second world.
    Added,
    /// It is only in the first world.
    Removed,
    /// It is in both, with other attributes.
    Changed,
    /// It is in both, as another object.
    Replaced,
}

/// An attribute before and after. An absent one is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AttributeChange {
    /// The value in the first world.
    pub from: Value,
    /// The value in the second world.
    pub to: Value,
}

/// One object that is not the same in both worlds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The object's key, or what it goes by without one.
    pub key: String,
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// What became of it.
    pub kind: ChangeKind,
    /// The attributes that differ; empty where the object is in one world only.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, AttributeChange>,
}

/// All that differs between two worlds, by key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorldDiff {
    /// Whether nothing does.
    pub same: bool,
    /// The objects that are not the same.
    pub changes: Vec<Change>,
}

impl WorldDiff {
    /// Compares two worlds, without the attributes named in `ignored`.
    pub fn between(from: &World, to: &World, worlds: Worlds, ignored: &[String]) -> Self {
        let (from, to) = (described(from, worlds, ignored), described(to, worlds, ignored));
        let names: BTreeSet<&String> = from.keys().chain(to.keys()).collect();
        let mut changes = Vec::new();
        for name in names {
            let none = Vec::new();
            let (mut old, mut new) =
                (from.get(name).unwrap_or(&none).clone(), to.get(name).unwrap_or(&none).clone());
            old.retain(|object| match new.iter().position(|other| other == object) {
                Some(same) => {
                    new.remove(same);
                    false
                }
                None => true,
            });
            if let ([before], [after]) = (old.as_slice(), new.as_slice())
                && before.type_name == after.type_name
            {
                changes.push(before.change_to(after));
                continue;
            }
            changes.extend(old.iter().map(|object| object.alone(ChangeKind::Removed)));
            changes.extend(new.iter().map(|object| object.alone(ChangeKind::Added)));
        }
        Self { same: changes.is_empty(), changes }
    }

    /// The difference as text: one line for each object and each attribute; nothing if nothing differs.
    pub fn to_text(&self, palette: Palette) -> String {
        let mut text = String::new();
        for change in &self.changes {
            let name = format!("{} ({})", printable(&change.key), printable(&change.type_name));
            let line = match change.kind {
                ChangeKind::Added => palette.added(&format!("+ {name}")),
                ChangeKind::Removed => palette.alarm(&format!("- {name}")),
                ChangeKind::Changed => palette.changed(&format!("~ {name}")),
                ChangeKind::Replaced => palette.changed(&format!("± {name}, replaced")),
            };
            text += &line;
            text += "\n";
            for (attribute, AttributeChange { from, to }) in &change.attributes {
                text += &format!("    {}: {from} -> {to}\n", printable(attribute));
            }
        }
        text
    }
}

/// An object in terms that mean the same in both worlds.
#[derive(Debug, Clone, PartialEq)]
struct Described {
    name: String,
    type_name: String,
    /// The id, where it tells one object from another.
    id: Option<String>,
    attributes: BTreeMap<String, Value>,
    /// The keys it refers to, by attribute path.
    refs: BTreeMap<String, BTreeSet<String>>,
}

impl Described {
    fn alone(&self, kind: ChangeKind) -> Change {
        let (key, type_name) = (self.name.clone(), self.type_name.clone());
        Change { key, type_name, kind, attributes: BTreeMap::new() }
    }

    fn change_to(&self, other: &Self) -> Change {
        let names: BTreeSet<&String> = self.attributes.keys().chain(other.attributes.keys()).collect();
        let mut attributes = BTreeMap::new();
        for name in names {
            let value = |object: &Self| object.attributes.get(name).cloned().unwrap_or(Value::Null);
            let (from, to) = (value(self), value(other));
            if from != to {
                attributes.insert(name.clone(), AttributeChange { from, to });
            }
        }
        // References show in their attributes, unless the attribute's value was kept out of the ledger.
        let paths: BTreeSet<&String> = self.refs.keys().chain(other.refs.keys()).collect();
        for path in paths {
            let targets = |object: &Self| serde_json::json!(object.refs.get(path));
            let (from, to) = (targets(self), targets(other));
            if from != to && !attributes.contains_key(path) {
                attributes.insert(path.clone(), AttributeChange { from, to });
            }
        }
        let kind = if self.id == other.id { ChangeKind::Changed } else { ChangeKind::Replaced };
        Change { attributes, ..self.alone(kind) }
    }
}

fn described(world: &World, worlds: Worlds, ignored: &[String]) -> BTreeMap<String, Vec<Described>> {
    let mut by_name: BTreeMap<String, Vec<Described>> = BTreeMap::new();
    for object in world.objects() {
        let name = name_of(object, worlds);
        let mut refs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for reference in &object.refs {
            let target =
                world.get(&reference.id).map_or(reference.id.clone(), |target| name_of(target, worlds));
            refs.entry(reference.path.clone()).or_default().insert(target);
        }
        by_name.entry(name.clone()).or_default().push(Described {
            name,
            type_name: object.type_name.clone(),
            id: (worlds == Worlds::OfOneLedger).then(|| object.id.clone()),
            attributes: attributes_by_name(&object.attributes.unpack(), world, worlds, ignored),
            refs,
        });
    }
    by_name
}

fn name_of(object: &Object, worlds: Worlds) -> String {
    match (&object.key, worlds) {
        (Some(key), _) => key.clone(),
        (None, Worlds::OfOneLedger) => object.id.clone(),
        (None, Worlds::OfTwoLedgers) => "(without a key)".to_owned(),
    }
}

fn attributes_by_name(
    attributes: &Attributes,
    world: &World,
    worlds: Worlds,
    ignored: &[String],
) -> BTreeMap<String, Value> {
    let kept = attributes.iter().filter(|(name, _)| !ignored.contains(name));
    kept.map(|(name, value)| (name.clone(), ids_to_names(value, world, worlds))).collect()
}

fn ids_to_names(value: &Value, world: &World, worlds: Worlds) -> Value {
    match value {
        Value::String(text) => match world.get(text) {
            Some(object) => Value::String(name_of(object, worlds)),
            None => value.clone(),
        },
        Value::Array(items) => {
            let mut named: Vec<Value> = items.iter().map(|item| ids_to_names(item, world, worlds)).collect();
            // A set is written in the order of its values; ids are in no order that means anything.
            if named != *items && named.iter().all(Value::is_string) {
                named.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
            }
            Value::Array(named)
        }
        Value::Object(fields) => Value::Object(
            fields.iter().map(|(name, value)| (name.clone(), ids_to_names(value, world, worlds))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judge::observe::meaning::tests::world;

    fn two_ledgers(from: &World, to: &World) -> WorldDiff {
        WorldDiff::between(from, to, Worlds::OfTwoLedgers, &["revision".to_owned()])
    }

    #[test]
    fn worlds_of_two_ledgers_are_the_same_when_only_their_ids_differ() {
        let from = world(&[
            ("r0", "node-a", &[], 1),
            ("r1", "node-b", &[], 1),
            ("r2", "node-c", &["node-a", "node-b"], 1),
        ]);
        let to = world(&[
            ("r0", "node-z", &[], 1),
            ("r1", "node-y", &[], 3),
            ("r2", "node-x", &["node-y", "node-z"], 1),
        ]);
        assert_eq!(two_ledgers(&from, &to), WorldDiff { same: true, changes: Vec::new() });
    }

    #[test]
    fn a_reference_to_another_object_is_a_difference() {
        let from =
            world(&[("r0", "node-a", &[], 1), ("r1", "node-b", &[], 1), ("r2", "node-c", &["node-a"], 1)]);
        let to =
            world(&[("r0", "node-z", &[], 1), ("r1", "node-y", &[], 1), ("r2", "node-x", &["node-y"], 1)]);
        let diff = two_ledgers(&from, &to);
        assert_eq!(diff.to_text(Palette::Plain), "~ r2 (mock_node)\n    refs: [\"r0\"] -> [\"r1\"]\n");
    }

    #[test]
    fn a_reference_to_nothing_is_the_same_as_no_other() {
        let from = world(&[("r1", "node-b", &["node-gone"], 1)]);
        let to = world(&[("r1", "node-x", &["node-lost"], 1)]);
        assert!(!two_ledgers(&from, &to).same);
    }

    #[test]
    fn another_id_in_the_same_ledger_is_a_replacement() {
        let from = world(&[("r0", "node-a", &[], 1)]);
        let to = world(&[("r0", "node-b", &[], 1)]);
        let diff = WorldDiff::between(&from, &to, Worlds::OfOneLedger, &[]);
        assert_eq!(diff.to_text(Palette::Plain), "± r0 (mock_node), replaced\n");
        assert!(two_ledgers(&from, &to).same);
    }

    #[test]
    fn an_object_too_many_with_the_same_key_is_added() {
        let from = world(&[("r0", "node-a", &[], 1)]);
        let to = world(&[("r0", "node-b", &[], 1), ("r0", "node-c", &[], 1)]);
        let changes = two_ledgers(&from, &to).changes;
        assert_eq!(changes.iter().map(|change| change.kind).collect::<Vec<_>>(), [ChangeKind::Added]);
    }

    #[test]
    fn objects_without_a_key_are_compared_by_what_they_are() {
        let from = world(&[("", "node-a", &[], 1), ("", "node-b", &[], 1)]);
        let to = world(&[("", "node-c", &[], 1), ("", "node-d", &[], 1)]);
        assert!(two_ledgers(&from, &to).same);
        assert_eq!(WorldDiff::between(&from, &to, Worlds::OfOneLedger, &[]).changes.len(), 4);
    }

    #[test]
    fn attributes_are_compared_unless_they_are_ignored() {
        let from = world(&[("r0", "node-a", &[], 1)]);
        let to = world(&[("r0", "node-a", &[], 2)]);
        let diff = WorldDiff::between(&from, &to, Worlds::OfOneLedger, &[]);
        assert_eq!(
            serde_json::to_value(&diff).unwrap(),
            json!({
                "same": false,
                "changes": [{
                    "key": "r0", "type": "mock_node", "kind": "changed",
                    "attributes": {"revision": {"from": 1, "to": 2}},
                }],
            })
        );
    }
}
