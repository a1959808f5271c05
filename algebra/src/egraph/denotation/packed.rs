//! Graphs of the bare algebra in one word.

use super::Denotation;
use crate::egraph::operations::pair_index;
use crate::graph::{Edge, Graph, Resource};
use crate::program::Step;
use crate::signature::Kind;

/// A graph without attributes and kinds over at most ten resources: a bit for each node, then a bit for each pair.
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

    fn edge(edge: Edge) -> u64 {
        1 << (Self::MOST_RESOURCES + pair_index(edge.dependency, edge.dependent))
    }
}

impl Denotation for Packed {
    fn empty() -> Self {
        Self(0)
    }

    fn contains(&self, resource: Resource) -> bool {
        self.0 >> resource.index() & 1 == 1
    }

    fn after(&self, step: Step) -> Option<Self> {
        let has = |edge: Edge| self.contains(edge.dependency) && self.contains(edge.dependent);
        Some(Self(match step {
            Step::Add(node) => self.0 | 1 << node.index(),
            Step::Rem(node) if self.contains(node) => {
                self.0 & !(1 << node.index()) & !Self::EDGES_OF[node.at()]
            }
            Step::Con(edge, kind) if has(edge) && kind.is_default() => self.0 | Self::edge(edge),
            Step::Disc(edge) if has(edge) => self.0 & !Self::edge(edge),
            _ => return None,
        }))
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
            let edges = nodes[..at].iter().map(|&first| Edge::new(first, second));
            for edge in edges.filter(|&edge| self.0 & Self::edge(edge) != 0) {
                graph.connect(edge, Kind::DEFAULT).expect("both ends are there, in order");
            }
        }
        graph
    }

    fn heap_bytes(&self) -> usize {
        0
    }
}
