//! What an engine printed, whichever it is.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::spec::OperationKind;

/// What words of alarm mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlarmMeaning {
    /// The engine crashed.
    Panic,
    /// The engine says that it has a bug.
    OwnBug,
    /// The engine blames the provider for an answer, and has no reason to.
    BlamesProvider,
}

/// Words that an engine prints only when it has caught itself in a mistake.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alarm {
    /// The words.
    pub words: &'static str,
    /// What they mean.
    pub meaning: AlarmMeaning,
}

/// An error that an engine reported, and what its words say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineError {
    /// The engine's words.
    pub text: String,
    /// What it is about, without what differs from run to run; none if its words do not say that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The reason to refuse a command that it names, if it is one of those that campaigns give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// The nodes of the cycle that it reports; none if it is about something else, or names what is no resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<CycleNode>>,
}

#[cfg(test)]
impl EngineError {
    /// An error of which nothing but its words is known.
    pub fn unknown(text: &str) -> Self {
        Self { text: text.to_owned(), summary: None, refusal: None, cycle: None }
    }
}

/// A change that an engine announced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlannedChange {
    /// The address of the instance.
    pub address: String,
    /// The engine's word for it.
    pub action: String,
    /// The operations that it amounts to.
    pub operations: &'static [OperationKind],
}

/// What an engine tells of an operation while it is under way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reported {
    /// The address of the resource.
    pub address: Box<str>,
    /// What is done.
    pub kind: OperationKind,
    /// When.
    pub moment: Moment,
    /// The object.
    pub id: Option<Box<str>>,
}

/// A moment of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// It begins.
    Begin,
    /// It has taken effect.
    End,
    /// It has failed.
    Failure,
}

/// How many objects an engine says that it creates, changes and deletes, or has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Of which command.
    pub command: String,
    /// Whether it tells of a plan, and not of what was done.
    pub is_plan: bool,
    /// Created.
    pub created: usize,
    /// Changed in place.
    pub updated: usize,
    /// Deleted.
    pub deleted: usize,
}

/// Why an engine can have to refuse a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Resources depend on each other.
    Cycle,
    /// A reference names nothing.
    Dangling,
    /// A resource refers to itself.
    SelfReference,
    /// An argument is not known.
    UnknownArgument,
    /// An argument is missing.
    MissingArgument,
    /// A value has another type.
    WrongType,
    /// A resource is written twice.
    Twice,
    /// The provider refuses an empty key.
    EmptyKey,
    /// An object that is to go is protected.
    PreventDestroy,
    /// A saved plan was made for another state.
    StalePlan,
    /// The provider failed an operation, because the case demands it.
    Provider,
}

/// Of what an engine can have to warn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warning {
    /// A plan is about a part of the program only.
    Targeted,
    /// What was applied is a part of the program only.
    MayBeIncomplete,
}

/// What there is to know of what an engine printed. The text itself is not kept.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// What it planned.
    pub planned: BTreeSet<PlannedChange>,
    /// The summaries, in order.
    pub summaries: Vec<Summary>,
    /// The errors that it reported.
    pub errors: Vec<EngineError>,
    /// What it reported about its operations; none where nothing else is known of them.
    pub reported: Option<Vec<Reported>>,
    /// What it planned to do with the outputs of the program, by their names.
    pub planned_outputs: BTreeMap<String, String>,
    /// The outputs that it reported at the end, by name; none if it reported none.
    pub outputs: Option<BTreeMap<String, Json>>,
    /// Of what it warned.
    pub warnings: BTreeSet<Warning>,
    /// What it says has changed behind its back.
    pub drifted: BTreeSet<PlannedChange>,
    /// Whether one of the errors is about a cycle in its graph.
    pub reports_a_cycle: bool,
    /// Words that must not be there.
    pub alarms: BTreeSet<&'static Alarm>,
    /// The first line on standard output that is no message.
    pub stray: Option<String>,
}

/// What a node of an engine's graph does, in a cycle that it reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeOperation {
    /// It makes an object, or leaves it as it is.
    Make,
    /// It deletes the object.
    Delete,
    /// It deletes the old object once there is a new one.
    DeleteDeposed,
}

/// A node of an engine's graph, by the address of its resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CycleNode {
    /// The address.
    pub address: String,
    /// What it does.
    pub operation: NodeOperation,
}
