//! What becomes of each instance in a step, whichever engine takes it.

use super::action::Options;
use super::dependencies::{Number, NumberedGraph, Numbering};
use super::deployed::Deployed;
use super::operation::OperationKind;
use super::program::{EdgeKind, Program};

/// What becomes of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is new.
    Created,
    /// Nothing.
    Kept,
    /// It is changed in place.
    Updated,
    /// Its object is deleted, and another one created.
    Replaced,
    /// It is gone.
    Deleted,
}

impl Change {
    /// The operation that leaves a new or changed object behind.
    pub fn making(self) -> Option<OperationKind> {
        match self {
            Self::Created | Self::Replaced => Some(OperationKind::Create),
            Self::Updated => Some(OperationKind::Update),
            Self::Kept | Self::Deleted => None,
        }
    }

    /// Whether an object is deleted.
    pub fn deletes(self) -> bool {
        matches!(self, Self::Replaced | Self::Deleted)
    }
}

/// What becomes of all instances in a step.
pub struct Changes {
    /// Their numbers.
    pub numbering: Numbering,
    /// What was deployed.
    pub before: NumberedGraph,
    /// What the program says.
    pub after: NumberedGraph,
    changes: Vec<Change>,
}

impl Changes {
    /// In the step from what is deployed to a program.
    pub fn of(deployed: &Deployed, program: &Program, options: &Options) -> Self {
        let numbering = Numbering::of(deployed, program);
        let (before, after) = (numbering.deployed(deployed), numbering.program(program));
        let mut changes = vec![Change::Kept; numbering.len()];
        for number in before.numbers().filter(|number| !after.has(*number)) {
            changes[number as usize] = Change::Deleted;
        }
        let asked_for = |number| {
            !options.replace.is_empty() && options.replace.contains(&numbering.address(number).block)
        };
        // Dependencies first: a dependency that is replaced has a new id, which is a change of those that refer
        // to it.
        for number in after.dependencies_first() {
            let changed = |kind| {
                let is_replaced = |dependency: Number| changes[dependency as usize] == Change::Replaced;
                !before.by(kind, number).eq(after.by(kind, number)) || after.by(kind, number).any(is_replaced)
            };
            changes[number as usize] = if !before.has(number) {
                Change::Created
            } else if asked_for(number) || changed(EdgeKind::PinnedRefs) {
                Change::Replaced
            } else if changed(EdgeKind::Refs) {
                Change::Updated
            } else {
                Change::Kept
            };
        }
        Self { numbering, before, after, changes }
    }

    /// What becomes of a number.
    pub fn of_number(&self, number: Number) -> Change {
        self.changes[number as usize]
    }

    /// The operations, in the order of the numbers.
    pub fn operations(&self) -> impl Iterator<Item = (Number, OperationKind)> {
        self.numbers().flat_map(|number| {
            let change = self.of_number(number);
            let deleted = change.deletes().then_some(OperationKind::Delete);
            change.making().into_iter().chain(deleted).map(move |kind| (number, kind))
        })
    }

    /// All numbers.
    pub fn numbers(&self) -> std::ops::Range<Number> {
        0..self.changes.len() as Number
    }
}
