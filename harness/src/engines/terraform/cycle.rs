//! What Terraform says of a cycle in its graph. It prints the nodes: a resource, its `(expand)`, its `(destroy)`,
//! and with create_before_destroy `(destroy deposed 1a2b3c4d)`.

use crate::evidence::{CycleNode, NodeOperation};

/// How an error that reports a cycle begins.
const CYCLE: &str = "Error: Cycle: ";

/// The cycles that errors report, joined by semicolons; none if there is another error among them, or a node that
/// is no resource.
pub fn cycles(errors: &str) -> Option<Vec<Vec<CycleNode<'_>>>> {
    let cycle = |error| str::strip_prefix(error, CYCLE)?.split(", ").map(node).collect();
    errors.split("; ").map(cycle).collect()
}

fn node(text: &str) -> Option<CycleNode<'_>> {
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
    (address.contains('.') && !address.contains([' ', '['])).then_some(CycleNode { address, operation })
}
