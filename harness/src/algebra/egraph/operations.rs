//! The operations over a universe of resources, numbered densely so that tables can be indexed by them.

use std::ops::Range;

use crate::algebra::graph::{Edge, Resource};
use crate::algebra::program::Step;
use crate::algebra::rules::StepKind;

/// An operation with its arguments, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op(pub u32);

/// All operations over so many resources: each `add`, then each `rem`, each `con` and each `disc`.
#[derive(Debug, Clone)]
pub struct Operations {
    resources: u32,
    pairs: u32,
    steps: Vec<(StepKind, Resource, Resource)>,
}

impl Operations {
    /// The operations over the first `resources` resources.
    pub fn over(resources: u32) -> Self {
        let all = || (0..resources).map(Resource::new);
        let edges =
            || all().flat_map(|to| (0..to.index()).map(move |from| Edge::new(Resource::new(from), to)));
        let steps = all().map(Step::Add).chain(all().map(Step::Rem));
        let steps: Vec<_> =
            steps.chain(edges().map(Step::Con)).chain(edges().map(Step::Disc)).map(StepKind::of).collect();
        Self { resources, pairs: pair_count(resources), steps }
    }

    /// How many resources the universe has.
    pub fn resources(&self) -> u32 {
        self.resources
    }

    /// How many operations there are.
    pub fn count(&self) -> u32 {
        2 * (self.resources + self.pairs)
    }

    /// The numbers of all operations of a kind.
    pub fn of_kind(&self, kind: StepKind) -> Range<u32> {
        let (nodes, pairs) = (self.resources, self.pairs);
        match kind {
            StepKind::Add => 0..nodes,
            StepKind::Rem => nodes..2 * nodes,
            StepKind::Con => 2 * nodes..2 * nodes + pairs,
            StepKind::Disc => 2 * nodes + pairs..2 * (nodes + pairs),
        }
    }

    /// The number of the operation with these arguments, which come in the fixed order.
    pub fn number(&self, kind: StepKind, first: Resource, second: Resource) -> Op {
        let offset = if kind.takes_edge() { pair_index(first, second) } else { first.index() };
        Op(self.of_kind(kind).start + offset)
    }

    /// The number of a step, unless it disconnects against the order, which no operation here does.
    pub fn of_step(&self, step: Step) -> Option<Op> {
        let (kind, first, second) = StepKind::of(step);
        (!kind.takes_edge() || first < second).then(|| self.number(kind, first, second))
    }

    /// The kind and the arguments of an operation.
    pub fn parts(&self, op: Op) -> (StepKind, Resource, Resource) {
        self.steps[op.0 as usize]
    }

    /// The step an operation is.
    pub fn step(&self, op: Op) -> Step {
        let (kind, first, second) = self.parts(op);
        kind.step(first, second)
    }
}

/// The place of an edge among all edges, those to lower dependents first.
pub fn pair_index(dependency: Resource, dependent: Resource) -> u32 {
    pair_count(dependent.index()) + dependency.index()
}

/// The number of edges between so many resources.
fn pair_count(resources: u32) -> u32 {
    resources * resources.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_number_of_its_own() {
        let operations = Operations::over(6);
        assert_eq!(operations.count(), 42);
        for number in 0..operations.count() {
            assert_eq!(operations.of_step(operations.step(Op(number))), Some(Op(number)));
        }
    }
}
