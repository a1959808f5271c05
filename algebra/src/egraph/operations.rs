//! The operations over a universe of resources, numbered densely so that tables can be indexed by them.

use std::ops::Range;

use crate::graph::{Edge, Resource};
use crate::program::Step;
use crate::rules::{Arguments, StepKind};
use crate::signature::Signature;

/// An operation with its arguments, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Op(pub u32);

/// All operations over so many resources: each `add`, then each `rem`, each `con`, each `disc` and each `set`.
#[derive(Debug, Clone)]
pub struct Operations {
    resources: u32,
    kinds: u32,
    /// The number of the first operation of each kind, and how many there are in all.
    starts: [u32; StepKind::ALL.len() + 1],
    signature: Signature,
    /// Where the values of each attribute begin among those of a resource; in the end, how many there are.
    values: Vec<u32>,
    steps: Vec<(StepKind, Arguments)>,
}

impl Operations {
    /// The operations over the first `resources` resources.
    pub fn over(resources: u32, signature: &Signature) -> Self {
        let all = || (0..resources).map(Resource::new);
        let edges =
            || all().flat_map(|to| (0..to.index()).map(move |from| Edge::new(Resource::new(from), to)));
        let connect =
            edges().flat_map(|edge| signature.kind_numbers().map(move |kind| Step::Con(edge, kind)));
        let set =
            all().flat_map(|node| signature.values().map(move |(name, value)| Step::Set(node, name, value)));
        let steps = all().map(Step::Add).chain(all().map(Step::Rem)).chain(connect);
        let steps: Vec<_> = steps.chain(edges().map(Step::Disc)).chain(set).map(StepKind::of).collect();
        let small = |count: usize| u32::try_from(count).expect("a few names");
        let mut values = vec![0];
        for attribute in signature.attributes() {
            values.push(values[values.len() - 1] + small(attribute.values().len()));
        }
        let (pairs, kinds) = (pair_count(resources), small(signature.kinds().len()));
        let discs = 2 * resources + pairs * kinds;
        let starts = [0, resources, 2 * resources, discs, discs + pairs, small(steps.len())];
        Self { resources, kinds, starts, signature: signature.clone(), values, steps }
    }

    /// How many resources the universe has.
    pub fn resources(&self) -> u32 {
        self.resources
    }

    /// What its resources and edges can be like.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// How many operations there are.
    pub fn count(&self) -> u32 {
        self.starts[StepKind::ALL.len()]
    }

    /// The numbers of all operations of a kind.
    pub fn of_kind(&self, kind: StepKind) -> Range<u32> {
        self.starts[kind as usize]..self.starts[kind as usize + 1]
    }

    /// The number of the operation with these arguments, unless the algebra has none: one that goes against the
    /// order, or a value that an attribute does not have.
    #[inline]
    pub fn number(&self, kind: StepKind, arguments: Arguments) -> Option<Op> {
        let [first, second, third] = arguments;
        let pair = || pair_index(Resource::new(first), Resource::new(second));
        let offset = match kind {
            StepKind::Add | StepKind::Rem => first,
            StepKind::Con if first < second && third < self.kinds => pair() * self.kinds + third,
            StepKind::Disc if first < second => pair(),
            StepKind::Set => {
                let value = *self.values.get(second as usize)? + third;
                let has_value = value < *self.values.get(second as usize + 1)?;
                let of_resource = self.values[self.values.len() - 1];
                has_value.then_some(first * of_resource + value)?
            }
            StepKind::Con | StepKind::Disc => return None,
        };
        Some(Op(self.starts[kind as usize] + offset))
    }

    /// The number of a step, unless no operation here does what it does.
    pub fn of_step(&self, step: Step) -> Option<Op> {
        let (kind, arguments) = StepKind::of(step);
        self.number(kind, arguments)
    }

    /// The kind and the arguments of an operation.
    pub fn parts(&self, op: Op) -> (StepKind, Arguments) {
        self.steps[op.0 as usize]
    }

    /// The step an operation is.
    pub fn step(&self, op: Op) -> Step {
        let (kind, arguments) = self.parts(op);
        kind.step(arguments)
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
    fn what_a_signature_does_not_have_is_no_operation() {
        let steps = Operations::over(2, Signature::attributed()).steps;
        let (bare, part) =
            (Operations::over(2, Signature::bare()), Operations::over(2, &Signature::part(&[2], 2)));
        let numbered = |operations: &Operations| {
            steps.iter().filter(|step| operations.number(step.0, step.1).is_some()).count()
        };
        assert_eq!((numbered(&bare), numbered(&part)), (bare.count() as usize, part.count() as usize));
    }

    #[test]
    fn every_operation_has_a_number_of_its_own() {
        for (signature, count) in [(Signature::bare(), 42), (Signature::attributed(), 12 + 15 * 6 + 6 * 11)] {
            let operations = Operations::over(6, signature);
            assert_eq!(operations.count(), count);
            for number in 0..operations.count() {
                assert_eq!(operations.of_step(operations.step(Op(number))), Some(Op(number)));
            }
        }
    }
}
