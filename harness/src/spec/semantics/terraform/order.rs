//! The order that Terraform and OpenTofu keep: rules 1 to 8 of `docs/model.md`.

use super::super::Ordering;
use crate::spec::changes::{Change, Changes, NumberedOperation, delete, make};
use crate::spec::dependencies::{Number, NumberedGraph, Walk};
use crate::spec::expectation::{Reason, ReplacementOrder, Via};
use crate::spec::operation::OperationKind;
use crate::spec::rule::{LeftOut, Rule};

/// The order of a step, by all rules but some.
pub(super) fn order(changes: &Changes, left_out: &LeftOut) -> Ordering {
    let mut rules = Rules::new(changes, left_out);
    rules.order_replacements();
    rules.order_edges_of_after();
    rules.order_edges_of_before();
    rules.order_old_objects();
    rules.ordering
}

/// The rules, at work on a step.
struct Rules<'a> {
    changes: &'a Changes,
    /// Which operation comes first where an object is deleted: the delete, or what is made beside it.
    first: Vec<ReplacementOrder>,
    /// For each number whether that rests on a create_before_destroy that it does not ask for itself.
    spread: Vec<bool>,
    left_out: &'a LeftOut,
    ordering: Ordering,
}

impl<'a> Rules<'a> {
    fn new(changes: &'a Changes, left_out: &'a LeftOut) -> Self {
        let (before, after) = (&changes.before, &changes.after);
        let (was_in_force, in_force) = (before.create_before_destroy(), after.create_before_destroy());
        // What comes into force by the program, over the edges that were deployed.
        let comes_into_force = before.spread(&in_force);
        let order = |number: Number| {
            let place = number as usize;
            let (in_force, in_question) = match changes.of_number(number) {
                Change::Deleted => (was_in_force[place], comes_into_force[place]),
                _ => (in_force[place], was_in_force[place] || comes_into_force[place]),
            };
            match (in_force, in_question) {
                (true, _) => ReplacementOrder::CreateFirst,
                (false, true) => ReplacementOrder::Either,
                (false, false) => ReplacementOrder::DeleteFirst,
            }
        };
        let first: Vec<ReplacementOrder> = changes.numbers().map(order).collect();
        let spread = changes.numbers().map(|number| {
            let asks = match changes.of_number(number) {
                Change::Deleted => before.asks(number),
                Change::Replaced => after.asks(number),
                _ => return false,
            };
            first[number as usize] == ReplacementOrder::CreateFirst && !asks
        });
        Self { changes, spread: spread.collect(), first, left_out, ordering: Ordering::default() }
    }

    fn change(&self, number: Number) -> Change {
        self.changes.of_number(number)
    }

    /// Puts one before the other, unless the rule is left out. `spread_to` is the resource whose
    /// create_before_destroy the rule rests on.
    fn first(
        &mut self,
        first: NumberedOperation,
        second: NumberedOperation,
        rule: Rule,
        via: Via,
        spread_to: Option<Number>,
    ) {
        if !self.left_out.has(rule) {
            let spread = spread_to.is_some_and(|number| self.spread[number as usize]);
            self.ordering.pairs.push((first, second, Reason { rule, via, spread, implied: false }));
        }
    }

    fn order_replacements(&mut self) {
        let changes = self.changes;
        for number in changes.numbers().filter(|number| changes.of_number(*number) == Change::Replaced) {
            let (delete, create) = (delete(number), make(number, OperationKind::Create));
            let order = self.first[number as usize];
            self.ordering.replacements.push((number, order));
            match order {
                ReplacementOrder::DeleteFirst => {
                    self.first(delete, create, Rule::DeleteThenCreate, Via::Itself, None);
                }
                ReplacementOrder::CreateFirst => {
                    self.first(create, delete, Rule::CreateThenDelete, Via::Itself, Some(number));
                }
                ReplacementOrder::Either => {}
            }
        }
    }

    /// A dependency is made before its dependent, also where those between them are left alone.
    fn order_edges_of_after(&mut self) {
        let (changes, after) = (self.changes, &self.changes.after);
        let mut walk = Walk::over(changes.numbering.len());
        for dependent in after.numbers() {
            let Some(second) = self.change(dependent).making() else { continue };
            let is_made = |number| changes.of_number(number).making().is_some();
            for &dependency in walk.from(after, dependent, is_made) {
                if let Some(first) = self.change(dependency).making() {
                    let via = via(after, dependency, dependent);
                    let (first, second) = (make(dependency, first), make(dependent, second));
                    self.first(first, second, Rule::DependencyMadeFirst, via, None);
                }
            }
        }
    }

    /// What dependencies that were deployed ask of the deletes at their ends, also through those that no
    /// delete touches.
    fn order_edges_of_before(&mut self) {
        let (changes, before) = (self.changes, &self.changes.before);
        let mut walk = Walk::over(changes.numbering.len());
        for dependent in before.numbers() {
            let is_deleted = |number| changes.of_number(number).deletes();
            for &dependency in walk.from(before, dependent, is_deleted) {
                if is_deleted(dependency) || is_deleted(dependent) {
                    self.order_ends(dependency, dependent, via(before, dependency, dependent));
                }
            }
        }
    }

    /// An object that an earlier step left behind is deleted after all that depends on it has changed over or is
    /// deleted. Nothing waits for its delete but deletes: an order that has something made wait for it as well could
    /// not always be kept.
    fn order_old_objects(&mut self) {
        let (changes, before) = (self.changes, &self.changes.before);
        if changes.numbers().all(|number| changes.old_deletes(number).next().is_none()) {
            return;
        }
        let makes_nothing = changes.numbers().all(|number| changes.of_number(number).making().is_none());
        let mut walk = Walk::over(changes.numbering.len());
        for dependent in before.numbers() {
            let lower = changes.of_number(dependent);
            for &dependency in walk.from(before, dependent, |_| false) {
                let via = via(before, dependency, dependent);
                let is_removed = changes.of_number(dependency) == Change::Deleted;
                let of_dependent = || lower.deletes().then(|| delete(dependent)).into_iter();
                for old in changes.old_deletes(dependency) {
                    let rule =
                        if is_removed { Rule::RemovedDependencyOutlives } else { Rule::DependentsChangeOver };
                    if let Some(made) = lower.making() {
                        self.first(make(dependent, made), old, rule, via, None);
                    }
                    for deleted in of_dependent().chain(changes.old_deletes(dependent)) {
                        self.first(deleted, old, Rule::DependentDeletedFirst, via, None);
                    }
                }
                if changes.of_number(dependency).deletes() && makes_nothing {
                    for old in changes.old_deletes(dependent) {
                        self.first(old, delete(dependency), Rule::DependentDeletedFirst, via, None);
                    }
                }
            }
        }
    }

    fn order_ends(&mut self, dependency: Number, dependent: Number, via: Via) {
        use Change::{Deleted, Replaced, Updated};
        use ReplacementOrder::{CreateFirst, DeleteFirst};
        let (upper, lower) = (self.change(dependency), self.change(dependent));
        let (upper_first, lower_first) = (self.first[dependency as usize], self.first[dependent as usize]);
        let (delete_dependency, delete_dependent) = (delete(dependency), delete(dependent));
        if upper.deletes() && lower.deletes() {
            let rule = Rule::DependentDeletedFirst;
            self.first(delete_dependent, delete_dependency, rule, via, None);
        }
        // With create_before_destroy in force for what is removed, engines change first: nothing is asked. A
        // dependency that is replaced old object first is deleted in between, which says it already.
        let is_changed = upper == Updated || (upper, upper_first) == (Replaced, CreateFirst);
        if let Some(made) = upper.making().filter(|_| is_changed)
            && lower.deletes()
            && lower_first == DeleteFirst
        {
            let rule = Rule::DependentDeletedBeforeChange;
            self.first(delete_dependent, make(dependency, made), rule, via, None);
        }
        let loses_it = lower == Updated || (lower, lower_first) == (Replaced, DeleteFirst);
        if let Some(made) = lower.making().filter(|_| loses_it)
            && (upper, upper_first) == (Deleted, DeleteFirst)
        {
            let rule = Rule::RemovedDependencyFirst;
            self.first(delete_dependency, make(dependent, made), rule, via, None);
        }
        let rule = match (upper, upper_first) {
            (Deleted, CreateFirst) => Rule::RemovedDependencyOutlives,
            (Replaced, CreateFirst) => Rule::DependentsChangeOver,
            _ => return,
        };
        if let Some(made) = lower.making() {
            self.first(make(dependent, made), delete_dependency, rule, via, Some(dependency));
        }
    }
}

/// How a dependent is connected to something that it depends on.
fn via(graph: &NumberedGraph, dependency: Number, dependent: Number) -> Via {
    graph.edge(dependency, dependent).map_or(Via::Others, Via::Edge)
}
