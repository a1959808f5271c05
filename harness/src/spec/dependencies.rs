//! Dependency graphs over numbers instead of keys: a step through a large program is then a step through a
//! vector.

use petgraph::csr::Csr;
use petgraph::visit::{Dfs, DfsPostOrder};
use petgraph::{Directed, visit::Visitable};
use rustc_hash::FxHashMap;

use super::configuration::Configuration;
use super::deployed::Deployed;
use super::meaning::{Dependencies, EdgeKind, NodeKey};

/// The number of a node: its place among all of them, sorted by key.
pub type Number = u32;

/// The nodes of what is deployed and of a program, numbered.
pub struct Numbering {
    keys: Vec<NodeKey>,
    numbers: FxHashMap<NodeKey, Number>,
}

impl Numbering {
    /// Of all that is remembered or written.
    pub fn of(deployed: &Deployed, configuration: &Configuration) -> Self {
        let there = deployed.memory.nodes.keys();
        let mut keys: Vec<NodeKey> = there.chain(configuration.meaning.nodes.keys()).cloned().collect();
        keys.sort_unstable();
        keys.dedup();
        let numbers = (0..).zip(&keys).map(|(number, key)| (key.clone(), number)).collect();
        Self { keys, numbers }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The key with a number.
    pub fn key(&self, number: Number) -> &NodeKey {
        &self.keys[number as usize]
    }

    /// The number of a key.
    pub fn number(&self, key: &str) -> Option<Number> {
        self.numbers.get(key).copied()
    }

    /// What is deployed, as the engine remembers it, over numbers.
    pub fn deployed(&self, deployed: &Deployed) -> NumberedGraph {
        let mut nodes = deployed.memory.nodes.iter().peekable();
        self.graph(|key| {
            let (_, remembered) = nodes.next_if(|(next, _)| *next == key)?;
            remembered.current.as_ref()?;
            Some((&*remembered.dependencies, remembered.create_before_destroy))
        })
    }

    /// A program, over numbers.
    pub fn written(&self, configuration: &Configuration) -> NumberedGraph {
        let mut nodes = configuration.meaning.nodes.iter().peekable();
        self.graph(|key| {
            let (_, node) = nodes.next_if(|(next, _)| *next == key)?;
            Some((&*node.dependencies, node.create_before_destroy))
        })
    }

    /// `next` is asked in the order of the numbers. Dependencies on what has no number are left out.
    fn graph<'a>(&self, mut next: impl FnMut(&NodeKey) -> Option<(&'a Dependencies, bool)>) -> NumberedGraph {
        let mut present = Vec::with_capacity(self.len());
        let mut asks = vec![false; self.len()];
        let mut edges: Vec<(Number, Number, EdgeKind)> = Vec::new();
        for (number, key) in (0..).zip(&self.keys) {
            let described = next(key);
            present.push(described.is_some());
            let Some((dependencies, create_before_destroy)) = described else { continue };
            asks[number as usize] = create_before_destroy;
            edges.extend(
                dependencies
                    .iter()
                    .filter_map(|(dependency, kind)| Some((number, self.number(dependency)?, *kind))),
            );
        }
        let mut graph = Csr::from_sorted_edges(&edges).expect("keys are sorted, and so are dependencies");
        while graph.node_count() < self.len() {
            graph.add_node(());
        }
        NumberedGraph { present, asks, graph }
    }
}

/// A dependency graph over numbers: edges lead from the dependent to its dependencies.
pub struct NumberedGraph {
    present: Vec<bool>,
    /// Whether a node asks for create_before_destroy.
    asks: Vec<bool>,
    graph: Csr<(), EdgeKind, Directed, Number>,
}

impl NumberedGraph {
    /// The numbers that are in it.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = Number> {
        (0..self.present.len() as Number).filter(|number| self.has(*number))
    }

    /// Whether a number is in it.
    pub fn has(&self, number: Number) -> bool {
        self.present[number as usize]
    }

    /// What a node depends on, in the order of the numbers.
    pub fn dependencies(&self, number: Number) -> &[Number] {
        self.graph.neighbors_slice(number)
    }

    /// What a node depends on by edges of a kind, in the order of the numbers.
    pub fn by(&self, kind: EdgeKind, number: Number) -> impl Iterator<Item = Number> {
        let edges = self.dependencies(number).iter().zip(self.graph.edges_slice(number));
        edges.filter(move |(_, other)| **other == kind).map(|(dependency, _)| *dependency)
    }

    /// The edge by which a node depends on another, if there is one.
    pub fn edge(&self, dependency: Number, dependent: Number) -> Option<EdgeKind> {
        let place = self.dependencies(dependent).binary_search(&dependency).ok()?;
        Some(self.graph.edges_slice(dependent)[place])
    }

    /// Whether a node asks for create_before_destroy itself.
    pub fn asks(&self, number: Number) -> bool {
        self.asks[number as usize]
    }

    /// For each number whether create_before_destroy is in force: where it is asked for, and, because an old
    /// dependency has to outlive the old objects that use it, in everything those depend on, through the whole
    /// chain.
    pub fn create_before_destroy(&self) -> Vec<bool> {
        self.spread(&self.asks)
    }

    /// For each number whether it is here and among the given ones, or one of those depends on it here,
    /// through the whole chain.
    pub fn spread(&self, from: &[bool]) -> Vec<bool> {
        let start = self.numbers().filter(|number| from[*number as usize]).collect();
        let mut search = Dfs::from_parts(start, self.graph.visit_map());
        let mut reached = vec![false; self.present.len()];
        while let Some(number) = search.next(&self.graph) {
            reached[number as usize] = true;
        }
        reached
    }

    /// The numbers in an order in which dependencies come first.
    pub fn dependencies_first(&self) -> Vec<Number> {
        let mut search = DfsPostOrder::empty(&self.graph);
        search.stack = self.numbers().rev().collect();
        std::iter::from_fn(|| search.next(&self.graph)).collect()
    }
}

/// Walks from one node after the other to what it depends on. A walk takes no new memory and no time for
/// what it does not reach; a search of petgraph's would clear its map of visited nodes before each, which for
/// all nodes of a large program together takes longer than the walks.
pub struct Walk {
    /// The walk in which each number was reached last.
    reached_in: Vec<u32>,
    walk: u32,
    open: Vec<Number>,
    found: Vec<Number>,
}

impl Walk {
    /// Walks in graphs with this many numbers.
    pub fn over(numbers: usize) -> Self {
        Self { reached_in: vec![0; numbers], walk: 0, open: Vec::new(), found: Vec::new() }
    }

    /// What a node depends on, through those of which `ends` is false. Those of which it is true are
    /// reached, and not passed.
    pub fn from(
        &mut self,
        graph: &NumberedGraph,
        number: Number,
        ends: impl Fn(Number) -> bool,
    ) -> &[Number] {
        self.walk += 1;
        self.found.clear();
        self.open.extend(graph.dependencies(number));
        while let Some(dependency) = self.open.pop() {
            if std::mem::replace(&mut self.reached_in[dependency as usize], self.walk) == self.walk {
                continue;
            }
            self.found.push(dependency);
            if !ends(dependency) {
                self.open.extend(graph.dependencies(dependency));
            }
        }
        &self.found
    }

    /// Whether the last walk reached a number that was not crossed out since. It is now.
    pub fn cross_out(&mut self, number: Number) -> bool {
        self.walk > 0 && std::mem::replace(&mut self.reached_in[number as usize], 0) == self.walk
    }
}
