//! What is written: a program's resource blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::address::Address;

/// How a resource depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// By a reference whose change is an update in place.
    Refs,
    /// By a reference whose change is a replacement.
    PinnedRefs,
    /// By order alone: no value passes, so no change of the dependency shows in the dependent.
    DependsOn,
    /// By `replace_triggered_by` the whole resource: a change of it, in place or not, replaces the dependent.
    TriggeredBy,
    /// By `replace_triggered_by` the resource's label: a change of that replaces the dependent.
    TriggeredByLabel,
}

impl EdgeKind {
    /// All there are.
    pub const ALL: [Self; 5] =
        [Self::Refs, Self::PinnedRefs, Self::DependsOn, Self::TriggeredBy, Self::TriggeredByLabel];

    /// Its name, in programs of the algebra and for people.
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

/// What a resource depends on, and how.
pub type Dependencies = BTreeMap<Address, EdgeKind>;

/// A resource block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Block {
    /// The resource's key, by which the ledger knows it.
    pub key: Arc<str>,
    /// What it depends on, and how.
    pub dependencies: Arc<Dependencies>,
    /// Whether a replacement makes the new object before it deletes the old one.
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

impl Block {
    /// The dependencies of a kind.
    pub fn by(&self, kind: EdgeKind) -> impl Iterator<Item = &Address> {
        self.dependencies.iter().filter(move |(_, other)| **other == kind).map(|(address, _)| address)
    }
}

/// A program: its blocks by their addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    /// The blocks.
    pub blocks: BTreeMap<Address, Block>,
    /// Whether it tells of each resource's id and label by an output of the resource's name.
    pub outputs: bool,
}

impl Program {
    /// A program without resources.
    pub const EMPTY: Self = Self { blocks: BTreeMap::new(), outputs: false };

    /// The key of the block at an address.
    pub fn key(&self, address: &Address) -> Option<&Arc<str>> {
        self.blocks.get(address).map(|block| &block.key)
    }

    /// The block with a key, and its address. Plain programs have it where its key says; others are searched.
    pub fn by_key(&self, key: &str) -> Option<(&Address, &Block)> {
        let usual = self.blocks.get_key_value(&Address::of_node(key)).filter(|(_, block)| &*block.key == key);
        usual.or_else(|| self.blocks.iter().find(|(_, block)| &*block.key == key))
    }
}
