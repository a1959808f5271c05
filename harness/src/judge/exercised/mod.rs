//! What a campaign exercised: how often each rule of the model applied, and what the operations that it is about did. A
//! clean run says nothing about a rule that was not exercised.
//!
//! [`Exercised`] is the counts, which add up over stages, variants, cases and parts; `stage` takes them from
//! one stage.

mod stage;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::case::stage::{Counted, JudgedAs};
use crate::spec::{EdgeKind, LeftOut, ReplacementOrder, Rule};

/// How often something was exercised, and what came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Pairs of operations that were both observed; for rules that order nothing, resources.
    pub exercised: u64,
    /// Those that did as the rule demands. Where any order will do: those that came one after the other.
    pub kept: u64,
    /// Kept pairs between which no other operation ended: the first was the last that the second can have
    /// waited for. Without the rule, these would have overlapped.
    pub adjacent: u64,
    /// Pairs that were under way at the same time.
    pub overlapped: u64,
    /// Pairs that came in the opposite order.
    pub reversed: u64,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.exercised += other.exercised;
        self.kept += other.kept;
        self.adjacent += other.adjacent;
        self.overlapped += other.overlapped;
        self.reversed += other.reversed;
    }
}

/// The check that says that the operations of all stages were compared with those that were expected.
pub const OPERATIONS_COMPARED: &str = "operations compared";

/// The check that counts stages in which the model allows operations to overlap.
pub const MAY_OVERLAP: &str = "stages that allow operations to overlap";

/// The check that counts those of them in which some did.
pub const OVERLAPPED: &str = "stages in which operations overlapped";

/// What was exercised. What is not there has a count of nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exercised {
    /// By rule of the model.
    #[serde(default)]
    pub rules: BTreeMap<Rule, Count>,
    /// Ordered pairs whose resources have an edge between them, by its kind.
    #[serde(default)]
    pub edges: BTreeMap<EdgeKind, Count>,
    /// Replacements, by which operation has to come first.
    #[serde(default)]
    pub replacements: BTreeMap<ReplacementOrder, Count>,
    /// Variants, by the workflow that they were deployed by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub workflows: BTreeMap<String, u64>,
    /// Changes, by what they are and why: updates, replacements, settings that come and go.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub changes: BTreeMap<String, u64>,
    /// What else was looked at, by name: stages, plans, states.
    #[serde(default)]
    pub checks: BTreeMap<String, u64>,
    /// The rules that were not judged by.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
}

impl Exercised {
    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what another stage, variant or case exercised.
    pub fn add(&mut self, other: &Self) {
        other.rules.iter().for_each(|(key, count)| self.rules.entry(*key).or_default().add(count));
        other.edges.iter().for_each(|(key, count)| self.edges.entry(*key).or_default().add(count));
        let replacements = other.replacements.iter();
        replacements.for_each(|(key, count)| self.replacements.entry(*key).or_default().add(count));
        other.workflows.iter().for_each(|(name, times)| add(&mut self.workflows, name, *times));
        other.changes.iter().for_each(|(what, times)| self.changed(what, *times));
        other.checks.iter().for_each(|(what, times)| self.checked(what, *times));
        self.left_out.extend(&other.left_out);
    }

    /// The same with a count for everything that there is.
    pub fn filled(&self) -> Self {
        Self {
            rules: Rule::ALL.map(|rule| (rule, self.rule(rule))).into(),
            edges: EdgeKind::ALL.map(|kind| (kind, self.edge(kind))).into(),
            replacements: ReplacementOrder::ALL.map(|order| (order, self.replacement(order))).into(),
            ..self.clone()
        }
    }

    /// How many applies were judged: of batches, of parts of them, once more, or with failures; and how many destroys.
    pub fn applies(&self) -> (u64, u64) {
        let counted = |wanted: Counted| {
            let meanings = JudgedAs::ALL.iter().map(|kind| kind.meaning());
            let names: BTreeSet<&str> =
                meanings.filter(|it| it.counts_as == Some(wanted)).map(|it| it.name).collect();
            names.iter().filter_map(|name| self.checks.get(*name)).sum()
        };
        (counted(Counted::Apply), counted(Counted::Destroy))
    }

    /// In how many stages operations were allowed to overlap, if they never did: the engine does one at a time.
    pub fn one_at_a_time(&self) -> Option<u64> {
        /// Fewer may be chance.
        const ENOUGH: u64 = 10;
        let count = |check: &str| self.checks.get(check).copied().unwrap_or(0);
        let allowed = count(MAY_OVERLAP);
        (allowed >= ENOUGH && count(OVERLAPPED) == 0).then_some(allowed)
    }

    /// Counts something that was looked at.
    pub fn checked(&mut self, what: &str, times: u64) {
        add(&mut self.checks, what, times);
    }

    /// Counts changes of a kind.
    pub fn changed(&mut self, what: &str, times: u64) {
        add(&mut self.changes, what, times);
    }

    /// Counts a variant.
    pub fn driven_by(&mut self, workflow: &str) {
        add(&mut self.workflows, workflow, 1);
    }

    /// The count of a rule.
    pub fn rule(&self, rule: Rule) -> Count {
        self.rules.get(&rule).copied().unwrap_or_default()
    }

    /// The count of a kind of edge.
    pub fn edge(&self, kind: EdgeKind) -> Count {
        self.edges.get(&kind).copied().unwrap_or_default()
    }

    /// The count of an order of replacement.
    pub fn replacement(&self, order: ReplacementOrder) -> Count {
        self.replacements.get(&order).copied().unwrap_or_default()
    }

    /// The names of what was not exercised: rules, but those that were left out; kinds of edges; orders of
    /// replacement.
    pub fn not_exercised(&self, rules: &[Rule]) -> Vec<String> {
        let is_exercised = |rule: Rule| self.left_out.has(rule) || self.rule(rule).exercised > 0;
        let rules = rules.iter().filter(|rule| !is_exercised(**rule));
        let edges = EdgeKind::ALL.into_iter().filter(|kind| self.edge(*kind).exercised == 0);
        let replacements =
            ReplacementOrder::ALL.into_iter().filter(|order| self.replacement(*order).exercised == 0);
        rules
            .map(|rule| format!("rule {} ({})", rule.number(), rule.name()))
            .chain(edges.map(|kind| format!("edges by {}", kind.name())))
            .chain(replacements.map(|order| format!("replacement ({})", order.name())))
            .collect()
    }
}

fn add(counts: &mut BTreeMap<String, u64>, what: &str, times: u64) {
    match counts.get_mut(what) {
        Some(count) => *count += times,
        None => {
            counts.insert(what.to_owned(), times);
        }
    }
}

#[cfg(test)]
mod tests;
