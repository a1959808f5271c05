//! From one deployment to the next: the operations, and the order they must keep.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::description::{Deployment, EdgeKind};
use super::numbered::{Number, NumberedProgram, Numbering, Walk};
use super::rule::{LeftOut, Rule};

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

/// By what an order reaches from one resource to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Via {
    /// An edge between them.
    Edge(EdgeKind),
    /// Edges through resources between them that the step leaves alone.
    Others,
    /// They are one and the same: it is replaced.
    Itself,
}

/// Why two operations are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    /// The rule that says so.
    pub rule: Rule,
    /// How the two resources are connected.
    pub via: Via,
    /// Whether it is so because create_before_destroy has spread to a resource that does not ask for it itself.
    pub spread: bool,
}

/// What a correct engine does: these operations and no others, each pair of the order one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectation {
    /// The operations.
    pub operations: BTreeSet<ExpectedOperation>,
    /// Pairs of which the first must have ended before the second begins, each with the reason.
    pub order: BTreeMap<(ExpectedOperation, ExpectedOperation), Reason>,
    /// The resources that are replaced, and which operation comes first.
    pub replacements: BTreeMap<String, ReplacementOrder>,
    /// How many resources are in both programs and left alone.
    pub left_alone: usize,
}

/// Which operation of a replacement comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplacementOrder {
    /// The delete, as by default.
    DeleteFirst,
    /// The create: create_before_destroy is in force.
    CreateFirst,
    /// Either will do: create_before_destroy comes or goes in this very step.
    Either,
}

impl ReplacementOrder {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::DeleteFirst, Self::CreateFirst, Self::Either];

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::DeleteFirst => "delete first",
            Self::CreateFirst => "create first",
            Self::Either => "either order",
        }
    }
}

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

impl From<Turn> for ReplacementOrder {
    fn from(turn: Turn) -> Self {
        match turn {
            Turn::Delete => Self::DeleteFirst,
            Turn::Create => Self::CreateFirst,
            Turn::Either => Self::Either,
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
struct Plan<'a> {
    fates: Vec<Fate>,
    /// For each number whether create_before_destroy decides its fate, and it does not ask for it itself.
    spread: Vec<bool>,
    left_out: &'a LeftOut,
    /// Pairs as in [`Expectation::order`]. Of several rules for a pair the first one counts.
    order: Vec<(Deed, Deed, Reason)>,
}

impl Expectation {
    /// What leads from `before`, which is deployed, to `after`.
    pub fn between(before: &Deployment, after: &Deployment) -> Self {
        Self::without(&LeftOut::none(), before, after)
    }

    /// The same by all rules but some.
    pub fn without(left_out: &LeftOut, before: &Deployment, after: &Deployment) -> Self {
        let numbering = Numbering::of(&[before, after]);
        let (before, after) = (numbering.program(before), numbering.program(after));
        let (fates, spread) = fates(&before, &after);
        let mut plan = Plan { fates, spread, left_out, order: Vec::new() };
        plan.order_replacements();
        plan.order_edges_of_after(&after);
        plan.order_edges_of_before(&before);
        // Numbers are in the order of the keys: what is sorted by number need not be sorted again.
        plan.order.sort_by_key(|(first, second, _)| (*first, *second));
        plan.order.dedup_by_key(|(first, second, _)| (*first, *second));
        let named = |(number, kind): Deed| ExpectedOperation::new(numbering.key(number), kind);
        let order =
            plan.order.into_iter().map(|(first, second, reason)| ((named(first), named(second)), reason));
        let fates = || (0..).zip(&plan.fates);
        let operations = fates().flat_map(|(number, fate)| {
            let deleted = fate.deletes().then_some(Kind::Delete);
            fate.making().into_iter().chain(deleted).map(move |kind| (number, kind))
        });
        let replacements = fates().filter_map(|(number, fate)| match fate {
            Fate::Replaced(turn) => Some((numbering.key(number).to_owned(), (*turn).into())),
            _ => None,
        });
        Self {
            operations: operations.map(named).collect(),
            order: order.collect(),
            replacements: replacements.collect(),
            left_alone: plan.fates.iter().filter(|fate| **fate == Fate::Kept).count(),
        }
    }
}

impl Plan<'_> {
    fn fate(&self, number: Number) -> Fate {
        self.fates[number as usize]
    }

    /// Puts one before the other, unless the rule is left out. `spread_to` is the resource whose
    /// create_before_destroy the rule rests on.
    fn first(&mut self, first: Deed, second: Deed, rule: Rule, via: Via, spread_to: Option<Number>) {
        if !self.left_out.has(rule) {
            let spread = spread_to.is_some_and(|number| self.spread[number as usize]);
            self.order.push((first, second, Reason { rule, via, spread }));
        }
    }

    fn order_replacements(&mut self) {
        for number in 0..self.fates.len() as Number {
            let (delete, create) = ((number, Kind::Delete), (number, Kind::Create));
            match self.fate(number) {
                Fate::Replaced(Turn::Delete) => {
                    self.first(delete, create, Rule::DeleteThenCreate, Via::Itself, None);
                }
                Fate::Replaced(Turn::Create) => {
                    self.first(create, delete, Rule::CreateThenDelete, Via::Itself, Some(number));
                }
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
                    let via = via(after, dependency, dependent);
                    let (first, second) = ((dependency, first), (dependent, second));
                    self.first(first, second, Rule::DependencyMadeFirst, via, None);
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
                let (upper, lower) = (self.fate(dependency), self.fate(dependent));
                if upper.deletes() || lower.deletes() {
                    let via = via(before, dependency, dependent);
                    self.order_ends((dependency, upper), (dependent, lower), via);
                }
            }
        }
    }

    fn order_ends(
        &mut self,
        (dependency, upper): (Number, Fate),
        (dependent, lower): (Number, Fate),
        via: Via,
    ) {
        let (delete_dependency, delete_dependent) = ((dependency, Kind::Delete), (dependent, Kind::Delete));
        if upper.deletes() && lower.deletes() {
            let rule = Rule::DependentDeletedFirst;
            self.first(delete_dependent, delete_dependency, rule, via, None);
        }
        match (upper, lower) {
            // With create_before_destroy in force for what is removed, engines change first: nothing is asked. A
            // dependency that is replaced old object first is deleted in between, which says it already.
            (
                Fate::Updated | Fate::Replaced(Turn::Create),
                Fate::Deleted(Turn::Delete) | Fate::Replaced(Turn::Delete),
            ) => {
                let made = if upper == Fate::Updated { Kind::Update } else { Kind::Create };
                let rule = Rule::DependentDeletedBeforeChange;
                self.first(delete_dependent, (dependency, made), rule, via, None);
            }
            (Fate::Deleted(Turn::Delete), Fate::Updated) => {
                let rule = Rule::RemovedDependencyFirst;
                self.first(delete_dependency, (dependent, Kind::Update), rule, via, None);
            }
            (Fate::Deleted(Turn::Delete), Fate::Replaced(Turn::Delete)) => {
                let rule = Rule::RemovedDependencyFirst;
                self.first(delete_dependency, (dependent, Kind::Create), rule, via, None);
            }
            _ => {}
        }
        let rule = match upper {
            Fate::Deleted(Turn::Create) => Rule::RemovedDependencyOutlives,
            Fate::Replaced(Turn::Create) => Rule::DependentsChangeOver,
            _ => return,
        };
        if let Some(kind) = lower.making() {
            self.first((dependent, kind), delete_dependency, rule, via, Some(dependency));
        }
    }
}

/// How a dependent is connected to something that it depends on.
fn via(program: &NumberedProgram, dependency: Number, dependent: Number) -> Via {
    program.edge(dependency, dependent).map_or(Via::Others, Via::Edge)
}

/// What becomes of each number, and whether that rests on a create_before_destroy that it does not ask for itself.
fn fates(before: &NumberedProgram, after: &NumberedProgram) -> (Vec<Fate>, Vec<bool>) {
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
    let spread = (0..).zip(&fates).map(|(number, fate)| match fate {
        Fate::Deleted(Turn::Create) => !before.asks(number),
        Fate::Replaced(Turn::Create) => !after.asks(number),
        _ => false,
    });
    let spread = spread.collect();
    (fates, spread)
}
