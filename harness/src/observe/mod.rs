//! Observation: what a ledger shows of the infrastructure that was built, and nothing that the engine says of itself.

mod world_graph;

pub use world_graph::{Dangling, graph_of};
