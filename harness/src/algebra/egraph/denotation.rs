//! What the analysis holds for each class: the graph its programs denote.

use std::fmt::Debug;

use super::operations::pair_index;
use crate::algebra::graph::{Edge, Graph, Resource};
use crate::algebra::rules::StepKind;

/// A graph in a form made for an e-graph: cheap to compare, to copy and to change by one operation.
pub trait Denotation: Clone + Eq + Debug {
    /// The empty graph.
    fn empty() -> Self;

    /// Whether the resource is there.
    fn contains(&self, resource: Resource) -> bool;

    /// The graph after an operation, or nothing if that is not defined. Edges come in the fixed order.
    fn after(&self, kind: StepKind, first: Resource, second: Resource) -> Option<Self>;

    /// Its number of nodes and edges: the length of its shortest program.
    fn size(&self) -> usize;

    /// The graph as others know it.
    fn graph(&self) -> Graph;

    /// How many bytes it takes beside its own size.
    fn heap_bytes(&self) -> usize;
}

/// A graph over at most ten resources in one word: a bit for each node, then a bit for each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed(u64);

impl Packed {
    /// The most resources that fit.
    pub const MOST_RESOURCES: u32 = 10;
    const EDGES_OF: [u64; Self::MOST_RESOURCES as usize] = Self::edges_of();

    const fn edges_of() -> [u64; Self::MOST_RESOURCES as usize] {
        let mut masks = [0; Self::MOST_RESOURCES as usize];
        let mut pair = 0;
        let mut to = 1;
        while to < masks.len() {
            let mut from = 0;
            while from < to {
                let bit = 1 << (Self::MOST_RESOURCES + pair);
                masks[from] |= bit;
                masks[to] |= bit;
                pair += 1;
                from += 1;
            }
            to += 1;
        }
        masks
    }

    fn edge(first: Resource, second: Resource) -> u64 {
        1 << (Self::MOST_RESOURCES + pair_index(first, second))
    }
}

impl Denotation for Packed {
    fn empty() -> Self {
        Self(0)
    }

    fn contains(&self, resource: Resource) -> bool {
        self.0 >> resource.index() & 1 == 1
    }

    fn after(&self, kind: StepKind, first: Resource, second: Resource) -> Option<Self> {
        let defined = kind == StepKind::Add || self.contains(first) && self.contains(second);
        defined.then(|| {
            Self(match kind {
                StepKind::Add => self.0 | 1 << first.index(),
                StepKind::Rem => self.0 & !(1 << first.index()) & !Self::EDGES_OF[first.at()],
                StepKind::Con => self.0 | Self::edge(first, second),
                StepKind::Disc => self.0 & !Self::edge(first, second),
            })
        })
    }

    fn size(&self) -> usize {
        self.0.count_ones() as usize
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let nodes: Vec<Resource> =
            (0..Self::MOST_RESOURCES).map(Resource::new).filter(|&r| self.contains(r)).collect();
        nodes.iter().for_each(|&node| graph.add(node));
        for (at, &second) in nodes.iter().enumerate() {
            for &first in nodes[..at].iter().filter(|&&first| self.0 & Self::edge(first, second) != 0) {
                graph.connect(Edge::new(first, second)).expect("both ends are there, in order");
            }
        }
        graph
    }

    fn heap_bytes(&self) -> usize {
        0
    }
}

/// A graph over any number of resources: its nodes and its edges, each sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sparse {
    nodes: Box<[Resource]>,
    edges: Box<[Edge]>,
}

fn with<T: Copy + Ord>(set: &[T], item: T) -> Box<[T]> {
    let Err(place) = set.binary_search(&item) else { return set.into() };
    [&set[..place], &[item], &set[place..]].concat().into()
}

fn without<T: Copy>(set: &[T], unwanted: impl Fn(&T) -> bool) -> Box<[T]> {
    set.iter().filter(|item| !unwanted(item)).copied().collect()
}

impl Denotation for Sparse {
    fn empty() -> Self {
        Self { nodes: Box::default(), edges: Box::default() }
    }

    fn contains(&self, resource: Resource) -> bool {
        self.nodes.binary_search(&resource).is_ok()
    }

    fn after(&self, kind: StepKind, first: Resource, second: Resource) -> Option<Self> {
        let defined = kind == StepKind::Add || self.contains(first) && self.contains(second);
        let edge = Edge::new(first, second);
        defined.then(|| match kind {
            StepKind::Add => Self { nodes: with(&self.nodes, first), edges: self.edges.clone() },
            StepKind::Rem => Self {
                nodes: without(&self.nodes, |&node| node == first),
                edges: without(&self.edges, |edge| edge.touches(first)),
            },
            StepKind::Con => Self { nodes: self.nodes.clone(), edges: with(&self.edges, edge) },
            StepKind::Disc => {
                Self { nodes: self.nodes.clone(), edges: without(&self.edges, |&other| other == edge) }
            }
        })
    }

    fn size(&self) -> usize {
        self.nodes.len() + self.edges.len()
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        self.nodes.iter().for_each(|&node| graph.add(node));
        self.edges.iter().for_each(|&edge| graph.connect(edge).expect("both ends are there, in order"));
        graph
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::implicit::steps_from;

    fn agrees_with_the_algebra<D: Denotation>() {
        let mut seen = vec![(D::empty(), Graph::default())];
        let mut next = 0;
        while let Some((denotation, graph)) = seen.get(next).cloned() {
            next += 1;
            assert_eq!(denotation.graph(), graph);
            assert_eq!(denotation.size(), graph.size());
            for (step, after) in steps_from(&graph, 4) {
                let (kind, first, second) = StepKind::of(step);
                let denoted = denotation.after(kind, first, second).expect("defined on the graph");
                assert_eq!(denoted.graph(), after);
                if seen.iter().all(|(_, graph)| *graph != after) {
                    seen.push((denoted, after));
                }
            }
            let defined = |kind: StepKind, a: u32, b: u32| {
                denotation.after(kind, Resource::new(a), Resource::new(b)).is_some()
            };
            let nodes: usize =
                StepKind::ALL[..2].iter().map(|&kind| (0..4).filter(|&a| defined(kind, a, a)).count()).sum();
            let pairs = (1..4)
                .flat_map(|b| (0..b).map(move |a| (a, b)))
                .filter(|&(a, b)| defined(StepKind::Con, a, b))
                .count();
            assert_eq!(nodes + 2 * pairs, steps_from(&graph, 4).count());
        }
        assert_eq!(seen.len(), 113);
    }

    #[test]
    fn packed_graphs_follow_the_algebra() {
        agrees_with_the_algebra::<Packed>();
    }

    #[test]
    fn sparse_graphs_follow_the_algebra() {
        agrees_with_the_algebra::<Sparse>();
    }
}
