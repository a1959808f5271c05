//! What an engine answers to a query, whichever it is.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::Content;
use crate::spec::OperationKind;

/// An answer to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The objects in the state by their addresses, and the outputs.
    State {
        /// The objects that are current.
        objects: BTreeMap<String, Content>,
        /// The outputs.
        outputs: BTreeMap<String, Json>,
    },
    /// The operations of a saved plan, by the addresses of resources.
    Plan(BTreeSet<(String, OperationKind)>),
    /// The addresses in the state, as often as they are listed.
    Addresses(Vec<String>),
    /// The outputs.
    Outputs(BTreeMap<String, Json>),
    /// Whether the program is valid.
    Validity(bool),
    /// The resources of the program, and the pairs of a dependent and what it depends on. Pairs that follow from
    /// others may be left out.
    Graph {
        /// The addresses.
        nodes: BTreeSet<String>,
        /// The pairs.
        edges: BTreeSet<(String, String)>,
    },
    /// Something that no engine answers, and why it cannot be read.
    Unreadable(String),
}
