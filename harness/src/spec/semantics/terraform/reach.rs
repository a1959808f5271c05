//! What `-target` reaches.

use std::collections::BTreeSet;

use super::super::Reach;
use crate::spec::configuration::Configuration;
use crate::spec::deployed::Deployed;
use crate::spec::encoding::Encoding;
use crate::spec::meaning::{Meaning, Node, NodeKey};

/// The targets with all that they depend on, as the program says. A target that the program does not have is deleted,
/// with all that depends on it.
pub fn reach(deployed: &Deployed, configuration: &Configuration, targets: &BTreeSet<NodeKey>) -> Reach {
    let mut nodes = BTreeSet::new();
    let mut open: Vec<&NodeKey> = targets.iter().collect();
    while let Some(key) = open.pop() {
        if !nodes.insert(key.clone()) {
            continue;
        }
        match configuration.node(key) {
            Some(node) => open.extend(node.dependencies.keys()),
            None => {
                let dependents = deployed.memory.nodes.iter();
                let dependents = dependents.filter(|(_, it)| it.dependencies.contains_key(key));
                open.extend(dependents.map(|(dependent, _)| dependent));
            }
        }
    }
    let written = configuration.meaning.nodes.iter().filter(|(key, _)| nodes.contains(*key));
    let mut meaning = Meaning { nodes: written.map(|(key, node)| (key.clone(), node.clone())).collect() };
    let mut encoding = configuration.encoding.clone();
    for (key, remembered) in &deployed.memory.nodes {
        if !nodes.contains(key) && remembered.current.is_some() {
            // What the step does not reach passes no setting on: the engine does not look at it.
            let node = Node { create_before_destroy: false, ..remembered.as_node() };
            meaning.nodes.insert(key.clone(), node);
            place(&mut encoding, key, remembered.address.clone());
        }
    }
    Reach { configuration: Configuration { meaning, encoding }, nodes }
}

/// Writes a node where it is remembered.
fn place(encoding: &mut Encoding, key: &NodeKey, address: crate::spec::Address) {
    if encoding.address(key) != address {
        encoding.placed.insert(key.clone(), address);
    }
}
