//! Graph JSON that a user names on the command line.

use crate::graph::NamedGraph;
use crate::source::most_edges;

/// The expected form of a graph.
pub const EXPECTED: &str = "Expected is graph JSON such as {\"nodes\":[\"a\",\"b\"],\"edges\":[[\"a\",\"b\"]]}, \
                            an edge from the dependency to its dependent (docs/formats.md)";

/// Reads a graph. The error says what is wrong with the text, and what is expected.
pub fn parse_graph(json: &str) -> Result<NamedGraph, String> {
    serde_json::from_str(json).map_err(|error| format!("it is not a graph: {error}. {EXPECTED}"))
}

/// The message that this many resources cannot have this many edges.
pub fn no_room(resources: u32, edges: u32) -> String {
    let room = most_edges(resources);
    format!("{resources} resources allow at most {room} edges, not {edges}: one for each pair, and no cycle")
}
