//! What an engine printed, whichever it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};

use serde_json::Value as Json;

use crate::spec::OperationKind;

/// What an alarm means: the engine crashed.
pub const PANIC: &str = "panic";
/// What an alarm means: the engine says that it has a bug.
pub const HAS_A_BUG: &str = "says it has a bug";
/// What an alarm means: the engine holds an answer of the provider against it, which it had no reason to.
pub const BLAMES_THE_PROVIDER: &str = "blames the provider";

/// Words that an engine prints only when it has caught itself in a mistake.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alarm {
    /// The words.
    pub words: &'static str,
    /// What they mean.
    pub meaning: &'static str,
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
pub struct Told {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Moment {
    /// It begins.
    Begin,
    /// It has taken effect.
    End,
    /// It has failed.
    Failure,
}

impl Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moment = match self.moment {
            Moment::Begin => "begins",
            Moment::End => "has ended",
            Moment::Failure => "has failed",
        };
        write!(f, "{} {} {moment}", self.kind, self.address)?;
        self.id.as_ref().map_or(Ok(()), |id| write!(f, ", of {id}"))
    }
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// The provider failed an operation, because it was told to.
    Provider,
}

impl Refusal {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Cycle => "the program has a cycle",
            Self::Dangling => "the program refers to a resource that it does not have",
            Self::SelfReference => "a resource refers to itself",
            Self::UnknownArgument => "a resource has an argument that nobody knows",
            Self::MissingArgument => "a resource lacks an argument",
            Self::WrongType => "an argument has a value of another type",
            Self::Twice => "a resource is written twice",
            Self::EmptyKey => "the provider refuses what is written",
            Self::PreventDestroy => "an object would have gone that has prevent_destroy",
            Self::StalePlan => "the saved plan is stale",
            Self::Provider => "the provider failed an operation",
        }
    }
}

/// Of what an engine can have to warn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// A plan is about a part of the program only.
    Targeted,
    /// What was applied is a part of the program only.
    MayBeIncomplete,
}

impl Warning {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Targeted => "the plan is about a part of the program only",
            Self::MayBeIncomplete => "only a part of the program may have been applied",
        }
    }
}

/// What there is to know of what an engine printed. The text itself is not kept.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// What it planned.
    pub planned: BTreeSet<PlannedChange>,
    /// The summaries, in order.
    pub summaries: Vec<Summary>,
    /// The errors that it reported.
    pub errors: Vec<String>,
    /// For each of them the reason to refuse that it names, if it is one of those that campaigns give.
    pub refusals: Vec<Option<Refusal>>,
    /// What it told of its operations; none where nothing else is known of them.
    pub told: Option<Vec<Told>>,
    /// What it planned to do with the outputs of the program, by their names.
    pub planned_outputs: BTreeMap<String, String>,
    /// The outputs that it told in the end, by their names; none if it told none.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeOperation {
    /// It makes an object, or leaves it as it is.
    Make,
    /// It deletes the object.
    Delete,
    /// It deletes the old object once there is a new one.
    DeleteDeposed,
}

/// A node of an engine's graph, by the address of its resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CycleNode<'a> {
    /// The address.
    pub address: &'a str,
    /// What it does.
    pub operation: NodeOperation,
}
