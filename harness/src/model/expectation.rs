//! From one deployment to the next: the operations, and the order they must keep.

use std::collections::{BTreeMap, BTreeSet};

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
    /// In a short form: `+a` creates, `~a` updates, `-a` deletes.
    pub fn signed(&self) -> String {
        let sign = match self.kind {
            Kind::Create => '+',
            Kind::Update => '~',
            Kind::Delete => '-',
        };
        format!("{sign}{}", self.key)
    }

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

const MADE_FIRST: &str = "a dependency is made before its dependent";
const DELETED_LAST: &str = "a dependent is deleted before its dependency";
const DELETED_BEFORE_UPDATE: &str = "a removed dependent is deleted before its dependency is updated";
const DELETED_BEFORE_LOSS: &str =
    "a removed dependency is deleted before the dependent that lost it is updated";
const CHANGE_OVER: &str =
    "with create_before_destroy, dependents change over to the new object before the old one is deleted";
const OUTLIVES: &str =
    "with create_before_destroy in force, a removed dependency outlives the change of its dependent";

/// Which comes first, where something is deleted: the delete, or what is made beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The delete, as by default.
    Delete,
    /// What is made: create_before_destroy is in force.
    Create,
    /// Either: create_before_destroy comes or goes in this very step.
    Either,
}

impl Turn {
    fn of(in_force: bool, in_question: bool) -> Self {
        match (in_force, in_question) {
            (true, _) => Self::Create,
            (false, true) => Self::Either,
            (false, false) => Self::Delete,
        }
    }
}

/// What becomes of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Created,
    Kept,
    Updated,
    Replaced(Turn),
    Deleted(Turn),
}

impl Fate {
    /// The operation that leaves a new or changed object behind.
    fn making(self) -> Option<Kind> {
        match self {
            Self::Created | Self::Replaced(_) => Some(Kind::Create),
            Self::Updated => Some(Kind::Update),
            Self::Kept | Self::Deleted(_) => None,
        }
    }

    fn deletes(self) -> bool {
        matches!(self, Self::Replaced(_) | Self::Deleted(_))
    }
}

impl Expectation {
    /// What leads from `before`, which is deployed, to `after`.
    pub fn between(before: &Deployment, after: &Deployment) -> Self {
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
        expectation.order_edges_of_before(before, &fates);
        expectation
    }

    fn first(&mut self, first: (&str, Kind), second: (&str, Kind), rule: &'static str) {
        let pair = (ExpectedOperation::new(first.0, first.1), ExpectedOperation::new(second.0, second.1));
        self.order.entry(pair).or_insert(rule);
    }

    fn order_replacements(&mut self, fates: &BTreeMap<&str, Fate>) {
        for (key, fate) in fates {
            match fate {
                Fate::Replaced(Turn::Delete) => self.first(
                    (key, Kind::Delete),
                    (key, Kind::Create),
                    "a replacement deletes the old object before it creates the new one",
                ),
                Fate::Replaced(Turn::Create) => self.first(
                    (key, Kind::Create),
                    (key, Kind::Delete),
                    "create_before_destroy creates the new object before it deletes the old one",
                ),
                _ => {}
            }
        }
    }

    /// A dependency is made before its dependent, also where those between them are left alone.
    fn order_edges_of_after(&mut self, after: &Deployment, fates: &BTreeMap<&str, Fate>) {
        for dependent in after.resources.keys() {
            let Some(second) = fates[dependent.as_str()].making() else { continue };
            let is_made = |key: &str| fates[key].making().is_some();
            for dependency in after.reached_from(dependent, is_made) {
                if let Some(first) = fates[dependency].making() {
                    self.first((dependency, first), (dependent, second), MADE_FIRST);
                }
            }
        }
    }

    /// What dependencies that were deployed ask of the deletes at their ends, also through those that no delete touches.
    fn order_edges_of_before(&mut self, before: &Deployment, fates: &BTreeMap<&str, Fate>) {
        for dependent in before.resources.keys().map(String::as_str) {
            let is_deleted = |key: &str| fates[key].deletes();
            for dependency in before.reached_from(dependent, is_deleted) {
                self.order_ends((dependency, fates[dependency]), (dependent, fates[dependent]));
            }
        }
    }

    fn order_ends(&mut self, (dependency, upper): (&str, Fate), (dependent, lower): (&str, Fate)) {
        if upper.deletes() && lower.deletes() {
            self.first((dependent, Kind::Delete), (dependency, Kind::Delete), DELETED_LAST);
        }
        match (upper, lower) {
            // With create_before_destroy in force for what is removed, engines update first: nothing is asked.
            (Fate::Updated, Fate::Deleted(Turn::Delete)) => {
                self.first((dependent, Kind::Delete), (dependency, Kind::Update), DELETED_BEFORE_UPDATE);
            }
            (Fate::Deleted(Turn::Delete), Fate::Updated) => {
                self.first((dependency, Kind::Delete), (dependent, Kind::Update), DELETED_BEFORE_LOSS);
            }
            (Fate::Deleted(Turn::Delete), Fate::Replaced(Turn::Delete)) => {
                self.first((dependency, Kind::Delete), (dependent, Kind::Create), DELETED_BEFORE_LOSS);
            }
            _ => {}
        }
        match (upper, lower.making()) {
            (Fate::Deleted(Turn::Create), Some(kind)) => {
                self.first((dependent, kind), (dependency, Kind::Delete), OUTLIVES);
            }
            (Fate::Replaced(Turn::Create), Some(kind)) => {
                self.first((dependent, kind), (dependency, Kind::Delete), CHANGE_OVER);
            }
            _ => {}
        }
    }
}

fn fates<'a>(before: &'a Deployment, after: &'a Deployment) -> BTreeMap<&'a str, Fate> {
    let (was_in_force, in_force) = (before.create_before_destroy(), after.create_before_destroy());
    let mut fates: BTreeMap<&str, Fate> = BTreeMap::new();
    let comes_into_force = before.spread(&in_force);
    for key in before.resources.keys().map(String::as_str).filter(|key| !after.resources.contains_key(*key)) {
        let turn = Turn::of(was_in_force.contains(key), comes_into_force.contains(key));
        fates.insert(key, Fate::Deleted(turn));
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
                            .any(|dependency| matches!(fates.get(dependency), Some(Fate::Replaced(_))))
                };
                if changed(EdgeKind::PinnedRefs) {
                    let in_the_old = was_in_force.contains(key) || comes_into_force.contains(key);
                    Fate::Replaced(Turn::of(in_force.contains(key), in_the_old))
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
