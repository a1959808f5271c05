//! A program at one point: what it means, and how that is written.

use super::encoding::Encoding;
use super::meaning::{Meaning, Node};

/// A program: its meaning and its encoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// What is to be there.
    pub meaning: Meaning,
    /// Where and how it is written.
    pub encoding: Encoding,
}

impl Configuration {
    /// A program without resources.
    pub const EMPTY: Self =
        Self { meaning: Meaning { nodes: std::collections::BTreeMap::new() }, encoding: Encoding::PLAIN };

    /// The node with a key.
    pub fn node(&self, key: &str) -> Option<&Node> {
        self.meaning.node(key)
    }

    /// Whether it has no resources.
    pub fn is_empty(&self) -> bool {
        self.meaning.nodes.is_empty()
    }
}
