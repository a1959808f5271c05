//! Observation: what a ledger shows of the infrastructure that was built, and nothing that the engine says of itself.

mod resource_graph;

pub use resource_graph::{Dangling, ResourceGraph};
