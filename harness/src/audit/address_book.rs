//! The addresses of objects that have no key: providers are not told them, so a ledger cannot have them. An engine's
//! state has, and is joined with the ledger by ids.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{self, Display};

use equiform_proto::ledger::{Entry, World};
use serde::Serialize;

use crate::engines::terraform::instances::StateInstance;

/// How sure it is that an object is the one at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sureness {
    /// The engine keeps the object's id for the provider beside it.
    Exact,
    /// The attribute `id` is the object's id.
    Likely,
    /// It is the only object of its type that has no other address, and the only address without an object.
    Guess,
}

impl Display for Sureness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exact, by the id that the engine stores for the provider",
            Self::Likely => "likely, by its attribute `id`",
            Self::Guess => "a guess: the only remaining object of its type",
        })
    }
}

/// An address, and how sure it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The address.
    pub address: String,
    /// How sure it is.
    pub sure: Sureness,
}

/// Addresses by the ids of objects.
#[derive(Debug, Clone, Default)]
pub struct AddressBook {
    by_id: HashMap<String, Named>,
}

impl AddressBook {
    /// Whether it knows no address.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Learns the instances of a state. The world is that of the ledger, at the time of the state.
    pub fn learn(&mut self, instances: &[StateInstance], world: &World) {
        let mut left: BTreeMap<&str, Vec<&StateInstance>> = BTreeMap::new();
        for instance in instances {
            let likely = instance
                .id_attribute
                .as_deref()
                .filter(|id| world.get(id).is_some_and(|object| object.type_name == instance.type_name));
            match (&instance.kept_id, likely) {
                (Some(id), _) => self.add(id, instance, Sureness::Exact),
                (None, Some(id)) => self.add(id, instance, Sureness::Likely),
                (None, None) => left.entry(&instance.type_name).or_default().push(instance),
            }
        }
        let mut unnamed: HashMap<&str, Vec<&str>> = HashMap::new();
        for object in world.unordered().filter(|object| object.key.is_none()) {
            if !self.by_id.contains_key(&object.id) {
                unnamed.entry(&object.type_name).or_default().push(&object.id);
            }
        }
        for (type_name, instances) in left {
            if let ([instance], Some([id])) = (&instances[..], unnamed.get(type_name).map(Vec::as_slice)) {
                self.add(id, instance, Sureness::Guess);
            }
        }
    }

    fn add(&mut self, id: &str, instance: &StateInstance, sure: Sureness) {
        let known = self.by_id.get(id).is_some_and(|known| known.sure < sure);
        if !known {
            self.by_id.insert(id.to_owned(), Named { address: instance.address.clone(), sure });
        }
    }

    /// The address of an object.
    pub fn of(&self, id: &str) -> Option<&Named> {
        self.by_id.get(id)
    }

    /// Gives the object of an entry its address for a key, if it has none.
    pub fn name_entry(&self, entry: &mut Entry) {
        if let (None, Some(id)) = (&entry.key, &entry.id) {
            entry.key = self.of(id).map(|named| named.address.clone());
        }
    }

    /// Gives all objects that have no key their addresses for keys.
    pub fn name_world(&self, world: &mut World) {
        world.name(|object| self.of(&object.id).map(|named| named.address.clone()));
    }

    /// What is to be said of the names of these objects: how sure they are, and which have none. Empty if each has a
    /// key, or an address for certain.
    pub fn doubts(&self, world: &World) -> Vec<String> {
        let mut doubts = Vec::new();
        let mut seen = HashSet::new();
        for object in world.objects() {
            match self.of(&object.id) {
                Some(named) if named.sure > Sureness::Exact && seen.insert(&named.address) => {
                    doubts.push(format!("the name {} of {} is {}", named.address, object.id, named.sure));
                }
                None if object.key.is_none() => {
                    doubts.push(format!(
                        "{} of type {} has no address in the state",
                        object.id, object.type_name
                    ));
                }
                _ => {}
            }
        }
        doubts
    }
}

#[cfg(test)]
mod tests {
    use equiform_proto::ledger::{Attributes, LineHash, Operation, Phase};

    use super::*;

    fn world(objects: &[(&str, &str)]) -> World {
        let mut world = World::default();
        for (seq, (type_name, id)) in (1..).zip(objects) {
            let mut entry = Entry::new(seq, Operation::Create, Phase::Commit, 1, LineHash([0; 32]));
            (entry.type_name, entry.id) = (Some((*type_name).to_owned()), Some((*id).to_owned()));
            entry.after = Some(Attributes::new());
            world.apply(entry).unwrap();
        }
        world
    }

    fn instance(type_name: &str, name: &str, kept: Option<&str>, id: Option<&str>) -> StateInstance {
        StateInstance {
            address: format!("{type_name}.{name}"),
            type_name: type_name.to_owned(),
            kept_id: kept.map(str::to_owned),
            id_attribute: id.map(str::to_owned),
        }
    }

    #[test]
    fn names_are_exact_likely_or_guessed_and_each_says_which() {
        let mut world =
            world(&[("a", "a-1"), ("a", "a-2"), ("b", "b-1"), ("c", "c-1"), ("c", "c-2"), ("d", "d-1")]);
        let mut book = AddressBook::default();
        let instances = [
            instance("a", "x", Some("a-1"), Some("a-2")),
            instance("a", "y", None, Some("a-2")),
            instance("b", "z", None, Some("elsewhere")),
            instance("c", "one", None, None),
            // Of another type: an id alone is not enough.
            instance("e", "q", None, Some("d-1")),
        ];
        book.learn(&instances, &world);
        let sure = |id: &str| book.of(id).map(|named| (named.address.as_str(), named.sure));
        assert_eq!(sure("a-1"), Some(("a.x", Sureness::Exact)));
        assert_eq!(sure("a-2"), Some(("a.y", Sureness::Likely)));
        assert_eq!(sure("b-1"), Some(("b.z", Sureness::Guess)));
        assert_eq!((sure("c-1"), sure("d-1")), (None, None), "two objects, one address");
        let doubts = book.doubts(&world);
        assert_eq!(
            doubts,
            [
                "the name a.y of a-2 is likely, by its attribute `id`",
                "the name b.z of b-1 is a guess: the only remaining object of its type",
                "c-1 of type c has no address in the state",
                "c-2 of type c has no address in the state",
                "d-1 of type d has no address in the state",
            ]
        );
        book.name_world(&mut world);
        assert_eq!(world.get("a-1").unwrap().key.as_deref(), Some("a.x"));
        assert_eq!(world.get("c-1").unwrap().key, None);
    }

    #[test]
    fn what_is_known_for_certain_is_not_forgotten_for_a_guess() {
        let world = world(&[("a", "a-1")]);
        let mut book = AddressBook::default();
        book.learn(&[instance("a", "x", Some("a-1"), None)], &world);
        book.learn(&[instance("a", "y", None, Some("a-1"))], &world);
        assert_eq!(book.of("a-1").unwrap().address, "a.x");
        // A move is certain, too, and later.
        book.learn(&[instance("a", "moved", Some("a-1"), None)], &world);
        assert_eq!(book.of("a-1").unwrap().address, "a.moved");
    }
}
