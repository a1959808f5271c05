//! What becomes of each node in a step, as an engine family's [`semantics`](super::semantics) decides it.

use std::collections::BTreeMap;

use super::dependencies::{Number, NumberedGraph, Numbering};
use super::operation::{ObjectRole, OperationKind, ResourceOperation};

/// What becomes of a node.
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

    /// Whether the current object is deleted.
    pub fn deletes(self) -> bool {
        matches!(self, Self::Replaced | Self::Deleted)
    }
}

/// Why a node is changed, for counting what was exercised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Its references come or go, or name something new.
    References,
    /// Its label is another.
    Label,
    /// Its pin is another.
    Pin,
    /// It is triggered by a change of another resource, or of its label.
    Trigger,
    /// The command asks for it.
    Asked,
    /// It is marked to be replaced.
    Mark,
}

impl Cause {
    /// All causes.
    pub const ALL: [Self; 6] =
        [Self::References, Self::Label, Self::Pin, Self::Trigger, Self::Asked, Self::Mark];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::References => "references",
            Self::Label => "label",
            Self::Pin => "pin",
            Self::Trigger => "trigger",
            Self::Asked => "command",
            Self::Mark => "mark",
        }
    }
}

/// An operation on the node with a number, and on which of its objects.
pub type NumberedOperation = (Number, OperationKind, ObjectRole);

/// The operation that creates or updates the node with a number.
pub fn make(number: Number, kind: OperationKind) -> NumberedOperation {
    let object = if kind == OperationKind::Create { ObjectRole::New } else { ObjectRole::Current };
    (number, kind, object)
}

/// The operation that deletes the current object of the node with a number.
pub fn delete(number: Number) -> NumberedOperation {
    (number, OperationKind::Delete, ObjectRole::Current)
}

/// What becomes of all nodes in a step.
pub struct Changes {
    /// Their numbers.
    pub numbering: Numbering,
    /// What was deployed.
    pub before: NumberedGraph,
    /// What the program says.
    pub after: NumberedGraph,
    pub(super) changes: Vec<Change>,
    pub(super) causes: Vec<Option<Cause>>,
    /// How many objects await deletion since an earlier step.
    pub(super) pending: Vec<u32>,
    /// Whether the step is limited to a part of the program.
    pub(super) is_limited: bool,
}

impl Changes {
    /// What becomes of a number.
    pub fn of_number(&self, number: Number) -> Change {
        self.changes[number as usize]
    }

    /// Why a number is updated or replaced.
    pub fn cause(&self, number: Number) -> Option<Cause> {
        self.causes[number as usize]
    }

    /// An operation by the key of its node.
    pub fn named(&self, (number, kind, object): NumberedOperation) -> ResourceOperation {
        ResourceOperation { key: self.numbering.key(number).clone(), kind, object }
    }

    /// How many changes there are, by what they are and why.
    pub fn causes(&self) -> BTreeMap<String, u64> {
        let mut causes: BTreeMap<String, u64> = BTreeMap::new();
        let mut count = |what: String| *causes.entry(what).or_default() += 1;
        for number in self.before.numbers().filter(|number| self.after.has(*number)) {
            let (change, cause) = (self.of_number(number), self.cause(number));
            let change = if change == Change::Updated { "updated" } else { "replaced" };
            cause.into_iter().for_each(|cause| count(format!("{change} by {}", cause.name())));
            match (self.before.asks(number), self.after.asks(number)) {
                (false, true) => count("create_before_destroy comes".to_owned()),
                (true, false) => count("create_before_destroy goes".to_owned()),
                _ => {}
            }
            for &dependency in self.after.dependencies(number) {
                let kinds = (self.before.edge(dependency, number), self.after.edge(dependency, number));
                if let (Some(was), Some(is)) = kinds
                    && was != is
                {
                    count("kind of an edge changes".to_owned());
                }
            }
        }
        causes
    }

    /// The operations, in the order of the numbers.
    pub fn operations(&self) -> impl Iterator<Item = NumberedOperation> {
        self.numbers().flat_map(|number| {
            let change = self.of_number(number);
            let made = change.making().map(|kind| make(number, kind));
            let deleted = change.deletes().then(|| delete(number));
            made.into_iter().chain(deleted).chain(self.old_deletes(number))
        })
    }

    /// The deletes of objects of a node that an earlier step left behind.
    pub fn old_deletes(&self, number: Number) -> impl Iterator<Item = NumberedOperation> + use<> {
        let pending = 0..self.pending[number as usize];
        pending.map(move |old| (number, OperationKind::Delete, ObjectRole::Old(old)))
    }

    /// Operations that may be done or not: engines do not agree whether a step that is limited to a part of the
    /// program deletes objects that an earlier step left behind.
    pub fn optional(&self) -> impl Iterator<Item = NumberedOperation> {
        let stays = |number: &Number| self.is_limited && !self.of_number(*number).deletes();
        self.numbers().filter(stays).flat_map(|number| self.old_deletes(number))
    }

    /// All numbers.
    pub fn numbers(&self) -> std::ops::Range<Number> {
        0..self.changes.len() as Number
    }
}
