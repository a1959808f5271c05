//! Saturation: applies the rules until nothing is new, or a limit is reached.
//!
//! Every new e-node is matched once, with all that is there. A match may need a class that does not exist yet. Such
//! matches wait until no other is left: as long as a class that exists will do, none is made. This keeps the number of
//! classes made near the number that is left in the end, and unions rare.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::core::{EGraph, Unsound};
use super::denotation::Denotation;
use super::directed::Readings;
use super::ground::GroundPairs;
use super::matching::{Match, Matcher, bound_op};
use super::operations::Op;
use super::table::{ClassId, Table};
use crate::rules::Rules;

/// When to stop even if something is left to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// The time it may take.
    pub time: Option<Duration>,
    /// The classes it may have.
    pub classes: Option<usize>,
    /// The e-nodes it may have.
    pub nodes: Option<usize>,
}

/// How a saturation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// No rule has anything to add.
    Saturated,
    /// The time was over.
    TimeOut,
    /// There were as many classes as allowed.
    ClassLimit,
    /// There were as many e-nodes as allowed.
    NodeLimit,
}

/// A rule that would have made the e-graph untrue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the rule `{rule}` is unsound: {what}")]
pub struct UnsoundRule {
    /// Its name.
    pub rule: String,
    /// What the analysis refused.
    pub what: Box<Unsound>,
}

/// What a saturation has done so far.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// The classes there are.
    pub classes: usize,
    /// The e-nodes there are.
    pub nodes: usize,
}

/// Something to find the matches of.
#[derive(Debug, Clone, Copy)]
enum Item {
    Class(ClassId),
    Node(ClassId, Op),
}

struct Saturation<'a, D, T> {
    egraph: &'a mut EGraph<D, T>,
    readings: Readings,
    ground: Option<GroundPairs>,
    fresh: VecDeque<Item>,
    /// Items with a match that needs a new class.
    waiting: VecDeque<Item>,
    matches: Vec<Match>,
}

/// Applies the rules to all that is in the e-graph. The result depends on the e-graph and the rules alone, unless the
/// time limit cuts it short.
pub fn saturate<D: Denotation, T: Table>(
    egraph: &mut EGraph<D, T>,
    rules: &Rules,
    limits: Limits,
    mut progress: impl FnMut(Progress),
) -> Result<Ending, UnsoundRule> {
    let start = Instant::now();
    let fresh = egraph.classes().map(Item::Class).collect();
    let readings = Readings::of(rules);
    let ground = GroundPairs::over(egraph.operations(), &readings);
    let mut saturation =
        Saturation { egraph, readings, ground, fresh, waiting: VecDeque::new(), matches: Vec::new() };
    saturation.collect_news();
    for round in 0u64.. {
        if round.is_multiple_of(256) {
            if limits.time.is_some_and(|time| start.elapsed() >= time) {
                return Ok(Ending::TimeOut);
            }
            let (classes, nodes) = (saturation.egraph.class_count(), saturation.egraph.node_count());
            if limits.classes.is_some_and(|most| classes >= most) {
                return Ok(Ending::ClassLimit);
            }
            if limits.nodes.is_some_and(|most| nodes >= most) {
                return Ok(Ending::NodeLimit);
            }
            progress(Progress { classes, nodes });
        }
        if !saturation.step()? {
            return Ok(Ending::Saturated);
        }
    }
    unreachable!("the rounds are not counted to their end")
}

impl<D: Denotation, T: Table> Saturation<'_, D, T> {
    /// Handles one item; false when none is left.
    fn step(&mut self) -> Result<bool, UnsoundRule> {
        if let Some(item) = self.fresh.pop_front() {
            self.find(item);
            let mut must_wait = false;
            for at in 0..self.matches.len() {
                must_wait |= !self.apply(self.matches[at], false)?;
            }
            if must_wait {
                self.waiting.push_back(item);
            }
            self.collect_news();
            return Ok(true);
        }
        let Some(item) = self.waiting.pop_front() else { return Ok(false) };
        self.find(item);
        // A new class may answer the other matches of this item, so only the first that needs one gets it now.
        for at in 0..self.matches.len() {
            let classes = self.egraph.classes_made();
            self.apply(self.matches[at], true)?;
            if self.egraph.classes_made() > classes {
                if at + 1 < self.matches.len() {
                    self.waiting.push_front(item);
                }
                break;
            }
        }
        self.collect_news();
        Ok(true)
    }

    fn find(&mut self, item: Item) {
        self.matches.clear();
        let mut matcher = Matcher::new(self.egraph, &self.readings, self.ground.as_ref(), &mut self.matches);
        match item {
            Item::Class(class) => matcher.with_class(self.egraph.find(class)),
            Item::Node(child, op) => matcher.with_node(self.egraph.find(child), op),
        }
    }

    /// Enters the other side of a match into the class of this one. False if that takes a new class and none
    /// may be made.
    fn apply(&mut self, found: Match, may_make_classes: bool) -> Result<bool, UnsoundRule> {
        let reading = &self.readings.all[found.reading];
        let name = reading.name.as_str();
        let told = |what| UnsoundRule { rule: name.to_owned(), what: Box::new(what) };
        let (base, class) = (self.egraph.find(found.base), self.egraph.find(found.class));
        let Some((&last, inner)) = reading.to.split_last() else {
            self.egraph.union(base, class).map_err(told)?;
            self.egraph.rebuild().map_err(told)?;
            return Ok(true);
        };
        let mut at = base;
        for &pattern in inner {
            let op =
                bound_op(self.egraph, pattern, &found.binding).flatten().expect("a match binds all in order");
            if !may_make_classes && self.egraph.table().get(at, op).is_none() {
                return Ok(false);
            }
            let classes = self.egraph.classes_made();
            at = self.egraph.enter(at, op).map_err(told)?;
            if self.egraph.classes_made() > classes {
                self.fresh.push_back(Item::Class(at));
            }
        }
        let op = bound_op(self.egraph, last, &found.binding).flatten().expect("a match binds all in order");
        self.egraph.enter_into(at, op, class).map_err(told)?;
        self.egraph.rebuild().map_err(told)?;
        Ok(true)
    }

    fn collect_news(&mut self) {
        self.fresh.extend(self.egraph.take_news().map(|(child, op)| Item::Node(child, op)));
    }
}
