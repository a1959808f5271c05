//! What is deployed: the objects that exist, and what the engine remembers of them.
//!
//! It is not what is written. A program says what is to be; after a step that failed, some of what is deployed is as
//! the program says, some as an earlier one said. The world may also have changed behind the engine's back: then it
//! differs from the memory. What a step makes of the two is a matter of the engine family's
//! [`semantics`](super::semantics).

use std::collections::BTreeMap;

use equiform_proto::faults::{Breach, Fault, FaultOperation};

use super::configuration::Configuration;
use super::encoding::Encoding;
use super::meaning::{Node, NodeKey};
use super::memory::{Current, Memory, Remembered};
use super::world::{Drift, Object, ObjectId, World};

/// The objects that exist, and what the engine remembers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deployed {
    /// The objects that exist.
    pub world: World,
    /// What the engine remembers.
    pub memory: Memory,
}

/// What was done is nothing that the model can go on from: a node has objects that no program describes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is left with other objects than those that its program describes")]
pub struct NotModelled {
    /// The node's key.
    pub key: NodeKey,
}

impl Deployed {
    /// Nothing.
    pub const NOTHING: Self = Self { world: World::EMPTY, memory: Memory::EMPTY };

    /// What is there after a program was deployed as a whole where nothing was before.
    pub fn by(configuration: &Configuration) -> Self {
        let Configuration { meaning, encoding } = configuration;
        let mut deployed = Self::NOTHING;
        meaning.nodes.iter().for_each(|(key, node)| deployed.create(key, node, encoding));
        deployed
    }

    /// Adds a node with one object, as it is written.
    pub(super) fn create(&mut self, key: &NodeKey, node: &Node, encoding: &Encoding) {
        self.world.objects.insert(ObjectId { key: key.clone(), number: 0 }, node.into());
        self.memory.nodes.insert(key.clone(), Remembered::new(encoding.address(key), node));
    }

    /// The nodes with a current object, with that object in the world; none where it has vanished.
    pub fn current(&self) -> impl Iterator<Item = (&NodeKey, &Remembered, &Current, Option<&Object>)> {
        let mut objects = self.world.objects.iter().peekable();
        self.memory.nodes.iter().filter_map(move |(key, remembered)| {
            let current = remembered.current.as_ref()?;
            let place = |id: &ObjectId| id.key.cmp(key).then(id.number.cmp(&current.object));
            while objects.next_if(|(id, _)| place(id).is_lt()).is_some() {}
            let object = objects.next_if(|(id, _)| place(id).is_eq()).map(|(_, object)| object);
            Some((key, remembered, current, object))
        })
    }

    /// The keys of the nodes that have a current object, by the engine's memory.
    pub fn keys(&self) -> impl Iterator<Item = &NodeKey> {
        self.memory.nodes.iter().filter(|(_, it)| it.current.is_some()).map(|(key, _)| key)
    }

    /// How many nodes have a current object, by the engine's memory.
    pub fn len(&self) -> usize {
        self.keys().count()
    }

    /// Whether the engine remembers nothing.
    pub fn is_empty(&self) -> bool {
        self.memory.nodes.is_empty()
    }

    /// Whether a node has a current object, by the engine's memory.
    pub fn has(&self, key: &str) -> bool {
        self.memory.node(key).is_some_and(|it| it.current.is_some())
    }

    /// Whether an engine that goes on from here comes to the call that is to fail. It reads what is deployed, and does
    /// not replace what is not there or is to be replaced anyway: an earlier stage may have left less than its program
    /// says.
    pub fn meets(&self, fault: &Fault) -> bool {
        let Some(key) = fault.call.key.as_deref() else { return true };
        match (fault.call.operation, fault.action.breach()) {
            (FaultOperation::Read, _) => self.has(key),
            (FaultOperation::Plan, Some(Breach::InvalidReplacement)) => {
                self.memory.node(key).is_some_and(|it| it.current.is_some() && !it.is_marked())
            }
            _ => true,
        }
    }

    /// The current object of a node in the world.
    pub fn object(&self, key: &NodeKey) -> Option<&Object> {
        let current = self.memory.node(key)?.current.as_ref()?;
        self.world.objects.get(&ObjectId { key: key.clone(), number: current.object })
    }

    /// Whether an object has changed behind the engine's back.
    pub fn has_drifted(&self) -> bool {
        self.current().any(|(_, _, current, object)| differs(current, object))
    }

    /// Whether the current object of a node has changed behind the engine's back.
    pub fn node_has_drifted(&self, key: &NodeKey) -> bool {
        let current = self.memory.node(key).and_then(|it| it.current.as_ref());
        current.is_some_and(|current| differs(current, self.object(key)))
    }

    /// The same after an object has changed behind the engine's back.
    pub fn drifted(mut self, key: &str, drift: &Drift) -> Self {
        let known = self.memory.nodes.get_key_value(key);
        let current = known.and_then(|(key, it)| Some((key.clone(), it.current.as_ref()?.object)));
        if let Some((key, number)) = current {
            self.world.drift(&ObjectId { key, number }, drift);
        }
        self
    }

    /// The same after the engine has read all objects: it knows what has changed behind its back.
    pub fn refreshed(&self) -> Self {
        let seen: BTreeMap<NodeKey, Option<(Current, &Object)>> = self
            .current()
            .filter(|(_, _, current, object)| differs(current, *object))
            .map(|(key, _, current, object)| (key.clone(), object.map(|object| (current.clone(), object))))
            .collect();
        let mut refreshed = self.clone();
        for (key, seen) in seen {
            let remembered = refreshed.memory.nodes.get_mut(&key).expect("it was remembered");
            remembered.current = seen.map(|(current, object)| Current {
                label: object.label.clone(),
                pin: object.pin.clone(),
                ..current
            });
            if remembered.current.is_none() && remembered.pending.is_empty() {
                refreshed.memory.nodes.remove(&key);
            }
        }
        refreshed
    }

    /// The same after a node was marked as one to be replaced, or no longer as such.
    pub fn with_mark(mut self, key: &str, marked: bool) -> Self {
        if let Some(current) = self.memory.nodes.get_mut(key).and_then(|it| it.current.as_mut()) {
            current.marked = marked;
        }
        self
    }
}

/// Whether an object is another one than the engine knows.
fn differs(current: &Current, object: Option<&Object>) -> bool {
    object.is_none_or(|object| object.label != current.label || object.pin != current.pin)
}
