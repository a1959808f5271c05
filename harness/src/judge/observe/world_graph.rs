//! The graph that the objects of a world form by the ids they hold.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::{Object, World};
use serde::Serialize;

use crate::algebra::graph::NamedGraph;

/// A reference to an object that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, thiserror::Error)]
#[error("{node} refers by {path} to {id}, which does not exist")]
pub struct Dangling {
    /// The node that refers.
    pub node: String,
    /// The attribute that holds the id.
    pub path: String,
    /// The id that no object has.
    pub id: String,
}

/// Objects with the same key, which are one node of the graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} is the key of {} objects: {}", ids.len(), ids.join(", "))]
pub struct SharedKey {
    /// The key.
    pub key: String,
    /// The ids of the objects, sorted.
    pub ids: Vec<String>,
}

/// The keys that several objects of a world have, in order.
pub fn shared_keys(world: &World) -> Vec<SharedKey> {
    let mut ids: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for object in world.unordered() {
        ids.entry(node_name(object)).or_default().push(object.id.clone());
    }
    let shared = ids.into_iter().filter(|(_, ids)| ids.len() > 1);
    shared
        .map(|(key, mut ids)| {
            ids.sort_unstable();
            SharedKey { key: key.to_owned(), ids }
        })
        .collect()
}

/// The graph of a world, and the references that lead nowhere and so are no edges.
///
/// A node is named by its object's key, or by the id if it has none. Objects with the same key, as a
/// replacement has them for a while, are one node; [`shared_keys`] names them.
pub fn graph_of(world: &World) -> (NamedGraph, Vec<Dangling>) {
    // Sorted once, in the end: a tree that grows name by name takes much longer.
    let (mut nodes, mut edges) = (Vec::with_capacity(world.len()), Vec::new());
    let mut dangling = BTreeSet::new();
    for object in world.unordered() {
        let dependent = node_name(object);
        nodes.push(dependent);
        for reference in &object.refs {
            match world.get(&reference.id) {
                Some(dependency) => {
                    edges.push((node_name(dependency), dependent));
                }
                None => {
                    dangling.insert(Dangling {
                        node: dependent.to_owned(),
                        path: reference.path.clone(),
                        id: reference.id.clone(),
                    });
                }
            }
        }
    }
    nodes.sort_unstable();
    edges.sort_unstable();
    let graph = NamedGraph {
        nodes: nodes.into_iter().map(str::to_owned).collect(),
        edges: edges.into_iter().map(|(from, to)| (from.to_owned(), to.to_owned())).collect(),
        ..NamedGraph::default()
    };
    (graph, dangling.into_iter().collect())
}

/// What an object is called in the graph.
fn node_name(object: &Object) -> &str {
    object.key.as_deref().unwrap_or(&object.id)
}

#[cfg(test)]
mod tests {
    use equiform_proto::ledger::{Attributes, Entry, LineHash, Operation, Phase, Reference};

    use super::*;

    fn world(objects: &[(Option<&str>, &str, &[&str])]) -> World {
        let mut world = World::default();
        for (seq, (key, id, refs)) in (1..).zip(objects) {
            let mut entry = Entry::new(seq, Operation::Create, Phase::Commit, 1, LineHash([0; 32]));
            entry.key = key.map(str::to_owned);
            entry.id = Some((*id).to_owned());
            entry.after = Some(Attributes::new());
            entry.refs =
                refs.iter().map(|id| Reference { path: "refs".to_owned(), id: (*id).to_owned() }).collect();
            world.apply(entry).unwrap();
        }
        world
    }

    fn json(world: &World) -> String {
        serde_json::to_string(&graph_of(world).0).unwrap()
    }

    #[test]
    fn edges_lead_from_the_dependency_to_its_dependent() {
        let world = world(&[(Some("r1"), "node-a", &["node-b"]), (Some("r0"), "node-b", &[])]);
        assert_eq!(json(&world), r#"{"nodes":["r0","r1"],"edges":[["r0","r1"]]}"#);
    }

    #[test]
    fn json_reads_back_as_the_same_graph() {
        let world = world(&[(Some("r1"), "node-a", &["node-b"]), (Some("r0"), "node-b", &[])]);
        let graph = graph_of(&world).0;
        assert_eq!(serde_json::from_str::<NamedGraph>(&json(&world)).unwrap(), graph);
    }

    #[test]
    fn objects_with_the_same_key_are_one_node() {
        let world = world(&[
            (Some("r0"), "node-a", &[]),
            (Some("r0"), "node-b", &[]),
            (Some("r1"), "node-c", &["node-a"]),
            (Some("r2"), "node-d", &["node-b"]),
        ]);
        assert_eq!(json(&world), r#"{"nodes":["r0","r1","r2"],"edges":[["r0","r1"],["r0","r2"]]}"#);
    }

    #[test]
    fn a_key_that_several_objects_have_is_told_with_their_ids() {
        let world =
            world(&[(Some("r0"), "node-b", &[]), (Some("r0"), "node-a", &[]), (Some("r1"), "node-c", &[])]);
        let told: Vec<String> = shared_keys(&world).iter().map(SharedKey::to_string).collect();
        assert_eq!(told, ["r0 is the key of 2 objects: node-a, node-b"]);
    }

    #[test]
    fn an_object_without_a_key_goes_by_its_id() {
        let world = world(&[(None, "node-a", &[]), (Some("r1"), "node-c", &["node-a"])]);
        assert_eq!(json(&world), r#"{"nodes":["node-a","r1"],"edges":[["node-a","r1"]]}"#);
    }

    #[test]
    fn a_reference_to_nothing_is_kept_apart() {
        let (graph, dangling) = graph_of(&world(&[(Some("r1"), "node-a", &["node-gone"])]));
        assert!(graph.edges.is_empty());
        assert_eq!(dangling[0].to_string(), "r1 refers by refs to node-gone, which does not exist");
    }
}
