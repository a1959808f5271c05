//! What is to be there: nodes by key, their attributes and settings, and the edges between them.
//!
//! A meaning knows no addresses: where a node is written, and how, is its [`encoding`](super::encoding).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The key of a node: its name in graphs, cases and the ledger.
pub type NodeKey = Arc<str>;

/// How a node depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// By a reference whose change is an update in place.
    Refs,
    /// By a reference whose change is a replacement.
    PinnedRefs,
    /// By order alone: no value passes, so no change of the dependency shows in the dependent.
    DependsOn,
    /// By a trigger on the whole dependency: a change of it, in place or not, replaces the dependent.
    TriggeredBy,
    /// By a trigger on the dependency's label: a change of that replaces the dependent.
    TriggeredByLabel,
}

impl EdgeKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Refs, Self::PinnedRefs, Self::DependsOn, Self::TriggeredBy, Self::TriggeredByLabel];

    /// Its name, in terms and in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refs => "refs",
            Self::PinnedRefs => "pinned_refs",
            Self::DependsOn => "depends_on",
            Self::TriggeredBy => "triggered_by",
            Self::TriggeredByLabel => "triggered_by_label",
        }
    }

    /// The kind with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether the dependent has the dependency's id among its attributes.
    pub fn leaves_a_value(self) -> bool {
        matches!(self, Self::Refs | Self::PinnedRefs)
    }
}

/// What a node depends on, and how.
pub type Dependencies = BTreeMap<NodeKey, EdgeKind>;

/// A node: what is written of one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// What it depends on, and how.
    pub dependencies: Arc<Dependencies>,
    /// Whether a replacement creates the new object before it deletes the old one.
    pub create_before_destroy: bool,
    /// An attribute that is changed in place.
    pub label: Option<Arc<str>>,
    /// An attribute whose change is a replacement.
    pub pin: Option<Arc<str>>,
    /// Whether a change of the label is ignored once there is an object.
    pub ignore_changes: bool,
    /// Whether the engine has to refuse whatever would delete the object.
    pub prevent_destroy: bool,
}

impl Node {
    /// The dependencies of a kind.
    pub fn by(&self, kind: EdgeKind) -> impl Iterator<Item = &NodeKey> {
        self.dependencies.iter().filter(move |(_, other)| **other == kind).map(|(key, _)| key)
    }
}

/// What is to be there: nodes by their keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meaning {
    /// The nodes.
    pub nodes: BTreeMap<NodeKey, Node>,
}

impl Meaning {
    /// The node with a key.
    pub fn node(&self, key: &str) -> Option<&Node> {
        self.nodes.get(key)
    }
}
