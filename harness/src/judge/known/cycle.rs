//! What a reported cycle names, held against the nodes that an engine's graph can have in a step.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::Pair;
use crate::evidence::{CycleNode, NodeOperation, Reader};
use crate::spec::changes::Change;
use crate::spec::{NodeKey, Step};

/// Whether the text of a finding reports cycles and nothing else, each of them has both deletes of one of the
/// pairs in it, and all that they name are nodes of the step.
pub fn explained(text: &str, pairs: &[Pair], step: &Step<'_>, reader: &dyn Reader) -> bool {
    let errors = text.split_once(" ended with ").and_then(|(_, rest)| rest.split_once(": "));
    let Some(cycles) = errors.and_then(|(_, errors)| reader.cycles(errors)) else { return false };
    let nodes = Nodes::of(step);
    let deletes = |cycle: &[CycleNode<'_>], resource: &NodeKey| {
        let address = step.address(resource).to_string();
        cycle.iter().any(|node| node.address == address && node.operation != NodeOperation::Make)
    };
    cycles.iter().all(|cycle| {
        let of_pair = |pair: &Pair| deletes(cycle, &pair.dependent) && deletes(cycle, &pair.dependency);
        pairs.iter().any(of_pair) && cycle.iter().all(|node| nodes.has(node))
    })
}

/// The nodes that an engine's graph can have in a step, by address.
struct Nodes {
    made: BTreeSet<String>,
    /// Whether what is deleted is replaced.
    deleted: BTreeMap<String, bool>,
}

impl Nodes {
    fn of(step: &Step<'_>) -> Self {
        let changes = step.changes();
        let address = |number| step.address(changes.numbering.key(number)).to_string();
        let deleted = changes.numbers().filter(|number| changes.of_number(*number).deletes());
        let replaced = |number| changes.of_number(number) == Change::Replaced;
        Self {
            made: changes.after.numbers().map(address).collect(),
            deleted: deleted.map(|number| (address(number), replaced(number))).collect(),
        }
    }

    fn has(&self, node: &CycleNode<'_>) -> bool {
        match node.operation {
            NodeOperation::Make => self.made.contains(node.address),
            NodeOperation::Delete => self.deleted.contains_key(node.address),
            NodeOperation::DeleteDeposed => self.deleted.get(node.address) == Some(&true),
        }
    }
}
