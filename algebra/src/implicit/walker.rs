//! Random walks on the implicit e-graph, from a source back to `empty`.

use rand::{Rng, RngExt};

use super::indexed_set::IndexedSet;
use super::state::{Slot, State};
use crate::graph::{Edge, Graph, Resource};
use crate::program::Step;
use crate::signature::{AttributeId, Kind, ValueId};
use crate::weights::Weights;

#[cfg(test)]
mod tests;

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

/// The share of the others that change a value or a kind, where there are attributes or kinds. A change in place asks
/// more of an engine than what is there or not.
const CHANGE: f64 = 0.6;

/// What leads from one class to another. One of those that are possible is drawn, each with the same probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Add,
    Rem,
    Con,
    Disc,
    Set,
    /// A `con` of an edge that was there, of another kind.
    OtherKind,
}

fn one_of<const N: usize>(possible: [(Way, bool); N], rng: &mut impl Rng) -> Way {
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
/// for each node, each edge and each value that is not the default, so the walker always knows how much room for
/// detours is left, and every walk ends.
#[derive(Debug)]
pub struct Walker {
    pace: Pace,
    leave: f64,
    weights: Weights,
    /// The attributes whose values detours change.
    varied: Vec<AttributeId>,
    varies_kinds: bool,
    source: State,
    now: State,
    /// Bit `b·(b−1)/2 + a` tells whether the edge a → b is there. Only edges of `now` are set, so it is all zero
    /// whenever a walk is over.
    connected: Vec<u64>,
    steps: Vec<Step>,
    room: usize,
}

impl Walker {
    /// A walker for a source in a universe of `resources`. `leave` is the share of detours through an absent
    /// resource that take one that is not in the source, where there is a choice. `weights` say which values and kinds
    /// detours have.
    pub fn new(source: &Graph, resources: u32, pace: Pace, leave: f64, weights: &Weights) -> Self {
        let longest = source.size().max(match pace {
            Pace::Escape { bound, .. } => bound,
            Pace::Length(length) => length,
        });
        let of_source = source.values().map(|(_, attribute, _)| attribute.at() + 1).max().unwrap_or(0);
        let attributes = weights.attribute_count().max(of_source);
        let pairs = resources as usize * (resources as usize).saturating_sub(1) / 2;
        Self {
            pace,
            leave,
            weights: weights.clone(),
            varied: weights.varied().collect(),
            varies_kinds: weights.varies_kinds(),
            source: State::of(source, resources, attributes, longest),
            now: State::with_room_for(resources, attributes, longest),
            connected: vec![0; pairs.div_ceil(64)],
            steps: Vec::with_capacity(longest),
            room: longest,
        }
    }

    /// The steps of the next program, innermost first.
    pub fn walk(&mut self, rng: &mut impl Rng) -> &[Step] {
        self.now.copy_from(&self.source);
        self.steps.clear();
        for at in 0..self.now.edges.len() {
            self.flip(self.now.edges[at].0);
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

    /// Follows one of the shortest ways home, each with the same probability: an edge goes, a resource that nothing is
    /// tied to, or a value that is not the default.
    fn go_home(&mut self, rng: &mut impl Rng) {
        let (edges, loose) = (self.now.edges.len(), self.now.loose.len());
        let choice = rng.random_range(0..edges + loose + self.now.set.len());
        if choice < edges {
            self.undo_con(choice);
        } else if choice < edges + loose {
            self.undo_add(self.now.loose.at(choice - edges));
        } else {
            self.undo_set(self.now.set.at(choice - edges - loose), ValueId::DEFAULT);
        }
    }

    /// Follows any e-node of the class: any operation that can have led here, any arguments, any class before it.
    fn escape(&mut self, rng: &mut impl Rng) {
        if rng.random_bool(STAY) {
            return self.stay(rng);
        }
        let slack = self.slack();
        let has_edges = !self.now.edges.is_empty();
        let can_set = !self.now.set.is_empty() || slack >= 2 && !self.varied.is_empty();
        let can_change_kind = self.varies_kinds && has_edges;
        if (can_set || can_change_kind) && rng.random_bool(CHANGE) {
            // A resource has several values, and an edge one kind.
            let possible = [(Way::Set, can_set), (Way::Set, can_set), (Way::OtherKind, can_change_kind)];
            return match one_of(possible, rng) {
                Way::OtherKind => self.change_kind(rng),
                _ => self.change_value(rng),
            };
        }
        let absent = self.absent_resource(rng);
        let possible = [
            (Way::Add, !self.now.loose.is_empty()),
            (Way::Rem, absent.is_some()),
            (Way::Con, has_edges),
            (Way::Disc, slack >= 2 && self.has_unconnected_pair()),
            (Way::Set, can_set),
        ];
        match (one_of(possible, rng), absent) {
            (Way::Add, _) => self.undo_add(self.now.loose.choose(rng)),
            (Way::Disc, _) => self.undo_disc(self.unconnected_pair(rng), rng),
            (Way::Rem, Some(resource)) => self.undo_rem(resource, rng),
            (Way::Set, _) => self.change_value(rng),
            (Way::Rem | Way::Con | Way::OtherKind, _) => {
                self.undo_con(rng.random_range(0..self.now.edges.len()))
            }
        }
    }

    /// Follows an e-node over the class itself: an operation that changes nothing.
    fn stay(&mut self, rng: &mut impl Rng) {
        let possible = [
            (Way::Add, true),
            (Way::Con, !self.now.edges.is_empty()),
            (Way::Disc, self.has_unconnected_pair()),
            (Way::Set, !self.varied.is_empty()),
        ];
        self.steps.push(match one_of(possible, rng) {
            Way::Con => {
                let (edge, kind) = self.now.edges[rng.random_range(0..self.now.edges.len())];
                Step::Con(edge, kind)
            }
            Way::Disc => Step::Disc(self.unconnected_pair(rng)),
            Way::Set => {
                let slot = self.varied_slot(rng);
                Step::Set(slot.resource, slot.attribute, self.now.value(slot))
            }
            Way::Add | Way::Rem | Way::OtherKind => Step::Add(self.now.present.choose(rng)),
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
            if !self.turn(rng) {
                self.stay(rng);
            }
        } else {
            self.go_home(rng);
        }
        true
    }

    /// A step to a class farther from `empty`, or to one as far where values and kinds can change; where there is
    /// none, a step that stays. False if there is neither.
    fn lead_away(&mut self, rng: &mut impl Rng) -> bool {
        let attributed = !self.varied.is_empty() || self.varies_kinds;
        if attributed && !self.now.present.is_empty() {
            let changed = match rng.random_range(0..3) {
                0 => self.bring_value(rng),
                1 => self.turn(rng),
                _ => false,
            };
            if changed {
                return true;
            }
        }
        let absent = self.absent_resource(rng);
        match (absent, self.has_unconnected_pair()) {
            (Some(resource), false) => self.undo_rem(resource, rng),
            (Some(resource), true) if rng.random_bool(0.5) => self.undo_rem(resource, rng),
            (_, true) => {
                let edge = self.unconnected_pair(rng);
                self.undo_disc(edge, rng);
            }
            (None, false) if self.now.distance() > 0 => self.stay(rng),
            (None, false) => return false,
        }
        true
    }

    /// Has a value been something else that is not the default, or an edge of another kind: a class as far from
    /// `empty`. False if what was drawn cannot have been.
    fn turn(&mut self, rng: &mut impl Rng) -> bool {
        let can_change_kind = self.varies_kinds && !self.now.edges.is_empty();
        if can_change_kind && (self.now.set.is_empty() || rng.random_bool(0.5)) {
            self.change_kind(rng);
            return true;
        }
        if self.now.set.is_empty() {
            return false;
        }
        let slot = self.now.set.choose(rng);
        let before = self.other_value(slot, rng);
        if !before.is_default() {
            self.undo_set(slot, before);
        }
        !before.is_default()
    }

    /// Has a value that is the default been something else. False if none was found.
    fn bring_value(&mut self, rng: &mut impl Rng) -> bool {
        if self.varied.is_empty() {
            return false;
        }
        let slot = self.varied_slot(rng);
        let is_default = self.now.value(slot).is_default();
        if is_default {
            let before = self.other_value(slot, rng);
            self.undo_set(slot, before);
        }
        is_default
    }

    /// Has a value been any other. Half of the time it is one that is not the default now, if there is one.
    fn change_value(&mut self, rng: &mut impl Rng) {
        let any = self.slack() >= 2 && !self.varied.is_empty();
        let from_set = !any || !self.now.set.is_empty() && rng.random_bool(0.5);
        let slot = if from_set { self.now.set.choose(rng) } else { self.varied_slot(rng) };
        let before = self.other_value(slot, rng);
        self.undo_set(slot, before);
    }

    /// A value that a slot can have had before it got the one it has.
    fn other_value(&self, slot: Slot, rng: &mut impl Rng) -> ValueId {
        if self.varied.contains(&slot.attribute) {
            self.weights.other_value(slot.attribute, self.now.value(slot), rng)
        } else {
            ValueId::DEFAULT
        }
    }

    /// Any attribute that has a choice, of any resource that is there.
    fn varied_slot(&self, rng: &mut impl Rng) -> Slot {
        let attribute = self.varied[rng.random_range(0..self.varied.len())];
        self.now.slot(self.now.present.choose(rng), attribute)
    }

    /// Has an edge been of another kind.
    fn change_kind(&mut self, rng: &mut impl Rng) {
        let at = rng.random_range(0..self.now.edges.len());
        let (edge, kind) = self.now.edges[at];
        self.now.edges[at].1 = self.weights.other_kind(kind, rng);
        self.steps.push(Step::Con(edge, kind));
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
    fn absent_like(&mut self, resource: Resource) -> &mut IndexedSet<Resource> {
        let at_home = self.source.present.contains(resource);
        if at_home { &mut self.now.absent_at_home } else { &mut self.now.absent_abroad }
    }

    fn undo_add(&mut self, resource: Resource) {
        self.now.present.remove(resource);
        self.now.loose.remove(resource);
        self.absent_like(resource).insert(resource);
        self.steps.push(Step::Add(resource));
    }

    fn undo_con(&mut self, at: usize) {
        let (edge, kind) = self.now.disconnect(at);
        self.flip(edge);
        self.steps.push(Step::Con(edge, kind));
    }

    fn undo_disc(&mut self, edge: Edge, rng: &mut impl Rng) {
        let kind = self.weights.kind(rng);
        self.connect(edge, kind);
        self.steps.push(Step::Disc(edge));
    }

    fn undo_set(&mut self, slot: Slot, before: ValueId) {
        self.steps.push(Step::Set(slot.resource, slot.attribute, self.now.value(slot)));
        self.now.assign(slot, before);
    }

    /// Brings a removed resource back with the edges it may have had: none half of the time, one a quarter, and so on.
    /// Each of its values was the default half of the time, and else what the weights say.
    fn undo_rem(&mut self, resource: Resource, rng: &mut impl Rng) {
        self.steps.push(Step::Rem(resource));
        let others = self.now.present.len();
        self.now.present.insert(resource);
        self.now.loose.insert(resource);
        self.absent_like(resource).remove(resource);
        while others > 0 && self.slack() > 0 && rng.random_bool(0.5) {
            let other = self.now.present.at(rng.random_range(0..others));
            let edge = Edge::new(resource.min(other), resource.max(other));
            if !self.is_connected(edge) {
                let kind = self.weights.kind(rng);
                self.connect(edge, kind);
            }
        }
        for at in 0..self.varied.len() {
            if self.slack() > 0 && rng.random_bool(0.5) {
                let attribute = self.varied[at];
                let value = self.weights.value(attribute, rng);
                self.now.assign(self.now.slot(resource, attribute), value);
            }
        }
    }

    fn connect(&mut self, edge: Edge, kind: Kind) {
        self.now.connect(edge, kind);
        self.flip(edge);
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
