//! Resource graphs: what a program means.
//!
//! A [`Graph`] speaks of resources by their place in a fixed order, and every edge goes upward in it, so every graph is
//! acyclic by construction. What a resource is called lives beside it, in [`Names`].

mod named;
mod names;
mod order;

use std::collections::BTreeSet;

pub use named::{NamedGraph, NamedGraphError};
pub use names::Names;
pub use order::{CycleError, topological_order};

/// A resource, by its place in the fixed order of the universe it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(u32);

impl Resource {
    /// The resource at a place in the order.
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Its place in the order.
    pub const fn index(self) -> u32 {
        self.0
    }

    /// Its place in the order, to index tables with.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// An edge from a dependency to its dependent: the dependency exists first, and is destroyed last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// What is depended on.
    pub dependency: Resource,
    /// What depends on it.
    pub dependent: Resource,
}

impl Edge {
    /// The edge between two resources.
    pub const fn new(dependency: Resource, dependent: Resource) -> Self {
        Self { dependency, dependent }
    }

    /// Whether the resource is one of the two ends.
    pub fn touches(self, resource: Resource) -> bool {
        self.dependency == resource || self.dependent == resource
    }

    /// Whether it goes upward in the order, as every edge of a graph must.
    pub fn goes_upward(self) -> bool {
        self.dependency < self.dependent
    }
}

/// Why an operation has no meaning on a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// It names a resource that is not in the graph.
    Absent(Resource),
    /// It connects against the order, which would allow a cycle.
    Backward(Edge),
}

/// A set of resources and the edges between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Graph {
    nodes: BTreeSet<Resource>,
    edges: BTreeSet<Edge>,
}

impl Graph {
    /// The resources, in order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Resource> + '_ {
        self.nodes.iter().copied()
    }

    /// The edges, in order.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = Edge> + '_ {
        self.edges.iter().copied()
    }

    /// Whether the resource is there.
    pub fn contains(&self, resource: Resource) -> bool {
        self.nodes.contains(&resource)
    }

    /// Whether the edge is there.
    pub fn connects(&self, edge: Edge) -> bool {
        self.edges.contains(&edge)
    }

    /// The length of the shortest program that builds it: a step for each resource and each edge.
    pub fn size(&self) -> usize {
        self.nodes.len() + self.edges.len()
    }

    /// Puts a resource in; one that is there already stays as it is.
    pub fn add(&mut self, resource: Resource) {
        self.nodes.insert(resource);
    }

    /// Takes a resource out, and its edges with it.
    pub fn remove(&mut self, resource: Resource) -> Result<(), Undefined> {
        if !self.nodes.remove(&resource) {
            return Err(Undefined::Absent(resource));
        }
        self.edges.retain(|edge| !edge.touches(resource));
        Ok(())
    }

    /// Puts an edge in.
    pub fn connect(&mut self, edge: Edge) -> Result<(), Undefined> {
        self.require_ends(edge)?;
        if !edge.goes_upward() {
            return Err(Undefined::Backward(edge));
        }
        self.edges.insert(edge);
        Ok(())
    }

    /// Takes an edge out; one that is not there leaves the graph as it is.
    pub fn disconnect(&mut self, edge: Edge) -> Result<(), Undefined> {
        self.require_ends(edge)?;
        self.edges.remove(&edge);
        Ok(())
    }

    fn require_ends(&self, edge: Edge) -> Result<(), Undefined> {
        match [edge.dependency, edge.dependent].into_iter().find(|&end| !self.contains(end)) {
            Some(absent) => Err(Undefined::Absent(absent)),
            None => Ok(()),
        }
    }

    /// Every graph over the first `resources` resources, smallest node sets first.
    pub fn all_over(resources: u32) -> impl Iterator<Item = Graph> {
        (0..1u64 << resources).flat_map(|node_bits| {
            let nodes: Vec<Resource> =
                (0..u64::BITS).filter(|bit| node_bits >> bit & 1 == 1).map(Resource::new).collect();
            let pairs: Vec<Edge> = nodes
                .iter()
                .enumerate()
                .flat_map(|(at, &dependent)| nodes[..at].iter().map(move |&d| Edge::new(d, dependent)))
                .collect();
            (0..1u64 << pairs.len()).map(move |edge_bits| Graph {
                nodes: nodes.iter().copied().collect(),
                edges: pairs
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| edge_bits >> at & 1 == 1)
                    .map(|(_, &edge)| edge)
                    .collect(),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const R0: Resource = Resource::new(0);
    const R1: Resource = Resource::new(1);

    #[test]
    fn removing_a_resource_takes_its_edges_with_it() {
        let mut graph = Graph::default();
        graph.add(R0);
        graph.add(R1);
        graph.connect(Edge::new(R0, R1)).unwrap();
        graph.remove(R0).unwrap();
        assert_eq!((graph.nodes().collect::<Vec<_>>(), graph.edges().len()), (vec![R1], 0));
    }

    #[test]
    fn an_edge_needs_both_its_ends_and_goes_upward() {
        let mut graph = Graph::default();
        graph.add(R0);
        assert_eq!(graph.connect(Edge::new(R0, R1)), Err(Undefined::Absent(R1)));
        graph.add(R1);
        assert_eq!(graph.connect(Edge::new(R1, R0)), Err(Undefined::Backward(Edge::new(R1, R0))));
        assert_eq!(graph.disconnect(Edge::new(R1, R0)), Ok(()));
    }

    #[test]
    fn the_graphs_over_a_few_resources_are_as_many_as_the_formula_says() {
        let counts: Vec<usize> = (0..=4).map(|resources| Graph::all_over(resources).count()).collect();
        assert_eq!(counts, [1, 2, 5, 18, 113]);
    }
}
