//! What becomes of each resource in a step, and why.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Terraform;
use crate::spec::action::Options;
use crate::spec::changes::{Cause, Change, Changes};
use crate::spec::configuration::Configuration;
use crate::spec::dependencies::{Number, NumberedGraph, Numbering};
use crate::spec::deployed::Deployed;
use crate::spec::meaning::{Dependencies, EdgeKind, Node, NodeKey};
use crate::spec::memory::{Current, Remembered};

/// What becomes of each node. Dependencies come first: a dependency that is replaced has a new id, which is a change
/// of those that refer to it.
pub(super) fn changes(
    semantics: &Terraform,
    deployed: &Deployed,
    configuration: &Configuration,
    options: &Options,
    reached: Option<&BTreeSet<NodeKey>>,
) -> Changes {
    let numbering = Numbering::of(deployed, configuration);
    let (before, after) = (numbering.deployed(deployed), numbering.written(configuration));
    let mut changes = vec![Change::Kept; numbering.len()];
    let mut causes = vec![None; numbering.len()];
    let mut pending = vec![0; numbering.len()];
    for (key, remembered) in deployed.memory.nodes.iter().filter(|(_, it)| !it.pending.is_empty()) {
        let number = numbering.number(key).expect("what is remembered has a number");
        pending[number as usize] = remembered.pending.len() as u32;
    }
    // Hardly any object refers to one that was replaced without it.
    let outdated = deployed.current().filter_map(|(key, _, _, object)| Some((&**key, &object?.outdated)));
    let outdated: Outdated<'_> = outdated.filter(|(_, outdated)| !outdated.is_empty()).collect();
    for number in before.numbers().filter(|number| !after.has(*number)) {
        changes[number as usize] = Change::Deleted;
    }
    for number in after.dependencies_first() {
        let key = numbering.key(number);
        let remembered = deployed.memory.nodes.get(key);
        let Some((remembered, current)) = remembered.and_then(|it| Some((it, it.current.as_ref()?))) else {
            changes[number as usize] = Change::Created;
            continue;
        };
        if reached.is_some_and(|reached| !reached.contains(key)) {
            continue;
        }
        let node = Compared {
            semantics,
            deployed,
            configuration,
            outdated: outdated.get(&**key).copied(),
            numbering: &numbering,
            after: &after,
            changes: &changes,
            number,
            node: &configuration.meaning.nodes[key],
            remembered,
            current,
        };
        (changes[number as usize], causes[number as usize]) = node.change(options);
    }
    Changes { numbering, before, after, changes, causes, pending, is_limited: reached.is_some() }
}

/// What objects refer to by ids that are gone, by the key of their node.
type Outdated<'a> = FxHashMap<&'a str, &'a BTreeSet<NodeKey>>;

/// A node that is deployed and written, while it is compared. What becomes of its dependencies is decided already.
struct Compared<'a> {
    semantics: &'a Terraform,
    deployed: &'a Deployed,
    configuration: &'a Configuration,
    /// The dependencies that its object refers to by an id which they no longer have.
    outdated: Option<&'a BTreeSet<NodeKey>>,
    numbering: &'a Numbering,
    after: &'a NumberedGraph,
    changes: &'a [Change],
    number: Number,
    node: &'a Node,
    remembered: &'a Remembered,
    current: &'a Current,
}

impl Compared<'_> {
    fn change(&self, options: &Options) -> (Change, Option<Cause>) {
        let (node, current) = (self.node, self.current);
        let replaces = [
            (current.marked, Cause::Mark),
            (options.replace.contains(self.numbering.key(self.number)), Cause::Asked),
            (current.pin != node.pin, Cause::Pin),
            (self.refers_elsewhere(EdgeKind::PinnedRefs), Cause::References),
            (self.is_triggered(), Cause::Trigger),
        ];
        let updates = [
            (current.label != node.label && !node.ignore_changes, Cause::Label),
            (self.refers_elsewhere(EdgeKind::Refs), Cause::References),
        ];
        let first = |causes: &[(bool, Cause)]| causes.iter().find(|cause| cause.0).map(|cause| cause.1);
        match (first(&replaces), first(&updates)) {
            (Some(cause), _) => (Change::Replaced, Some(cause)),
            (None, Some(cause)) => (Change::Updated, Some(cause)),
            (None, None) => (Change::Kept, None),
        }
    }

    fn change_of(&self, number: Number) -> Change {
        self.changes[number as usize]
    }

    /// Whether references of a kind come or go, or name an object that is new.
    fn refers_elsewhere(&self, kind: EdgeKind) -> bool {
        let (was, is) = (&self.remembered.dependencies, &self.node.dependencies);
        let of_kind = |dependencies: &Dependencies| -> Vec<NodeKey> {
            let of_kind = dependencies.iter().filter(|(_, other)| **other == kind);
            of_kind.map(|(key, _)| key.clone()).collect()
        };
        if !Arc::ptr_eq(was, is) && of_kind(was) != of_kind(is) {
            return true;
        }
        self.after.by(kind, self.number).any(|dependency| {
            matches!(self.change_of(dependency), Change::Replaced | Change::Created)
                || self.outdated.is_some_and(|outdated| outdated.contains(self.numbering.key(dependency)))
        })
    }

    /// Whether a change of what it is triggered by replaces it.
    fn is_triggered(&self) -> bool {
        let by_change = self
            .after
            .by(EdgeKind::TriggeredBy, self.number)
            .any(|dependency| self.semantics.triggers(self.change_of(dependency)));
        by_change
            || self.after.by(EdgeKind::TriggeredByLabel, self.number).any(|dependency| {
                let change = self.change_of(dependency);
                // What is new has a label that was not there before, whatever it is.
                (change == Change::Created && self.semantics.triggers(change))
                    || self.label_changes(dependency, change)
            })
    }

    /// Whether the label of a node is another after the step than before.
    fn label_changes(&self, number: Number, change: Change) -> bool {
        let key = self.numbering.key(number);
        let was = self.deployed.memory.node(key).and_then(|it| it.current.as_ref());
        let Some((was, node)) = was.zip(self.configuration.node(key)) else { return false };
        let keeps_it = change != Change::Replaced && node.ignore_changes;
        !keeps_it && was.label != node.label
    }
}
