//! Sources: the graphs that tests start from.

mod shape;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use rand::seq::index;
use rand::{Rng, RngExt};

use crate::graph::{Edge, Graph, NamedGraph, NamedGraphError, Names, Resource};
use crate::signature::Kind;
use crate::weights::Weights;

/// A graph to make programs for, in a universe that may have more resources than the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The graph.
    pub graph: Graph,
    /// The names of all resources of the universe.
    pub names: Names,
}

impl Source {
    /// A graph with a number of nodes and of edges from these ranges, all edges equally likely. More edges than the
    /// nodes have room for are not drawn.
    pub fn random(nodes: RangeInclusive<u32>, edges: RangeInclusive<u64>, rng: &mut impl Rng) -> Self {
        let nodes = rng.random_range(nodes);
        let pairs = most_edges(nodes);
        let edges = rng.random_range((*edges.start()).min(pairs)..=(*edges.end()).min(pairs));
        let amount = |count: u64| usize::try_from(count).expect("as many edges as memory has room for");
        let mut graph = Graph::default();
        (0..nodes).map(Resource::new).for_each(|node| graph.add(node));
        for pair in index::sample(rng, amount(pairs), amount(edges)) {
            graph.connect(edge_of_pair(pair as u64), Kind::DEFAULT).expect("both ends are there, in order");
        }
        Self { graph, names: Names::numbered(nodes) }
    }

    /// A graph shaped like those of real programs: as many nodes and edges, as deep, as wide, as many isolated.
    pub fn real(rng: &mut impl Rng) -> Self {
        let graph = shape::draw(rng);
        let names = Names::numbered(u32::try_from(graph.nodes().len()).expect("shapes are small"));
        Self { graph, names }
    }

    /// A graph that was given by name.
    pub fn named(graph: &NamedGraph) -> Result<Self, NamedGraphError> {
        let (graph, names) = graph.resolve()?;
        Ok(Self { graph, names })
    }

    /// The same source in a universe with so many more resources. They are called `x0`, `x1`, … and take any places in
    /// the order, so that programs can connect them both ways.
    pub fn with_foreign(self, count: u32, rng: &mut impl Rng) -> Self {
        let total = self.names.count() + count;
        let mut foreign: Vec<usize> = index::sample(rng, total as usize, count as usize).into_vec();
        foreign.sort_unstable();
        let mut own_names = self.names.iter();
        let taken: BTreeSet<&str> = self.names.iter().filter(|name| name.starts_with('x')).collect();
        let mut new_names =
            (0..).map(|number| format!("x{number}")).filter(|name| !taken.contains(name.as_str()));
        let mut places = Vec::new();
        let mut names = Vec::new();
        for index in 0..total {
            if foreign.binary_search(&(index as usize)).is_ok() {
                names.extend(new_names.next());
            } else {
                places.push(Resource::new(index));
                names.extend(own_names.next().map(str::to_owned));
            }
        }
        let mut graph = Graph::default();
        self.graph.nodes().for_each(|node| graph.add(places[node.at()]));
        for (edge, kind) in self.graph.kinds() {
            let moved = Edge::new(places[edge.dependency.at()], places[edge.dependent.at()]);
            graph.connect(moved, kind).expect("the order among the source's resources is as it was");
        }
        for (node, attribute, value) in self.graph.values() {
            graph.set(places[node.at()], attribute, value).expect("all nodes are there");
        }
        Self { graph, names: Names::new(names) }
    }

    /// The same resources and edges, with values and kinds drawn by these weights. Nothing is drawn, and nothing
    /// changes, where they leave no choice.
    pub fn dressed(mut self, weights: &Weights, rng: &mut impl Rng) -> Self {
        let nodes: Vec<Resource> = self.graph.nodes().collect();
        for node in nodes {
            for attribute in weights.varied() {
                let value = weights.value(attribute, rng);
                self.graph.set(node, attribute, value).expect("it is one of the nodes");
            }
        }
        if weights.varies_kinds() {
            let edges: Vec<Edge> = self.graph.edges().collect();
            for edge in edges {
                self.graph.connect(edge, weights.kind(rng)).expect("it is one of the edges");
            }
        }
        self
    }
}

/// The number of edges a graph with so many nodes has room for.
pub fn most_edges(nodes: u32) -> u64 {
    u64::from(nodes) * u64::from(nodes).saturating_sub(1) / 2
}

/// The edge at a place in the list of all edges, those to lower dependents first.
fn edge_of_pair(pair: u64) -> Edge {
    let dependent = ((1.0 + (1.0 + 8.0 * pair as f64).sqrt()) / 2.0) as u64;
    // The root may be off by one for large numbers.
    let dependent = (dependent.saturating_sub(1)..=dependent + 1)
        .rev()
        .find(|&b| b * b.saturating_sub(1) / 2 <= pair)
        .expect("one of the three is it");
    let resource = |index: u64| Resource::new(u32::try_from(index).expect("fewer than 2^32 resources"));
    Edge::new(resource(pair - dependent * (dependent - 1) / 2), resource(dependent))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::signature::Signature;

    #[test]
    fn every_pair_has_its_place() {
        let expected =
            (1..60).flat_map(|b| (0..b).map(move |a| Edge::new(Resource::new(a), Resource::new(b))));
        for (pair, edge) in expected.enumerate() {
            assert_eq!(edge_of_pair(pair as u64), edge);
        }
    }

    #[test]
    fn a_random_source_has_what_was_asked_for() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let source = Source::random(7..=7, 9..=9, &mut rng);
        assert_eq!((source.graph.nodes().len(), source.graph.edges().len()), (7, 9));
        let full = Source::random(4..=4, 0..=100, &mut rng);
        assert!(full.graph.edges().len() <= 6);
    }

    #[test]
    fn a_dressed_source_has_values_and_kinds_by_their_weights() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let source = Source::random(200..=200, 300..=300, &mut rng);
        let weights = Weights::half_default(Signature::attributed());
        let dressed = source.clone().dressed(&weights, &mut rng);
        let kinds = dressed.graph.kinds().filter(|(_, kind)| !kind.is_default()).count();
        assert!((120..180).contains(&kinds), "{kinds} of 300 edges");
        let values = dressed.graph.values().len();
        assert!((350..450).contains(&values), "{values} of 800 values");
        assert_eq!(source.clone().dressed(Weights::bare(), &mut rng), source);
    }

    #[test]
    fn foreign_resources_leave_the_source_as_it_is() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let weights = Weights::even(Signature::attributed());
        let source = Source::random(7..=7, 9..=9, &mut rng).dressed(&weights, &mut rng);
        let wider = source.clone().with_foreign(4, &mut rng);
        assert_eq!(wider.names.count(), 11);
        assert_eq!(
            NamedGraph::new(&source.graph, &source.names),
            NamedGraph::new(&wider.graph, &wider.names)
        );
    }
}
