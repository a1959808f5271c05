//! Observation: what a ledger shows of the infrastructure that was built, and nothing that the engine says of itself.

pub(crate) mod meaning;
mod overlap;
mod world_graph;

pub use meaning::meaning_of;
pub use overlap::overlaps;
pub use world_graph::{Dangling, SharedKey, graph_of, shared_keys};
