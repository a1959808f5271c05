//! From one deployment to the next: the operations, and the order they must keep.

use std::collections::{BTreeMap, BTreeSet, HashMap};

// Of petgraph's two, the one that does not recurse: chains are as long as programs are.
use petgraph::algo::kosaraju_scc;
use serde::{Deserialize, Serialize};

use super::description::{Deployment, EdgeKind};

/// What is done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A new object.
    Create,
    /// A change in place.
    Update,
    /// The end of an object.
    Delete,
}

/// An operation that must happen, once. A replacement is a delete and a create of the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExpectedOperation {
    /// The resource.
    pub key: String,
    /// What is done to it.
    pub kind: Kind,
}

impl ExpectedOperation {
    fn new(key: &str, kind: Kind) -> Self {
        Self { key: key.to_owned(), kind }
    }
}

/// What a correct engine does: these operations and no others, each pair of the order one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The operations.
    pub operations: BTreeSet<ExpectedOperation>,
    /// Pairs of which the first must have ended before the second begins, each with the rule that says so.
    pub order: BTreeMap<(ExpectedOperation, ExpectedOperation), &'static str>,
}

const DELETED_BEFORE_UPDATE: &str = "a removed dependent is deleted before its dependency is updated";
const DELETED_BEFORE_LOSS: &str =
    "a removed dependency is deleted before the dependent that lost it is updated";
const CHANGE_OVER: &str =
    "with create_before_destroy, dependents change over to the new object before the old one is deleted";
const OUTLIVES: &str =
    "with create_before_destroy in force, a removed dependency outlives the change of its dependent";

/// Whether a rule gives way to others that contradict it.
pub(super) fn yields(rule: &&str) -> bool {
    [DELETED_BEFORE_UPDATE, DELETED_BEFORE_LOSS, OUTLIVES, CHANGE_OVER].contains(rule)
}

/// What becomes of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Created,
    Kept,
    Updated,
    Replaced { create_first: bool },
    Deleted { late: bool },
}

impl Fate {
    /// The operation that leaves a new or changed object behind.
    fn making(self) -> Option<Kind> {
        match self {
            Self::Created | Self::Replaced { .. } => Some(Kind::Create),
            Self::Updated => Some(Kind::Update),
            Self::Kept | Self::Deleted { .. } => None,
        }
    }

    fn deletes(self) -> bool {
        matches!(self, Self::Replaced { .. } | Self::Deleted { .. })
    }
}

impl Expectation {
    /// What leads from `before`, which is deployed, to `after`.
    pub fn between(before: &Deployment, after: &Deployment) -> Self {
        let mut expectation = Self::with_contradictions(before, after);
        expectation.release_contradictions();
        expectation
    }

    /// The same, with the rules that contradict each other.
    pub(super) fn with_contradictions(before: &Deployment, after: &Deployment) -> Self {
        let fates = fates(before, after);
        let mut expectation = Self::default();
        for (key, fate) in &fates {
            let made = fate.making();
            let deleted = fate.deletes().then_some(Kind::Delete);
            let kinds = made.into_iter().chain(deleted);
            expectation.operations.extend(kinds.map(|kind| ExpectedOperation::new(key, kind)));
        }
        expectation.order_replacements(&fates);
        expectation.order_edges_of_after(after, &fates);
        expectation.order_edges_of_before(before, after, &fates);
        expectation
    }

    /// Where create_before_destroy comes or goes for part of a chain, a delete can be asked to come both before and
    /// after the same change. No engine promises an order there, so the rules between a delete and the changes beside
    /// it bind only where all of them can be kept. What is left has no circle.
    fn release_contradictions(&mut self) {
        if !self.order.values().any(yields) {
            return;
        }
        let place: HashMap<&ExpectedOperation, u32> = self.operations.iter().zip(0..).collect();
        let pairs = self.order.keys().map(|(first, second)| (place[first], place[second]));
        let graph = petgraph::graph::DiGraph::<(), ()>::from_edges(pairs);
        // A pair is asked for the other way round too just if both ends lie on one circle.
        let mut circle = vec![0; self.operations.len()];
        for (number, members) in kosaraju_scc(&graph).into_iter().enumerate() {
            members.into_iter().for_each(|member| circle[member.index()] = number);
        }
        let together = |operation| circle[place[operation] as usize];
        let released: Vec<_> = self
            .order
            .iter()
            .filter(|((first, second), rule)| yields(rule) && together(first) == together(second))
            .map(|(pair, _)| pair.clone())
            .collect();
        for pair in released {
            self.order.remove(&pair);
        }
    }

    fn first(&mut self, first: (&str, Kind), second: (&str, Kind), rule: &'static str) {
        let pair = (ExpectedOperation::new(first.0, first.1), ExpectedOperation::new(second.0, second.1));
        self.order.entry(pair).or_insert(rule);
    }

    fn order_replacements(&mut self, fates: &BTreeMap<&str, Fate>) {
        for (key, fate) in fates {
            match fate {
                Fate::Replaced { create_first: false } => self.first(
                    (key, Kind::Delete),
                    (key, Kind::Create),
                    "a replacement deletes the old object before it creates the new one",
                ),
                Fate::Replaced { create_first: true } => self.first(
                    (key, Kind::Create),
                    (key, Kind::Delete),
                    "create_before_destroy creates the new object before it deletes the old one",
                ),
                _ => {}
            }
        }
    }

    /// A dependency is made before its dependent.
    fn order_edges_of_after(&mut self, after: &Deployment, fates: &BTreeMap<&str, Fate>) {
        for (dependency, dependent) in after.edges() {
            if let (Some(first), Some(second)) = (fates[dependency].making(), fates[dependent].making()) {
                self.first(
                    (dependency, first),
                    (dependent, second),
                    "a dependency is made before its dependent",
                );
            }
        }
    }

    /// What an edge that was deployed asks of the deletes at its ends.
    fn order_edges_of_before(
        &mut self,
        before: &Deployment,
        after: &Deployment,
        fates: &BTreeMap<&str, Fate>,
    ) {
        for (dependency, dependent) in before.edges() {
            let (upper, lower) = (fates[dependency], fates[dependent]);
            if upper.deletes() && lower.deletes() {
                self.first(
                    (dependent, Kind::Delete),
                    (dependency, Kind::Delete),
                    "a dependent is deleted before its dependency",
                );
            }
            if let (Fate::Updated, Fate::Deleted { .. }) = (upper, lower) {
                self.first((dependent, Kind::Delete), (dependency, Kind::Update), DELETED_BEFORE_UPDATE);
            }
            match (upper, lower.making()) {
                (Fate::Deleted { late: false }, Some(Kind::Update)) => {
                    self.first((dependency, Kind::Delete), (dependent, Kind::Update), DELETED_BEFORE_LOSS)
                }
                (Fate::Deleted { late: true }, Some(kind)) => {
                    self.first((dependent, kind), (dependency, Kind::Delete), OUTLIVES)
                }
                (Fate::Replaced { create_first: true }, Some(kind))
                    if after.resources[dependent].dependencies.contains_key(dependency) =>
                {
                    self.first((dependent, kind), (dependency, Kind::Delete), CHANGE_OVER);
                }
                _ => {}
            }
        }
    }
}

fn fates<'a>(before: &'a Deployment, after: &'a Deployment) -> BTreeMap<&'a str, Fate> {
    let (was_in_force, in_force) = (before.create_before_destroy(), after.create_before_destroy());
    let mut fates: BTreeMap<&str, Fate> = BTreeMap::new();
    for key in before.resources.keys().filter(|key| !after.resources.contains_key(*key)) {
        fates.insert(key, Fate::Deleted { late: was_in_force.contains(key.as_str()) });
    }
    // Dependencies first: a dependency that is replaced has a new id, which is a change of those that refer to it.
    for key in after.dependencies_first() {
        let new = &after.resources[key];
        let fate = match before.resources.get(key) {
            None => Fate::Created,
            Some(old) => {
                let changed = |kind: EdgeKind| {
                    let (was, is): (BTreeSet<&str>, BTreeSet<&str>) =
                        (old.by(kind).collect(), new.by(kind).collect());
                    was != is
                        || is
                            .iter()
                            .any(|dependency| matches!(fates.get(dependency), Some(Fate::Replaced { .. })))
                };
                if changed(EdgeKind::PinnedRefs) {
                    Fate::Replaced { create_first: in_force.contains(key) }
                } else if changed(EdgeKind::Refs) {
                    Fate::Updated
                } else {
                    Fate::Kept
                }
            }
        };
        fates.insert(key, fate);
    }
    fates
}
