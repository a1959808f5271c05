//! Random walks on the implicit e-graph, from a source back to `empty`.

use rand::{Rng, RngExt};

use super::indexed_set::IndexedSet;
use crate::algebra::graph::{Edge, Graph, Resource};
use crate::algebra::program::Step;
use crate::algebra::rules::StepKind;

/// The probability, from 0 to 1, that a step of a walk does not take a shortest way home.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Escape(f64);

impl Escape {
    /// The probability, if it is one.
    pub fn new(probability: f64) -> Option<Self> {
        (0.0..=1.0).contains(&probability).then_some(Self(probability))
    }

    /// Its value.
    pub fn probability(self) -> f64 {
        self.0
    }
}

/// The share of escapes that stay in their class. Such a step is part of the algebra, but no engine can see it: the
/// graph before and after it is the same.
const STAY: f64 = 0.125;

/// One of the kinds that are possible, each with the same probability.
fn one_of<const N: usize>(possible: [(StepKind, bool); N], rng: &mut impl Rng) -> StepKind {
    let count = possible.iter().filter(|choice| choice.1).count();
    let choice = rng.random_range(0..count);
    let mut left = possible.into_iter().filter(|choice| choice.1).map(|choice| choice.0);
    left.nth(choice).expect("less than there are")
}

/// What decides how long a walk becomes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pace {
    /// Each step escapes with this probability, as long as the program can still end within the bound. A bound shorter
    /// than the shortest program counts as the length of that.
    Escape {
        /// The escape probability.
        escape: Escape,
        /// The greatest number of steps.
        bound: usize,
    },
    /// The program has this many steps, or as few as it can if that is more. The escapes are spread evenly.
    Length(usize),
}

/// Makes one program after the other for a source. All memory is taken when it is made; a walk takes none.
///
/// A walk starts in the class of the source and ends in that of `empty`. It writes down the e-node it follows at each
/// step, which is the program from its outermost operation inward. The way home from a graph takes exactly one step
/// for each node and each edge, so the walker always knows how much room for detours is left, and every walk ends.
#[derive(Debug)]
pub struct Walker {
    pace: Pace,
    leave: f64,
    source: State,
    now: State,
    /// Bit `b·(b−1)/2 + a` tells whether the edge a → b is there. Only edges of `now` are set, so it is all zero
    /// whenever a walk is over.
    connected: Vec<u64>,
    steps: Vec<Step>,
    room: usize,
}

/// The class a walk stands in. All but `connected`, which would be too big to copy for each walk.
#[derive(Debug)]
struct State {
    present: IndexedSet,
    isolated: IndexedSet,
    absent_at_home: IndexedSet,
    absent_abroad: IndexedSet,
    degrees: Vec<u32>,
    edges: Vec<Edge>,
}

impl State {
    /// The empty graph, with room for so many resources and edges.
    fn with_room_for(resources: u32, edges: usize) -> Self {
        let set = || IndexedSet::with_room_for(resources);
        Self {
            present: set(),
            isolated: set(),
            absent_at_home: set(),
            absent_abroad: set(),
            degrees: vec![0; resources as usize],
            edges: Vec::with_capacity(edges),
        }
    }

    fn copy_from(&mut self, other: &Self) {
        self.present.copy_from(&other.present);
        self.isolated.copy_from(&other.isolated);
        self.absent_at_home.copy_from(&other.absent_at_home);
        self.absent_abroad.copy_from(&other.absent_abroad);
        self.degrees.copy_from_slice(&other.degrees);
        self.edges.clear();
        self.edges.extend_from_slice(&other.edges);
    }

    /// The number of steps from `empty`.
    fn distance(&self) -> usize {
        self.present.len() + self.edges.len()
    }
}

impl Walker {
    /// A walker for a source over a universe of so many resources. `leave` is the share of detours through an absent
    /// resource that take one that is not in the source, where there is a choice.
    pub fn new(source: &Graph, resources: u32, pace: Pace, leave: f64) -> Self {
        let longest = source.size().max(match pace {
            Pace::Escape { bound, .. } => bound,
            Pace::Length(length) => length,
        });
        let mut state = State::with_room_for(resources, longest);
        for edge in source.edges() {
            state.edges.push(edge);
            state.degrees[edge.dependency.at()] += 1;
            state.degrees[edge.dependent.at()] += 1;
        }
        for node in source.nodes() {
            state.present.insert(node);
            if state.degrees[node.at()] == 0 {
                state.isolated.insert(node);
            }
        }
        (0..resources).map(Resource::new).filter(|&resource| !source.contains(resource)).for_each(
            |resource| {
                state.absent_abroad.insert(resource);
            },
        );
        let pairs = resources as usize * (resources as usize).saturating_sub(1) / 2;
        let (now, steps) = (State::with_room_for(resources, longest), Vec::with_capacity(longest));
        Self { pace, leave, source: state, now, connected: vec![0; pairs.div_ceil(64)], steps, room: longest }
    }

    /// The steps of the next program, innermost first.
    pub fn walk(&mut self, rng: &mut impl Rng) -> &[Step] {
        self.now.copy_from(&self.source);
        self.steps.clear();
        for at in 0..self.now.edges.len() {
            self.flip(self.now.edges[at]);
        }
        match self.pace {
            Pace::Escape { escape, .. } => {
                while self.now.distance() > 0 {
                    if self.slack() > 0 && rng.random_bool(escape.0) {
                        self.escape(rng)
                    } else {
                        self.go_home(rng)
                    }
                }
            }
            Pace::Length(_) => while self.bridge(rng) {},
        }
        self.steps.reverse();
        &self.steps
    }

    /// How many steps the walk can spend beyond those that take it home.
    fn slack(&self) -> usize {
        self.room - self.steps.len() - self.now.distance()
    }

    /// Follows one of the shortest ways home, each with the same probability: an edge goes, or an isolated resource.
    fn go_home(&mut self, rng: &mut impl Rng) {
        let choice = rng.random_range(0..self.now.edges.len() + self.now.isolated.len());
        match choice.checked_sub(self.now.edges.len()) {
            None => self.undo_con(choice),
            Some(place) => self.undo_add(self.now.isolated.at(place)),
        }
    }

    /// Follows any e-node of the class: any operation that can have led here, any arguments, any class before it.
    fn escape(&mut self, rng: &mut impl Rng) {
        if rng.random_bool(STAY) {
            return self.stay(rng);
        }
        let absent = self.absent_resource(rng);
        let possible = [
            (StepKind::Add, !self.now.isolated.is_empty()),
            (StepKind::Rem, absent.is_some()),
            (StepKind::Con, !self.now.edges.is_empty()),
            (StepKind::Disc, self.slack() >= 2 && self.has_unconnected_pair()),
        ];
        match (one_of(possible, rng), absent) {
            (StepKind::Add, _) => self.undo_add(self.now.isolated.choose(rng)),
            (StepKind::Disc, _) => self.undo_disc(self.unconnected_pair(rng)),
            (StepKind::Rem, Some(resource)) => self.undo_rem(resource, rng),
            (StepKind::Rem | StepKind::Con, _) => self.undo_con(rng.random_range(0..self.now.edges.len())),
        }
    }

    /// Follows an e-node over the class itself: an operation that changes nothing.
    fn stay(&mut self, rng: &mut impl Rng) {
        let possible = [
            (StepKind::Add, true),
            (StepKind::Con, !self.now.edges.is_empty()),
            (StepKind::Disc, self.has_unconnected_pair()),
        ];
        self.steps.push(match one_of(possible, rng) {
            StepKind::Con => Step::Con(self.now.edges[rng.random_range(0..self.now.edges.len())]),
            StepKind::Disc => Step::Disc(self.unconnected_pair(rng)),
            StepKind::Add | StepKind::Rem => Step::Add(self.now.present.choose(rng)),
        });
    }

    /// A step of a walk of given length; false at its end. With `r` steps to go from a class at distance `d`, `(r−d)/2`
    /// of them lead away, and any of the `r` is as likely to be one of those as any other.
    fn bridge(&mut self, rng: &mut impl Rng) -> bool {
        let (slack, distance) = (self.slack(), self.now.distance());
        let steps_to_go = slack + distance;
        if slack >= 2 && (distance == 0 || rng.random_range(0..steps_to_go) < slack / 2) {
            return self.lead_away(rng);
        }
        if distance == 0 {
            return false;
        }
        if slack == 1 && rng.random_range(0..distance) == 0 {
            self.stay(rng);
        } else {
            self.go_home(rng);
        }
        true
    }

    /// A step to a class farther from `empty`; where there is none, a step that stays. False if there is neither.
    fn lead_away(&mut self, rng: &mut impl Rng) -> bool {
        let absent = self.absent_resource(rng);
        match (absent, self.has_unconnected_pair()) {
            (Some(resource), false) => self.undo_rem(resource, rng),
            (Some(resource), true) if rng.random_bool(0.5) => self.undo_rem(resource, rng),
            (_, true) => {
                let edge = self.unconnected_pair(rng);
                self.undo_disc(edge);
            }
            (None, false) if self.now.distance() > 0 => self.stay(rng),
            (None, false) => return false,
        }
        true
    }

    /// A resource to have been removed by the step before, if there is room to bring one back.
    fn absent_resource(&self, rng: &mut impl Rng) -> Option<Resource> {
        if self.slack() < 2 {
            return None;
        }
        let (home, abroad) = (&self.now.absent_at_home, &self.now.absent_abroad);
        let nothing_else = home.is_empty() && self.now.present.is_empty() && self.leave > 0.0;
        if !abroad.is_empty() && (nothing_else || rng.random_bool(self.leave)) {
            return Some(abroad.choose(rng));
        }
        (!home.is_empty()).then(|| home.choose(rng))
    }

    fn has_unconnected_pair(&self) -> bool {
        let present = self.now.present.len();
        self.now.edges.len() < present * present.saturating_sub(1) / 2
    }

    /// Two present resources without an edge between them; there is such a pair.
    fn unconnected_pair(&self, rng: &mut impl Rng) -> Edge {
        loop {
            let (one, other) = (self.now.present.choose(rng), self.now.present.choose(rng));
            let edge = Edge::new(one.min(other), one.max(other));
            if edge.goes_upward() && !self.is_connected(edge) {
                return edge;
            }
        }
    }

    /// The absent resources among which this one is, or is to be: those of the source, or the foreign ones.
    fn absent_like(&mut self, resource: Resource) -> &mut IndexedSet {
        let at_home = self.source.present.contains(resource);
        if at_home { &mut self.now.absent_at_home } else { &mut self.now.absent_abroad }
    }

    fn undo_add(&mut self, resource: Resource) {
        self.now.present.remove(resource);
        self.now.isolated.remove(resource);
        self.absent_like(resource).insert(resource);
        self.steps.push(Step::Add(resource));
    }

    fn undo_con(&mut self, at: usize) {
        let edge = self.now.edges.swap_remove(at);
        self.flip(edge);
        for end in [edge.dependency, edge.dependent] {
            self.now.degrees[end.at()] -= 1;
            if self.now.degrees[end.at()] == 0 {
                self.now.isolated.insert(end);
            }
        }
        self.steps.push(Step::Con(edge));
    }

    fn undo_disc(&mut self, edge: Edge) {
        self.connect(edge);
        self.steps.push(Step::Disc(edge));
    }

    /// Brings a removed resource back with the edges it may have had: none half of the time, one a quarter, and so on.
    fn undo_rem(&mut self, resource: Resource, rng: &mut impl Rng) {
        self.steps.push(Step::Rem(resource));
        let others = self.now.present.len();
        self.now.present.insert(resource);
        self.now.isolated.insert(resource);
        self.absent_like(resource).remove(resource);
        while others > 0 && self.slack() > 0 && rng.random_bool(0.5) {
            let other = self.now.present.at(rng.random_range(0..others));
            let edge = Edge::new(resource.min(other), resource.max(other));
            if !self.is_connected(edge) {
                self.connect(edge);
            }
        }
    }

    fn connect(&mut self, edge: Edge) {
        self.now.edges.push(edge);
        self.flip(edge);
        for end in [edge.dependency, edge.dependent] {
            if self.now.degrees[end.at()] == 0 {
                self.now.isolated.remove(end);
            }
            self.now.degrees[end.at()] += 1;
        }
    }

    fn bit(edge: Edge) -> (usize, u64) {
        let (a, b) = (edge.dependency.at(), edge.dependent.at());
        let bit = b * (b - 1) / 2 + a;
        (bit / 64, 1 << (bit % 64))
    }

    fn is_connected(&self, edge: Edge) -> bool {
        let (word, mask) = Self::bit(edge);
        self.connected[word] & mask != 0
    }

    fn flip(&mut self, edge: Edge) {
        let (word, mask) = Self::bit(edge);
        self.connected[word] ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::algebra::program::Program;
    use crate::algebra::source::Source;

    fn source(nodes: u32, edges: u64, seed: u64) -> Graph {
        Source::random(nodes..=nodes, edges..=edges, &mut ChaCha8Rng::seed_from_u64(seed)).graph
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn every_walk_means_its_source_and_keeps_its_bound(
            nodes in 0u32..12, edges in 0u64..30, foreign in 0u32..3,
            epsilon in 0.0..=1.0f64, spare in 0usize..60, seed: u64,
        ) {
            let graph = source(nodes, edges, seed);
            let bound = graph.size() + spare;
            let pace = Pace::Escape { escape: Escape::new(epsilon).unwrap(), bound };
            let mut walker = Walker::new(&graph, nodes + foreign, pace, 0.5);
            let program = Program::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
            prop_assert!(program.len() <= bound);
            prop_assert_eq!(program.eval(), Ok(graph));
        }

        #[test]
        fn a_walk_of_given_length_has_that_length(
            nodes in 2u32..12, edges in 0u64..30, foreign in 0u32..3, spare in 0usize..60, seed: u64,
        ) {
            let graph = source(nodes, edges, seed);
            let length = graph.size() + spare;
            let mut walker = Walker::new(&graph, nodes + foreign, Pace::Length(length), 0.5);
            let program = Program::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
            prop_assert_eq!(program.len(), length);
            prop_assert_eq!(program.eval(), Ok(graph));
        }
    }

    #[test]
    fn an_empty_source_has_long_programs_too() {
        let mut walker = Walker::new(&Graph::default(), 2, Pace::Length(20), 0.5);
        for seed in 0..50 {
            let program = Program::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
            assert_eq!((program.len(), program.eval()), (20, Ok(Graph::default())));
        }
    }

    fn walks(escape: f64, leave: f64) -> Vec<Vec<Step>> {
        let graph = source(5, 6, 1);
        let pace = Pace::Escape { escape: Escape::new(escape).unwrap(), bound: 60 };
        let mut walker = Walker::new(&graph, 7, pace, leave);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        (0..200).map(|_| walker.walk(&mut rng).to_vec()).collect()
    }

    #[test]
    fn without_escapes_every_program_is_shortest() {
        assert!(walks(0.0, 0.5).iter().all(|steps| steps.len() == 11));
    }

    #[test]
    fn with_nothing_but_escapes_a_walk_uses_its_bound() {
        let lengths: Vec<usize> = walks(1.0, 0.5).iter().map(Vec::len).collect();
        assert!(lengths.iter().filter(|&&length| length >= 59).count() > 150, "{lengths:?}");
    }

    #[test]
    fn a_walk_leaves_for_foreign_resources_only_if_told_to() {
        let foreign = |steps: &Vec<Step>| {
            steps.iter().any(|step| step.resources().any(|resource| resource.index() >= 5))
        };
        assert_eq!(walks(0.4, 0.0).iter().filter(|steps| foreign(steps)).count(), 0);
        assert!(walks(0.4, 1.0).iter().filter(|steps| foreign(steps)).count() > 100);
    }

    #[test]
    fn a_walk_depends_on_its_random_numbers_alone_not_on_the_walks_before() {
        let graph = source(9, 12, 4);
        let pace = Pace::Escape { escape: Escape::new(0.5).unwrap(), bound: 90 };
        let mut used = Walker::new(&graph, 11, pace, 0.5);
        (0..20).for_each(|seed| drop(used.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec()));
        let fresh = Walker::new(&graph, 11, pace, 0.5).walk(&mut ChaCha8Rng::seed_from_u64(99)).to_vec();
        assert_eq!(used.walk(&mut ChaCha8Rng::seed_from_u64(99)), fresh);
    }
}
