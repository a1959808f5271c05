//! The world: what folding a ledger's committed entries gives.

use rustc_hash::FxHashMap;

use super::entry::{Entry, Operation, Reference};
use super::packed::PackedAttributes;

/// An object that is there.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Object {
    /// Its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its name in the graph.
    pub key: Option<String>,
    /// Its minted id.
    pub id: String,
    /// Its attributes as they are now.
    pub attributes: PackedAttributes,
    /// The objects it refers to, by value.
    pub refs: Vec<Reference>,
    /// The `seq` of the commit that created it.
    pub created: u64,
    /// The `seq` of the commit that changed it last.
    pub changed: u64,
}

/// An entry that cannot follow on the world before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("seq {seq}: {op} of {id}, {why}")]
pub struct Conflict {
    /// The entry's `seq`.
    pub seq: u64,
    /// Its operation.
    pub op: Operation,
    /// Its object's id.
    pub id: String,
    /// What is wrong.
    pub why: &'static str,
}

/// All objects that are there, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct World {
    objects: FxHashMap<Box<str>, Object>,
}

impl World {
    /// Folds the next entry in. Entries that change nothing (begins, failures, reads, marks) are passed over.
    pub fn apply(&mut self, entry: Entry) -> Result<(), Conflict> {
        if !entry.changes_world() {
            return Ok(());
        }
        let (seq, op) = (entry.seq, entry.op);
        let conflict = |id: &str, why| Conflict { seq, op, id: id.to_owned(), why };
        let Some(id) = entry.id else {
            return Err(conflict("?", "without an id"));
        };
        match (op, entry.after) {
            (Operation::Create, Some(attributes)) => {
                if self.objects.contains_key(id.as_str()) {
                    return Err(conflict(&id, "which already exists"));
                }
                let object = Object {
                    type_name: entry.type_name.unwrap_or_default(),
                    key: entry.key,
                    id: id.clone(),
                    attributes: PackedAttributes::from(&attributes),
                    refs: entry.refs,
                    created: seq,
                    changed: seq,
                };
                self.objects.insert(id.into(), object);
            }
            (Operation::Update | Operation::Drift, Some(attributes)) => {
                let Some(object) = self.objects.get_mut(id.as_str()) else {
                    return Err(conflict(&id, "which does not exist"));
                };
                object.attributes = PackedAttributes::from(&attributes);
                object.refs = entry.refs;
                object.changed = seq;
            }
            (Operation::Delete | Operation::Drift, None) => {
                if self.objects.remove(id.as_str()).is_none() {
                    return Err(conflict(&id, "which does not exist"));
                }
            }
            (_, None) => return Err(conflict(&id, "without the attributes after")),
            (_, Some(_)) => return Err(conflict(&id, "with attributes after")),
        }
        Ok(())
    }

    /// Gives objects that have no key one, where there is one for them.
    pub fn name(&mut self, key: impl Fn(&Object) -> Option<String>) {
        for object in self.objects.values_mut().filter(|object| object.key.is_none()) {
            object.key = key(object);
        }
    }

    /// All objects, in the order of their ids.
    pub fn objects(&self) -> impl ExactSizeIterator<Item = &Object> {
        let mut objects: Vec<&Object> = self.objects.values().collect();
        objects.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        objects.into_iter()
    }

    /// All objects, in no order: sorting them takes longer than looking at them.
    pub fn unordered(&self) -> impl ExactSizeIterator<Item = &Object> {
        self.objects.values()
    }

    /// The object with this id.
    pub fn get(&self, id: &str) -> Option<&Object> {
        self.objects.get(id)
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

#[cfg(test)]
mod tests;
