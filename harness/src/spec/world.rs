//! The objects that exist, as the model follows them: what the ledger of a correct run adds up to.
//!
//! A node may have several objects: a replacement that creates first has two for a while, and one whose old object
//! could not be deleted keeps it. What an engine believes about them is its [`memory`](super::memory).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::meaning::{Node, NodeKey};

/// Which object of a node: they are numbered by age, the oldest first. The numbers say nothing beyond one moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// The node.
    pub key: NodeKey,
    /// Its number among the node's objects.
    pub number: u32,
}

/// An object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Object {
    /// Its label.
    pub label: Option<Arc<str>>,
    /// Its pin.
    pub pin: Option<Arc<str>>,
    /// The dependencies that it refers to by an id which they no longer have.
    pub outdated: BTreeSet<NodeKey>,
}

impl From<&Node> for Object {
    fn from(node: &Node) -> Self {
        Self { label: node.label.clone(), pin: node.pin.clone(), outdated: BTreeSet::new() }
    }
}

/// The objects that exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct World {
    /// The objects.
    pub objects: BTreeMap<ObjectId, Object>,
}

/// How an object changes behind the engine's back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drift {
    /// It vanishes.
    Gone,
    /// It gets another label.
    Label(Option<Arc<str>>),
    /// It gets another pin.
    Pin(Option<Arc<str>>),
}

impl World {
    /// A world without objects.
    pub const EMPTY: Self = Self { objects: BTreeMap::new() };

    /// The objects of a node, the oldest first.
    pub fn of_node(&self, key: &NodeKey) -> impl DoubleEndedIterator<Item = (&ObjectId, &Object)> {
        let id = |number| ObjectId { key: key.clone(), number };
        self.objects.range(id(0)..=id(u32::MAX))
    }

    /// Changes an object as a drift says.
    pub(super) fn drift(&mut self, id: &ObjectId, drift: &Drift) {
        if *drift == Drift::Gone {
            self.objects.remove(id);
        } else if let Some(object) = self.objects.get_mut(id) {
            match drift {
                Drift::Label(label) => object.label.clone_from(label),
                Drift::Pin(pin) => object.pin.clone_from(pin),
                Drift::Gone => {}
            }
        }
    }
}
