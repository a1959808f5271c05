//! What an engine remembers: for each node its current object, the objects that await deletion, what they depend on
//! and with which settings they were written.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::address::Address;
use super::meaning::{Dependencies, Node, NodeKey};

/// What an engine's state holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Memory {
    /// By node.
    pub nodes: BTreeMap<NodeKey, Remembered>,
}

/// What is remembered of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Where it was written last.
    pub address: Address,
    /// Its object; none if only objects that await deletion are left.
    pub current: Option<Current>,
    /// The numbers of its objects that await deletion, the oldest first.
    pub pending: Vec<u32>,
    /// What it depends on, and how, as it was written last.
    pub dependencies: Arc<Dependencies>,
    /// Whether it was written with create_before_destroy.
    pub create_before_destroy: bool,
}

/// The current object of a node, as the engine knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current {
    /// Its number among the node's objects in the world.
    pub object: u32,
    /// Its label.
    pub label: Option<Arc<str>>,
    /// Its pin.
    pub pin: Option<Arc<str>>,
    /// Whether it is to be replaced: its creation failed halfway, or somebody marked it.
    pub marked: bool,
}

impl Remembered {
    /// What is remembered of a node that was just created.
    pub fn new(address: Address, node: &Node) -> Self {
        let (label, pin) = (node.label.clone(), node.pin.clone());
        Self {
            address,
            current: Some(Current { object: 0, label, pin, marked: false }),
            pending: Vec::new(),
            dependencies: node.dependencies.clone(),
            create_before_destroy: node.create_before_destroy,
        }
    }

    /// Whether the current object is marked to be replaced.
    pub fn is_marked(&self) -> bool {
        self.current.as_ref().is_some_and(|current| current.marked)
    }

    /// The node that describes it as the engine knows it.
    pub fn as_node(&self) -> Node {
        let (label, pin) =
            self.current.as_ref().map(|it| (it.label.clone(), it.pin.clone())).unwrap_or_default();
        Node {
            dependencies: self.dependencies.clone(),
            create_before_destroy: self.create_before_destroy,
            label,
            pin,
            ..Node::default()
        }
    }
}

impl Memory {
    /// Of nothing.
    pub const EMPTY: Self = Self { nodes: BTreeMap::new() };

    /// What is remembered of a node.
    pub fn node(&self, key: &str) -> Option<&Remembered> {
        self.nodes.get(key)
    }
}
