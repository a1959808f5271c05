//! What Terraform says of a cycle in its graph. It prints the nodes: a resource, its `(expand)`, its `(destroy)`,
//! and with create_before_destroy `(destroy deposed 1a2b3c4d)`.

use crate::evidence::{CycleNode, NodeOperation};

/// How an error that reports a cycle begins.
const CYCLE: &str = "Error: Cycle: ";

/// The nodes of the cycle that an error reports; none if it is another error, or if one of them is no resource.
pub fn nodes(error: &str) -> Option<Vec<CycleNode>> {
    error.strip_prefix(CYCLE)?.split(", ").map(node).collect()
}

fn node(text: &str) -> Option<CycleNode> {
    let (address, operation) = match text.split_once(" (") {
        None => (text, NodeOperation::Make),
        Some((address, operation)) => (
            address,
            match operation.strip_suffix(')')? {
                "expand" => NodeOperation::Make,
                "destroy" => NodeOperation::Delete,
                other => other.strip_prefix("destroy deposed ").map(|_| NodeOperation::DeleteDeposed)?,
            },
        ),
    };
    // A type and a name: other nodes are of providers, outputs, or the engine's own.
    (address.contains('.') && !address.contains([' ', '[']))
        .then(|| CycleNode { address: address.to_owned(), operation })
}
