//! Graphs over any number of resources.

use super::Denotation;
use crate::graph::{Edge, Graph, Resource};
use crate::program::Step;
use crate::signature::{AttributeId, Kind, ValueId};

/// A graph over any number of resources: its nodes, its edges with their kinds, and its values that are not the
/// default, each sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparse {
    nodes: Box<[Resource]>,
    edges: Box<[(Edge, Kind)]>,
    values: Box<[(Slot, ValueId)]>,
}

type Slot = (Resource, AttributeId);

fn with_node(nodes: &[Resource], node: Resource) -> Box<[Resource]> {
    let Err(place) = nodes.binary_search(&node) else { return nodes.into() };
    [&nodes[..place], &[node], &nodes[place..]].concat().into()
}

fn with<K: Copy + Ord, V: Copy>(map: &[(K, V)], key: K, value: V) -> Box<[(K, V)]> {
    match map.binary_search_by_key(&key, |entry| entry.0) {
        Ok(place) => [&map[..place], &[(key, value)], &map[place + 1..]].concat().into(),
        Err(place) => [&map[..place], &[(key, value)], &map[place..]].concat().into(),
    }
}

fn without<T: Copy>(set: &[T], unwanted: impl Fn(&T) -> bool) -> Box<[T]> {
    set.iter().filter(|item| !unwanted(item)).copied().collect()
}

impl Sparse {
    fn has(&self, edge: Edge) -> bool {
        self.contains(edge.dependency) && self.contains(edge.dependent)
    }

    fn with_edges(&self, edges: Box<[(Edge, Kind)]>) -> Self {
        Self { nodes: self.nodes.clone(), edges, values: self.values.clone() }
    }
}

impl Denotation for Sparse {
    fn empty() -> Self {
        Self { nodes: Box::default(), edges: Box::default(), values: Box::default() }
    }

    fn contains(&self, resource: Resource) -> bool {
        self.nodes.binary_search(&resource).is_ok()
    }

    fn after(&self, step: Step) -> Option<Self> {
        Some(match step {
            Step::Add(node) => Self {
                nodes: with_node(&self.nodes, node),
                edges: self.edges.clone(),
                values: self.values.clone(),
            },
            Step::Rem(node) if self.contains(node) => Self {
                nodes: without(&self.nodes, |&other| other == node),
                edges: without(&self.edges, |(edge, _)| edge.touches(node)),
                values: without(&self.values, |((other, _), _)| *other == node),
            },
            Step::Con(edge, kind) if self.has(edge) => self.with_edges(with(&self.edges, edge, kind)),
            Step::Disc(edge) if self.has(edge) => {
                self.with_edges(without(&self.edges, |&(other, _)| other == edge))
            }
            Step::Set(node, attribute, value) if self.contains(node) => {
                let slot = (node, attribute);
                let values = if value.is_default() {
                    without(&self.values, |&(other, _)| other == slot)
                } else {
                    with(&self.values, slot, value)
                };
                Self { nodes: self.nodes.clone(), edges: self.edges.clone(), values }
            }
            _ => return None,
        })
    }

    fn size(&self) -> usize {
        self.nodes.len() + self.edges.len() + self.values.len()
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        self.nodes.iter().for_each(|&node| graph.add(node));
        for &(edge, kind) in &self.edges {
            graph.connect(edge, kind).expect("both ends are there, in order");
        }
        for &((node, attribute), value) in &self.values {
            graph.set(node, attribute, value).expect("it is one of the nodes");
        }
        graph
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.edges) + size_of_val(&*self.values)
    }
}
