//! What is counted over the whole life of a ledger: creations of one plan, and reads of one object. All types but
//! `mock_node` need both, because their ids and their states in transition follow from them. The counts stand in the
//! index, so that nobody reads the whole ledger for them.

use equiform_proto::ledger::{Digest, Entry, Operation, Phase};
use sha2::{Digest as _, Sha256};

use crate::resource::node::NAME as NODE_TYPE;

/// By what the index finds a count.
pub type CountedHash = [u8; 16];

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted<'a> {
    /// The creations of objects of a type from the same plan that have begun.
    Creations {
        /// The type.
        type_name: &'a str,
        /// The plan.
        planned: Digest,
    },
    /// The reads of an object.
    Reads {
        /// Its id.
        id: &'a str,
    },
}

impl<'a> Counted<'a> {
    /// What an entry counts for.
    pub fn by(entry: &'a Entry) -> Option<Self> {
        // A node has a random id and no states in transition, and there are many of them.
        if entry.type_name.as_deref() == Some(NODE_TYPE) || entry.mode.is_some() {
            return None;
        }
        match (entry.op, entry.phase) {
            (Operation::Create, Phase::Begin) => {
                Some(Self::Creations { type_name: entry.type_name.as_deref()?, planned: entry.planned? })
            }
            (Operation::Read, _) => Some(Self::Reads { id: entry.id.as_deref()? }),
            _ => None,
        }
    }

    /// By what the index finds it.
    pub fn hash(self) -> CountedHash {
        let hasher = match self {
            Self::Creations { type_name, planned } => Sha256::new()
                .chain_update(b"creations\0")
                .chain_update(type_name)
                .chain_update(b"\0")
                .chain_update(planned.0),
            Self::Reads { id } => Sha256::new().chain_update(b"reads\0").chain_update(id),
        };
        *hasher.finalize().first_chunk().expect("a SHA-256 has 32 bytes")
    }
}
