//! Resource graphs: what a program means.
//!
//! A [`Graph`] speaks of resources by their place in a fixed order, and every edge goes upward in it, so every graph is
//! acyclic by construction. What a resource is called lives beside it, in [`Names`]. Each resource has a value of each
//! attribute and each edge a kind; what is not said is the default.

mod named;
mod names;
mod order;

use std::collections::{BTreeMap, BTreeSet};

use super::signature::{AttributeId, Kind, Signature, ValueId};

pub use named::{EdgeNames, NamedGraph, NamedGraphError};
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

/// A set of resources with their values, and the edges between them with their kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Graph {
    nodes: BTreeSet<Resource>,
    edges: BTreeMap<Edge, Kind>,
    /// Those that are not the default.
    values: BTreeMap<(Resource, AttributeId), ValueId>,
}

impl Graph {
    /// The resources, in order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Resource> + '_ {
        self.nodes.iter().copied()
    }

    /// The edges, in order.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = Edge> + '_ {
        self.edges.keys().copied()
    }

    /// The edges with their kinds, in order.
    pub fn kinds(&self) -> impl ExactSizeIterator<Item = (Edge, Kind)> + '_ {
        self.edges.iter().map(|(&edge, &kind)| (edge, kind))
    }

    /// All values that are not the default, in the order of their resources.
    pub fn values(&self) -> impl ExactSizeIterator<Item = (Resource, AttributeId, ValueId)> + '_ {
        self.values.iter().map(|(&(resource, attribute), &value)| (resource, attribute, value))
    }

    /// The values of a resource that are not the default.
    pub fn values_of(&self, resource: Resource) -> impl Iterator<Item = (AttributeId, ValueId)> + '_ {
        let all = (resource, AttributeId::new(0))..=(resource, AttributeId::new(u8::MAX));
        self.values.range(all).map(|(&(_, attribute), &value)| (attribute, value))
    }

    /// Whether the resource is there.
    pub fn contains(&self, resource: Resource) -> bool {
        self.nodes.contains(&resource)
    }

    /// Whether the edge is there, of whatever kind.
    pub fn connects(&self, edge: Edge) -> bool {
        self.edges.contains_key(&edge)
    }

    /// The kind of an edge, if it is there.
    pub fn kind(&self, edge: Edge) -> Option<Kind> {
        self.edges.get(&edge).copied()
    }

    /// The value that a resource has; the default if nothing else was said.
    pub fn value(&self, resource: Resource, attribute: AttributeId) -> ValueId {
        self.values.get(&(resource, attribute)).copied().unwrap_or(ValueId::DEFAULT)
    }

    /// The length of the shortest program that builds it: a step for each resource, each edge, and each value that is
    /// not the default.
    pub fn size(&self) -> usize {
        self.nodes.len() + self.edges.len() + self.values.len()
    }

    /// Puts a resource in; one that is there already stays as it is.
    pub fn add(&mut self, resource: Resource) {
        self.nodes.insert(resource);
    }

    /// Takes a resource out, and its edges and values with it.
    pub fn remove(&mut self, resource: Resource) -> Result<(), Undefined> {
        if !self.nodes.remove(&resource) {
            return Err(Undefined::Absent(resource));
        }
        self.edges.retain(|edge, _| !edge.touches(resource));
        self.values.retain(|&(other, _), _| other != resource);
        Ok(())
    }

    /// Gives a resource a value, in place of the one it had.
    pub fn set(
        &mut self,
        resource: Resource,
        attribute: AttributeId,
        value: ValueId,
    ) -> Result<(), Undefined> {
        if !self.contains(resource) {
            return Err(Undefined::Absent(resource));
        }
        if value.is_default() {
            self.values.remove(&(resource, attribute));
        } else {
            self.values.insert((resource, attribute), value);
        }
        Ok(())
    }

    /// Puts an edge in; one that is there already takes the new kind.
    pub fn connect(&mut self, edge: Edge, kind: Kind) -> Result<(), Undefined> {
        self.require_ends(edge)?;
        if !edge.goes_upward() {
            return Err(Undefined::Backward(edge));
        }
        self.edges.insert(edge, kind);
        Ok(())
    }

    /// Takes an edge out, of whatever kind; one that is not there leaves the graph as it is.
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
    pub fn all_over(resources: u32, signature: &Signature) -> impl Iterator<Item = Graph> {
        let attributes: Vec<(AttributeId, u8)> = (0..)
            .map(AttributeId::new)
            .zip(signature.attributes())
            .map(|(id, attribute)| (id, u8::try_from(attribute.values().len()).expect("a few values")))
            .collect();
        let edge_states = u8::try_from(signature.kinds().len()).expect("a few kinds") + 1;
        (0..1u64 << resources).flat_map(move |node_bits| {
            let nodes: Vec<Resource> =
                (0..u64::BITS).filter(|bit| node_bits >> bit & 1 == 1).map(Resource::new).collect();
            let pairs: Vec<Edge> = nodes
                .iter()
                .enumerate()
                .flat_map(|(at, &dependent)| nodes[..at].iter().map(move |&d| Edge::new(d, dependent)))
                .collect();
            let slots: Vec<(Resource, AttributeId, u8)> = nodes
                .iter()
                .flat_map(|&node| attributes.iter().map(move |&(id, count)| (node, id, count)))
                .collect();
            let choices: Vec<u8> =
                slots.iter().map(|slot| slot.2).chain(pairs.iter().map(|_| edge_states)).collect();
            all_choices(choices).map(move |chosen| {
                let (values, kinds) = chosen.split_at(slots.len());
                Graph {
                    nodes: nodes.iter().copied().collect(),
                    edges: pairs
                        .iter()
                        .zip(kinds)
                        .filter_map(|(&edge, &kind)| Some((edge, Kind::new(kind.checked_sub(1)?))))
                        .collect(),
                    values: slots
                        .iter()
                        .zip(values)
                        .filter(|(_, value)| **value > 0)
                        .map(|(slot, &value)| ((slot.0, slot.1), ValueId::new(value)))
                        .collect(),
                }
            })
        })
    }
}

/// Every way to choose a number below each of the limits, the first number changing fastest.
fn all_choices(limits: Vec<u8>) -> impl Iterator<Item = Vec<u8>> {
    let first = limits.iter().all(|&limit| limit > 0).then(|| vec![0; limits.len()]);
    std::iter::successors(first, move |chosen| {
        let at = (0..limits.len()).find(|&at| chosen[at] + 1 < limits[at])?;
        let mut next = chosen.clone();
        next[..at].fill(0);
        next[at] += 1;
        Some(next)
    })
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
        graph.connect(Edge::new(R0, R1), Kind::DEFAULT).unwrap();
        graph.remove(R0).unwrap();
        assert_eq!((graph.nodes().collect::<Vec<_>>(), graph.edges().len()), (vec![R1], 0));
    }

    #[test]
    fn an_edge_needs_both_its_ends_and_goes_upward() {
        let mut graph = Graph::default();
        graph.add(R0);
        assert_eq!(graph.connect(Edge::new(R0, R1), Kind::DEFAULT), Err(Undefined::Absent(R1)));
        graph.add(R1);
        assert_eq!(
            graph.connect(Edge::new(R1, R0), Kind::DEFAULT),
            Err(Undefined::Backward(Edge::new(R1, R0)))
        );
        assert_eq!(graph.disconnect(Edge::new(R1, R0)), Ok(()));
    }

    #[test]
    fn the_graphs_over_a_few_resources_are_as_many_as_the_formula_says() {
        let signatures = [
            Signature::bare().clone(),
            Signature::part(&[2], 1),
            Signature::part(&[], 2),
            Signature::part(&[3], 2),
            Signature::part(&[2, 2], 2),
        ];
        for signature in signatures {
            for resources in 0..=3 {
                let graphs: BTreeSet<Graph> = Graph::all_over(resources, &signature).collect();
                assert_eq!(Some(graphs.len() as u128), signature.graphs(resources), "{signature:?}");
            }
        }
        assert_eq!(Graph::all_over(4, Signature::bare()).count(), 113);
    }

    #[test]
    fn a_resource_that_comes_back_has_the_defaults() {
        let (label, a) = (AttributeId::new(0), ValueId::new(1));
        let mut graph = Graph::default();
        assert_eq!(graph.set(R0, label, a), Err(Undefined::Absent(R0)));
        graph.add(R0);
        graph.set(R0, label, a).unwrap();
        graph.add(R0);
        assert_eq!((graph.value(R0, label), graph.size()), (a, 2));
        graph.remove(R0).unwrap();
        graph.add(R0);
        assert_eq!((graph.value(R0, label), graph.size()), (ValueId::DEFAULT, 1));
    }

    #[test]
    fn the_last_kind_and_the_last_value_win() {
        let (edge, label) = (Edge::new(R0, R1), AttributeId::new(0));
        let mut graph = Graph::default();
        graph.add(R0);
        graph.add(R1);
        for kind in [3, 1].map(Kind::new) {
            graph.connect(edge, kind).unwrap();
            assert_eq!(graph.kind(edge), Some(kind));
        }
        for value in [2, 1].map(ValueId::new) {
            graph.set(R1, label, value).unwrap();
            assert_eq!(graph.values_of(R1).collect::<Vec<_>>(), [(label, value)]);
        }
        assert_eq!(graph.size(), 4);
        graph.set(R1, label, ValueId::DEFAULT).unwrap();
        assert_eq!((graph.size(), graph.values().len()), (3, 0));
    }
}
