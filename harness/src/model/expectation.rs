//! From one deployment to the next: the operations, and the order they must keep.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::description::{Deployment, EdgeKind};
use super::numbered::{Number, NumberedProgram, Numbering, Walk};

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

/// An operation on a number.
type Deed = (Number, Kind);

/// What is expected, over numbers.
struct Plan {
    fates: Vec<Fate>,
    /// Pairs as in [`Expectation::order`]. Of several rules for a pair the first one counts.
    order: Vec<(Deed, Deed, &'static str)>,
}

impl Expectation {
    /// What leads from `before`, which is deployed, to `after`.
    pub fn between(before: &Deployment, after: &Deployment) -> Self {
        let numbering = Numbering::of(&[before, after]);
        let (before, after) = (numbering.program(before), numbering.program(after));
        let mut plan = Plan { fates: fates(&before, &after), order: Vec::new() };
        plan.order_replacements();
        plan.order_edges_of_after(&after);
        plan.order_edges_of_before(&before);
        // Numbers are in the order of the keys: what is sorted by number need not be sorted again.
        plan.order.sort_by_key(|(first, second, _)| (*first, *second));
        plan.order.dedup_by_key(|(first, second, _)| (*first, *second));
        let named = |(number, kind): Deed| ExpectedOperation::new(numbering.key(number), kind);
        let order = plan.order.into_iter().map(|(first, second, rule)| ((named(first), named(second)), rule));
        let operations = (0..).zip(&plan.fates).flat_map(|(number, fate)| {
            let deleted = fate.deletes().then_some(Kind::Delete);
            fate.making().into_iter().chain(deleted).map(move |kind| (number, kind))
        });
        Self { operations: operations.map(named).collect(), order: order.collect() }
    }
}

impl Plan {
    fn fate(&self, number: Number) -> Fate {
        self.fates[number as usize]
    }

    fn first(&mut self, first: Deed, second: Deed, rule: &'static str) {
        self.order.push((first, second, rule));
    }

    fn order_replacements(&mut self) {
        for number in 0..self.fates.len() as Number {
            match self.fate(number) {
                Fate::Replaced(Turn::Delete) => self.first(
                    (number, Kind::Delete),
                    (number, Kind::Create),
                    "a replacement deletes the old object before it creates the new one",
                ),
                Fate::Replaced(Turn::Create) => self.first(
                    (number, Kind::Create),
                    (number, Kind::Delete),
                    "create_before_destroy creates the new object before it deletes the old one",
                ),
                _ => {}
            }
        }
    }

    /// A dependency is made before its dependent, also where those between them are left alone.
    fn order_edges_of_after(&mut self, after: &NumberedProgram) {
        let mut walk = Walk::over(self.fates.len());
        for dependent in after.numbers() {
            let Some(second) = self.fate(dependent).making() else { continue };
            let is_made = |number| self.fate(number).making().is_some();
            for &dependency in walk.from(after, dependent, is_made) {
                if let Some(first) = self.fate(dependency).making() {
                    self.first((dependency, first), (dependent, second), MADE_FIRST);
                }
            }
        }
    }

    /// What dependencies that were deployed ask of the deletes at their ends, also through those that no delete touches.
    fn order_edges_of_before(&mut self, before: &NumberedProgram) {
        let mut walk = Walk::over(self.fates.len());
        for dependent in before.numbers() {
            let is_deleted = |number| self.fate(number).deletes();
            for &dependency in walk.from(before, dependent, is_deleted) {
                self.order_ends((dependency, self.fate(dependency)), (dependent, self.fate(dependent)));
            }
        }
    }

    fn order_ends(&mut self, (dependency, upper): (Number, Fate), (dependent, lower): (Number, Fate)) {
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

fn fates(before: &NumberedProgram, after: &NumberedProgram) -> Vec<Fate> {
    let (was_in_force, in_force) = (before.create_before_destroy(), after.create_before_destroy());
    let comes_into_force = before.spread(&in_force);
    let mut fates = vec![Fate::Kept; in_force.len()];
    for number in before.numbers().filter(|number| !after.has(*number)) {
        let place = number as usize;
        fates[place] = Fate::Deleted(Turn::of(was_in_force[place], comes_into_force[place]));
    }
    // Dependencies first: a dependency that is replaced has a new id, which is a change of those that refer to it.
    for number in after.dependencies_first() {
        let place = number as usize;
        let changed = |kind: EdgeKind| {
            let of_kind = |program: &NumberedProgram| -> Vec<Number> {
                let dependencies = program.dependencies(number).iter().filter(|(_, other)| *other == kind);
                dependencies.map(|(dependency, _)| *dependency).collect()
            };
            let (was, is) = (of_kind(before), of_kind(after));
            let is_replaced = |dependency: &Number| matches!(fates[*dependency as usize], Fate::Replaced(_));
            was != is || is.iter().any(is_replaced)
        };
        fates[place] = if !before.has(number) {
            Fate::Created
        } else if changed(EdgeKind::PinnedRefs) {
            let in_the_old = was_in_force[place] || comes_into_force[place];
            Fate::Replaced(Turn::of(in_force[place], in_the_old))
        } else if changed(EdgeKind::Refs) {
            Fate::Updated
        } else {
            Fate::Kept
        };
    }
    fates
}
