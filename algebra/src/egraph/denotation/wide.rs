//! Graphs with attributes and kinds in one wide word.

use super::Denotation;
use crate::egraph::operations::pair_index;
use crate::graph::{Edge, Graph, Resource};
use crate::program::Step;
use crate::signature::{AttributeId, Kind, Signature, ValueId};

/// A graph over at most seven resources: a bit for each node, then two bits for each value, then three for each pair: 0
/// without an edge, and else one more than its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wide(u128);

const NODES: u32 = 7;
const ATTRIBUTES: u32 = 4;
const VALUE_BITS: u32 = 2;
const PAIR_BITS: u32 = 3;
const STATE_BITS: u32 = ATTRIBUTES * VALUE_BITS;
const FIRST_PAIR: u32 = NODES * (1 + STATE_BITS);
/// The lowest bit of each value, and of each pair.
const VALUES: u128 = every(NODES, VALUE_BITS, NODES * ATTRIBUTES);
const PAIRS: u128 = every(FIRST_PAIR, PAIR_BITS, NODES * (NODES - 1) / 2);

const fn every(first: u32, width: u32, count: u32) -> u128 {
    let (mut bits, mut at) = (0, 0);
    while at < count {
        bits |= 1 << (first + at * width);
        at += 1;
    }
    bits
}

const PAIRS_OF: [u128; NODES as usize] = pairs_of();

const fn pairs_of() -> [u128; NODES as usize] {
    let mut masks = [0; NODES as usize];
    let mut pair = 0;
    let mut to = 1;
    while to < masks.len() {
        let mut from = 0;
        while from < to {
            let bits = 0b111 << (FIRST_PAIR + PAIR_BITS * pair);
            masks[from] |= bits;
            masks[to] |= bits;
            pair += 1;
            from += 1;
        }
        to += 1;
    }
    masks
}

impl Wide {
    /// Whether all graphs over so many resources fit.
    pub fn fits(resources: u32, signature: &Signature) -> bool {
        resources <= NODES
            && signature.attributes().len() <= ATTRIBUTES as usize
            && signature.attributes().iter().all(|attribute| attribute.values().len() <= 1 << VALUE_BITS)
            && signature.kinds().len() < 1 << PAIR_BITS
    }

    fn pair_at(edge: Edge) -> u32 {
        FIRST_PAIR + PAIR_BITS * pair_index(edge.dependency, edge.dependent)
    }

    fn value_at(resource: Resource, attribute: AttributeId) -> u32 {
        NODES + resource.index() * STATE_BITS + u32::from(attribute.index()) * VALUE_BITS
    }

    fn field(&self, at: u32, bits: u32) -> u8 {
        u8::try_from(self.0 >> at & ((1 << bits) - 1)).expect("a few bits")
    }

    fn has(&self, edge: Edge) -> bool {
        self.contains(edge.dependency) && self.contains(edge.dependent)
    }
}

impl Denotation for Wide {
    fn empty() -> Self {
        Self(0)
    }

    fn contains(&self, resource: Resource) -> bool {
        self.0 >> resource.index() & 1 == 1
    }

    fn after(&self, step: Step) -> Option<Self> {
        Some(Self(match step {
            Step::Add(node) => self.0 | 1 << node.index(),
            Step::Rem(node) if self.contains(node) => {
                let state = ((1 << STATE_BITS) - 1) << (NODES + node.index() * STATE_BITS);
                self.0 & !(1 << node.index()) & !state & !PAIRS_OF[node.at()]
            }
            Step::Con(edge, kind) if self.has(edge) => {
                let at = Self::pair_at(edge);
                self.0 & !(0b111 << at) | (u128::from(kind.index()) + 1) << at
            }
            Step::Disc(edge) if self.has(edge) => self.0 & !(0b111 << Self::pair_at(edge)),
            Step::Set(node, attribute, value) if self.contains(node) => {
                let at = Self::value_at(node, attribute);
                self.0 & !(0b11 << at) | u128::from(value.index()) << at
            }
            _ => return None,
        }))
    }

    fn size(&self) -> usize {
        let nodes = self.0 & ((1 << NODES) - 1);
        let values = (self.0 | self.0 >> 1) & VALUES;
        let pairs = (self.0 | self.0 >> 1 | self.0 >> 2) & PAIRS;
        (nodes | values | pairs).count_ones() as usize
    }

    fn graph(&self) -> Graph {
        let mut graph = Graph::default();
        let nodes: Vec<Resource> = (0..NODES).map(Resource::new).filter(|&r| self.contains(r)).collect();
        for (at, &node) in nodes.iter().enumerate() {
            graph.add(node);
            for attribute in (0..ATTRIBUTES as u8).map(AttributeId::new) {
                let value = self.field(Self::value_at(node, attribute), VALUE_BITS);
                graph.set(node, attribute, ValueId::new(value)).expect("it was just added");
            }
            for edge in nodes[..at].iter().map(|&from| Edge::new(from, node)) {
                if let Some(kind) = self.field(Self::pair_at(edge), PAIR_BITS).checked_sub(1) {
                    graph.connect(edge, Kind::new(kind)).expect("both ends are there, in order");
                }
            }
        }
        graph
    }

    fn heap_bytes(&self) -> usize {
        0
    }
}
