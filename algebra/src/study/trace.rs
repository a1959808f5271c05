//! What a set of tests visits, counted by fingerprints of graphs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{Edge, Resource};
use crate::program::{Derivation, Step};
use crate::signature::{AttributeId, Kind, ValueId};

/// The graphs that the tests of one source have visited so far.
#[derive(Debug, Default)]
pub struct Tally {
    seen: FxHashSet<u128>,
    new_by_test: Vec<usize>,
    steps: usize,
}

/// What a number of tests came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Diversity {
    /// The distinct graphs they visited on the way.
    pub graphs: f64,
    /// The share of tests that visited no new graph.
    pub redundancy: f64,
    /// The mean length of a program over that of the canonical one.
    pub size: f64,
}

impl Tally {
    /// Counts a test: the graph after each of its steps.
    pub fn count(&mut self, program: &Derivation) {
        let before = self.seen.len();
        let mut graph = Fingerprint::default();
        for &step in program.steps() {
            graph.apply(step);
            self.seen.insert(graph.value);
        }
        self.steps += program.len();
        self.new_by_test.push(self.seen.len() - before);
    }

    /// How many new graphs each test visited.
    pub fn new_by_test(&self) -> &[usize] {
        &self.new_by_test
    }

    /// The figures of all tests so far, for a source whose canonical program has so many steps.
    pub fn diversity(&self, canonical: usize) -> Diversity {
        let tests = self.new_by_test.len().max(1) as f64;
        Diversity {
            graphs: self.seen.len() as f64,
            redundancy: self.new_by_test.iter().filter(|&&new| new == 0).count() as f64 / tests,
            size: self.steps as f64 / tests / canonical.max(1) as f64,
        }
    }
}

/// A graph that knows a number for itself: the sum, without carry, of a random number for each node, each edge with its
/// kind, and each value that is not the default. Two graphs share one with a probability of 2⁻¹²⁸.
#[derive(Debug, Default)]
struct Fingerprint {
    value: u128,
    nodes: FxHashSet<Resource>,
    edges: FxHashMap<Edge, Kind>,
    values: FxHashMap<(Resource, AttributeId), ValueId>,
}

impl Fingerprint {
    fn apply(&mut self, step: Step) {
        match step {
            Step::Add(resource) => {
                if self.nodes.insert(resource) {
                    self.value ^= number(u64::from(resource.index()));
                }
            }
            Step::Rem(resource) => {
                if self.nodes.remove(&resource) {
                    self.value ^= number(u64::from(resource.index()));
                    let gone = self.edges.extract_if(|edge, _| edge.touches(resource));
                    self.value ^= gone.fold(0, |sum, (edge, kind)| sum ^ edge_number(edge, kind));
                    let gone = self.values.extract_if(|slot, _| slot.0 == resource);
                    self.value ^= gone.fold(0, |sum, (slot, value)| sum ^ value_number(slot, value));
                }
            }
            Step::Con(edge, kind) => {
                let before = self.edges.insert(edge, kind);
                self.value ^= before.map_or(0, |before| edge_number(edge, before)) ^ edge_number(edge, kind);
            }
            Step::Disc(edge) => {
                self.value ^= self.edges.remove(&edge).map_or(0, |kind| edge_number(edge, kind));
            }
            Step::Set(resource, attribute, value) => {
                let slot = (resource, attribute);
                let before = self.values.insert(slot, value).unwrap_or(ValueId::DEFAULT);
                self.value ^= value_number(slot, before) ^ value_number(slot, value);
            }
        }
    }
}

fn edge_number(edge: Edge, kind: Kind) -> u128 {
    let pair = (u64::from(edge.dependency.index()) + 1) << 32 | u64::from(edge.dependent.index());
    if kind.is_default() { number(pair) } else { number(pair).rotate_left(8 * u32::from(kind.index())) }
}

/// Nothing for a default.
fn value_number(slot: (Resource, AttributeId), value: ValueId) -> u128 {
    if value.is_default() {
        return 0;
    }
    let name = u64::from(slot.1.index()) << 8 | u64::from(value.index());
    number(u64::from(slot.0.index()) | 1 << 63 | name << 32)
}

/// A number for a key that looks random: two rounds of a well-known 64-bit mixer with different starts.
fn number(key: u64) -> u128 {
    let mix = |start: u64| {
        let mut x = key.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(start);
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    };
    u128::from(mix(0x1234_5678_9ABC_DEF1)) << 64 | u128::from(mix(0x0FED_CBA9_8765_4321))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::generate::{Generator, stream, variants};
    use crate::implicit::{Escape, Pace};
    use crate::signature::Signature;
    use crate::source::Source;
    use crate::weights::Weights;

    #[test]
    fn fingerprints_count_what_graphs_would_count() {
        let mut rng = stream(1, None);
        let weights = Weights::even(Signature::attributed());
        let bare = Source::random(6..=6, 5..=5, &mut rng);
        fingerprints_count_graphs(&bare, Weights::bare());
        fingerprints_count_graphs(&bare.dressed(&weights, &mut rng), &weights);
    }

    fn fingerprints_count_graphs(source: &Source, weights: &Weights) {
        let pace = Pace::Escape { escape: Escape::new(0.5).unwrap(), bound: 60 };
        let (mut tally, mut graphs) = (Tally::default(), BTreeSet::new());
        for program in variants(source, Generator::Implicit { pace, leave: 0.5, weights }, 1).take(200) {
            tally.count(&program);
            program
                .eval_each(|graph| {
                    graphs.insert(graph.clone());
                })
                .unwrap();
        }
        assert_eq!(tally.diversity(11).graphs, graphs.len() as f64);
    }

    #[test]
    fn a_test_that_repeats_another_is_redundant() {
        let mut tally = Tally::default();
        let program = Derivation::new(vec![Step::Add(Resource::new(0))]);
        tally.count(&program);
        tally.count(&program);
        assert_eq!(tally.diversity(1), Diversity { graphs: 1.0, redundancy: 0.5, size: 1.0 });
        assert_eq!(tally.new_by_test(), [1, 0]);
    }
}
