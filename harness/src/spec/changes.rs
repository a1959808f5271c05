//! What becomes of each instance in a step, whichever engine takes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::action::Options;
use super::address::Address;
use super::dependencies::{Number, NumberedGraph, Numbering};
use super::deployed::{Deployed, Instance};
use super::discipline::{Discipline, NumberedOperation};
use super::operation::OperationKind;
use super::program::{Block, Dependencies, EdgeKind, Program};

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

/// Why an instance is changed, for counting what was exercised.
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
    /// It is tainted.
    Taint,
}

impl Cause {
    /// All there are.
    pub const ALL: [Self; 6] =
        [Self::References, Self::Label, Self::Pin, Self::Trigger, Self::Asked, Self::Taint];

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::References => "references",
            Self::Label => "label",
            Self::Pin => "pin",
            Self::Trigger => "trigger",
            Self::Asked => "-replace",
            Self::Taint => "taint",
        }
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
    causes: Vec<Option<Cause>>,
    /// Whether an old object is left from an earlier step, which is deleted in any case.
    deposed: Vec<bool>,
    /// Whether the step has targets.
    has_targets: bool,
}

impl Changes {
    /// In the step from what is deployed to a program, both as far as the step reaches.
    pub fn of(
        deployed: &Deployed,
        program: &Program,
        options: &Options,
        discipline: &dyn Discipline,
    ) -> Self {
        let numbering = Numbering::of(deployed, program);
        let (before, after) = (numbering.deployed(deployed), numbering.program(program));
        let mut changes = vec![Change::Kept; numbering.len()];
        let mut causes = vec![None; numbering.len()];
        let mut deposed = vec![false; numbering.len()];
        for number in before.numbers().filter(|number| !after.has(*number)) {
            changes[number as usize] = Change::Deleted;
        }
        // Dependencies first: a dependency that is replaced has a new id, which is a change of those that refer
        // to it.
        for number in after.dependencies_first() {
            let address = numbering.address(number);
            let block = &program.blocks[&address.block];
            let Some(instance) = deployed.instances.get(address) else {
                changes[number as usize] = Change::Created;
                continue;
            };
            deposed[number as usize] = instance.deposed;
            if !reached(options, &address.block) {
                continue;
            }
            let is_new = |dependency: Number| {
                matches!(changes[dependency as usize], Change::Replaced | Change::Created)
            };
            let stale = |dependency| instance.stale.contains(&numbering.address(dependency).block);
            let others = |kind: EdgeKind| {
                let of_kind = |dependencies: &'_ Dependencies| -> Vec<Address> {
                    let of_kind = dependencies.iter().filter(|(_, other)| **other == kind);
                    of_kind.map(|(address, _)| address.clone()).collect()
                };
                !Arc::ptr_eq(&instance.dependencies, &block.dependencies)
                    && of_kind(&instance.dependencies) != of_kind(&block.dependencies)
            };
            let changed = |kind| {
                let mut of_kind = after.by(kind, number);
                others(kind) || of_kind.any(|dependency| is_new(dependency) || stale(dependency))
            };
            let triggered = || {
                let by_change = after
                    .by(EdgeKind::TriggeredBy, number)
                    .any(|dependency| discipline.triggers(changes[dependency as usize]));
                by_change
                    || after.by(EdgeKind::TriggeredByLabel, number).any(|dependency| {
                        let change = changes[dependency as usize];
                        // What is new has a label that was not there before, whatever it is.
                        (change == Change::Created && discipline.triggers(change))
                            || label_changes(deployed, program, &numbering, dependency, change)
                    })
            };
            let replaces = [
                (instance.tainted, Cause::Taint),
                (options.replace.contains(&address.block), Cause::Asked),
                (instance.pin != block.pin, Cause::Pin),
                (changed(EdgeKind::PinnedRefs), Cause::References),
                (triggered(), Cause::Trigger),
            ];
            let updates = [
                (instance.label != block.label && !block.ignore_changes, Cause::Label),
                (changed(EdgeKind::Refs), Cause::References),
            ];
            let first = |causes: &[(bool, Cause)]| causes.iter().find(|cause| cause.0).map(|cause| cause.1);
            (changes[number as usize], causes[number as usize]) = match (first(&replaces), first(&updates)) {
                (Some(cause), _) => (Change::Replaced, Some(cause)),
                (None, Some(cause)) => (Change::Updated, Some(cause)),
                (None, None) => (Change::Kept, None),
            };
        }
        Self { numbering, before, after, changes, causes, deposed, has_targets: !options.target.is_empty() }
    }

    /// What becomes of a number.
    pub fn of_number(&self, number: Number) -> Change {
        self.changes[number as usize]
    }

    /// Why a number is updated or replaced.
    pub fn cause(&self, number: Number) -> Option<Cause> {
        self.causes[number as usize]
    }

    /// How many changes there are, by what they are and why, for people.
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
    pub fn operations(&self) -> impl Iterator<Item = (Number, OperationKind)> {
        self.numbers().flat_map(|number| {
            let change = self.of_number(number);
            let deletes = change.deletes() || self.deposed[number as usize];
            let deleted = deletes.then_some(OperationKind::Delete);
            change.making().into_iter().chain(deleted).map(move |kind| (number, kind))
        })
    }

    /// Operations that may be done or not: engines do not agree whether an apply with targets deletes old objects that
    /// are left from an earlier step.
    pub fn optional(&self) -> impl Iterator<Item = NumberedOperation> {
        let is_it = |number: &Number| {
            self.has_targets && self.deposed[*number as usize] && !self.of_number(*number).deletes()
        };
        self.numbers().filter(is_it).map(|number| (number, OperationKind::Delete))
    }

    /// All numbers.
    pub fn numbers(&self) -> std::ops::Range<Number> {
        0..self.changes.len() as Number
    }

    /// What is deployed after all of it is done.
    pub fn outcome(&self, deployed: &Deployed, program: &Program, options: &Options) -> Deployed {
        let mut instances = BTreeMap::new();
        for number in self.numbers() {
            let address = self.numbering.address(number);
            let (was, block) = (deployed.instances.get(address), program.blocks.get(&address.block));
            let is_reached = reached(options, &address.block);
            let now = match (self.of_number(number), was, block) {
                (Change::Deleted, ..) => continue,
                (Change::Created | Change::Replaced, _, Some(block)) => block.into(),
                (Change::Updated | Change::Kept, Some(was), Some(block)) if is_reached => {
                    was.written_by(block)
                }
                (_, Some(was), _) => self.left_alone(number, was),
                (_, None, _) => continue,
            };
            instances.insert(address.clone(), now);
        }
        Deployed { instances }
    }

    /// An instance that the step does not reach: what it refers to may have been replaced.
    fn left_alone(&self, number: Number, was: &Instance) -> Instance {
        let mut instance = was.clone();
        for &dependency in self.before.dependencies(number) {
            let by_value = self.before.edge(dependency, number).is_some_and(EdgeKind::leaves_a_value);
            if by_value && self.of_number(dependency) == Change::Replaced {
                instance.stale.insert(self.numbering.address(dependency).block.clone());
            }
        }
        instance
    }
}

/// Whether a step reaches a block: it has no targets, or this is one of them. Targets are complete: see
/// [`Program::reached`].
fn reached(options: &Options, address: &Address) -> bool {
    options.target.is_empty() || options.target.contains(address)
}

/// Whether the label of an instance is another after the step than before.
fn label_changes(
    deployed: &Deployed,
    program: &Program,
    numbering: &Numbering,
    number: Number,
    change: Change,
) -> bool {
    let address = numbering.address(number);
    let (was, block) = (deployed.instances.get(address), program.blocks.get(&address.block));
    let Some((was, block)) = was.zip(block) else { return false };
    let now: &Option<Arc<str>> = match change {
        Change::Replaced => &block.label,
        Change::Updated | Change::Kept if block.ignore_changes => &was.label,
        _ => &block.label,
    };
    was.label != *now
}

/// A program as far as a step reaches, and the complete targets of that.
pub struct Reached {
    /// What is to be there: what is targeted as the program says, everything else as it is.
    pub program: Program,
    /// The options with all that the targets bring along.
    pub options: Options,
}

impl Program {
    /// As far as a step with targets reaches: the targets with all that they depend on, as the program says. A target
    /// that the program does not have is deleted, with all that depends on it.
    pub fn reached(&self, deployed: &Deployed, options: &Options) -> Reached {
        let mut target = BTreeSet::new();
        let mut open: Vec<&Address> = options.target.iter().collect();
        while let Some(address) = open.pop() {
            if !target.insert(address.clone()) {
                continue;
            }
            match self.blocks.get(address) {
                Some(block) => open.extend(block.dependencies.keys()),
                None => open.extend(
                    deployed
                        .instances
                        .iter()
                        .filter(|(_, instance)| instance.dependencies.contains_key(address))
                        .map(|(dependent, _)| &dependent.block),
                ),
            }
        }
        let written = self.blocks.iter().filter(|(address, _)| target.contains(*address));
        let mut program = Self {
            blocks: written.map(|(address, block)| (address.clone(), block.clone())).collect(),
            outputs: self.outputs,
        };
        for (address, instance) in &deployed.instances {
            if !target.contains(&address.block) {
                // What the step does not reach passes no setting on: the engine does not look at it.
                let block = Block { create_before_destroy: false, ..instance.as_block() };
                program.blocks.insert(address.block.clone(), block);
            }
        }
        Reached { program, options: Options { target, ..options.clone() } }
    }
}
