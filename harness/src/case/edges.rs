//! How edges are written, and which resources carry create_before_destroy: chosen by seed, the same wherever
//! the same edge or resource appears.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::EdgeKind;

/// The shares of the choices, and the seed that makes them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeChoice {
    /// The seed.
    pub seed: u64,
    /// The share of edges that are pinned references.
    pub pinned: f64,
    /// The share of edges that are a `depends_on`.
    pub depends_on: f64,
    /// The share of resources with create_before_destroy.
    pub create_before_destroy: f64,
}

impl EdgeChoice {
    /// The kind of an edge.
    pub fn kind(&self, dependency: &str, dependent: &str) -> EdgeKind {
        let place = self.place("edge", &[dependency, dependent]);
        if place < self.pinned {
            EdgeKind::PinnedRefs
        } else if place < self.pinned + self.depends_on {
            EdgeKind::DependsOn
        } else {
            EdgeKind::Refs
        }
    }

    /// Whether a resource carries create_before_destroy.
    pub fn creates_before_destroy(&self, resource: &str) -> bool {
        self.place("resource", &[resource]) < self.create_before_destroy
    }

    /// A number in 0..1 that depends on the seed and the names alone.
    fn place(&self, kind: &str, names: &[&str]) -> f64 {
        let mut hasher = Sha256::new().chain_update(self.seed.to_be_bytes()).chain_update(kind);
        for name in names {
            hasher.update([0]);
            hasher.update(name);
        }
        let digest = hasher.finalize();
        let first = u32::from_be_bytes(*digest.first_chunk().expect("a SHA-256 has 32 bytes"));
        f64::from(first) / (f64::from(u32::MAX) + 1.0)
    }
}
