//! What a reported cycle names. Engines print the nodes of their graph: a resource, its `(expand)`, its `(destroy)`, and
//! with create_before_destroy `(destroy deposed 1a2b3c4d)`.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::Pair;
use crate::model::{Deployment, Expectation, Kind};
use crate::render::label;

/// How an error that reports a cycle begins.
const CYCLE: &str = "Error: Cycle: ";

/// What stands before a name in an address.
const PREFIX: &str = "mock_node.";

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    /// It makes an object, or leaves it as it is.
    Make,
    /// It deletes the object.
    Delete,
    /// It deletes the old object once there is a new one.
    DeleteOld,
}

/// A node, by the name of its resource in the program.
type Node<'a> = (&'a str, Deed);

/// Whether the text of a finding reports cycles and nothing else, each of them has both deletes of one of the pairs in
/// it, and all that they name are nodes of the step from `before` to `after`.
pub fn explained(text: &str, pairs: &[Pair<'_>], before: &Deployment, after: &Deployment) -> bool {
    let Some(cycles) = cycles(text) else { return false };
    let step = Nodes::of(before, after);
    let deletes = |cycle: &[Node<'_>], key: &str| {
        let name = label(key);
        cycle.iter().any(|(named, deed)| *named == name && *deed != Deed::Make)
    };
    cycles.iter().all(|cycle| {
        let of_pair = |pair: &Pair<'_>| deletes(cycle, pair.dependent) && deletes(cycle, pair.dependency);
        pairs.iter().any(of_pair) && cycle.iter().all(|node| step.has(node))
    })
}

/// The cycles that a text reports; none if it reports another error too, or a node that is no resource.
fn cycles(text: &str) -> Option<Vec<Vec<Node<'_>>>> {
    let errors =
        text.split_once(" ended with ").and_then(|(_, rest)| rest.split_once(": ")).map(|(_, rest)| rest);
    let cycle = |error| str::strip_prefix(error, CYCLE)?.split(", ").map(node).collect();
    errors?.split("; ").map(cycle).collect()
}

fn node(text: &str) -> Option<Node<'_>> {
    let text = text.strip_prefix(PREFIX)?;
    let Some((name, deed)) = text.split_once(" (") else { return Some((text, Deed::Make)) };
    match deed.strip_suffix(')')? {
        "expand" => Some((name, Deed::Make)),
        "destroy" => Some((name, Deed::Delete)),
        deed => deed.strip_prefix("destroy deposed ").map(|_| (name, Deed::DeleteOld)),
    }
}

/// The nodes that an engine's graph can have in a step.
struct Nodes {
    made: BTreeSet<String>,
    deleted: BTreeMap<String, bool>,
}

impl Nodes {
    fn of(before: &Deployment, after: &Deployment) -> Self {
        let operations = Expectation::between(before, after).operations;
        let deleted = operations.iter().filter(|operation| operation.kind == Kind::Delete);
        let replaced = |key: &str| after.resources.contains_key(key);
        Self {
            made: after.resources.keys().map(|key| label(key)).collect(),
            deleted: deleted.map(|operation| (label(&operation.key), replaced(&operation.key))).collect(),
        }
    }

    fn has(&self, (name, deed): &Node<'_>) -> bool {
        match deed {
            Deed::Make => self.made.contains(*name),
            Deed::Delete => self.deleted.contains_key(*name),
            Deed::DeleteOld => self.deleted.get(*name) == Some(&true),
        }
    }
}
