//! What a reported cycle names, held against the nodes that an engine's graph can have in a step.

use std::collections::{BTreeMap, BTreeSet};

use super::conditions::Pair;
use crate::evidence::{CycleNode, EngineError, NodeOperation};
use crate::spec::changes::Change;
use crate::spec::{NodeKey, Step};

/// Whether errors report cycles and nothing else, each of them has both deletes of one of the pairs in it, and all that
/// they name are nodes of the step.
pub fn explained(errors: &[EngineError], pairs: &[Pair], step: &Step<'_>) -> bool {
    let nodes = Nodes::of(step);
    let deletes = |cycle: &[CycleNode], resource: &NodeKey| {
        let address = step.address(resource).to_string();
        cycle.iter().any(|node| node.address == address && node.operation != NodeOperation::Make)
    };
    let explains = |cycle: &Vec<CycleNode>| {
        let of_pair = |pair: &Pair| deletes(cycle, &pair.dependent) && deletes(cycle, &pair.dependency);
        pairs.iter().any(of_pair) && cycle.iter().all(|node| nodes.has(node))
    };
    !errors.is_empty() && errors.iter().all(|error| error.cycle.as_ref().is_some_and(explains))
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

    fn has(&self, node: &CycleNode) -> bool {
        match node.operation {
            NodeOperation::Make => self.made.contains(&node.address),
            NodeOperation::Delete => self.deleted.contains_key(&node.address),
            NodeOperation::DeleteDeposed => self.deleted.get(&node.address) == Some(&true),
        }
    }
}
