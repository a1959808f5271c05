//! The messages of an engine, one after the other: the kind of each, what it is about, and what it says. What is
//! written in them for people is compared with that while they are read, and not kept.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::output::{Refusal, Warning};
use crate::spec::OperationKind;

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Which engine speaks.
    Introduction {
        /// Its version; none if it does not say so.
        version: Option<Box<str>>,
    },
    /// An object is read, or was.
    Read(ReportedRead),
    /// Something has changed behind the engine's back.
    Drift(PlannedChange),
    /// A change is planned.
    Planned(PlannedChange),
    /// How many changes there are, or were.
    Summary(Summary),
    /// What is planned for the outputs of the program, by their names.
    PlannedOutputs(BTreeMap<String, String>),
    /// An operation begins or has ended.
    Operation(Reported),
    /// An operation is still under way.
    Waiting {
        /// The address of the resource.
        address: Box<str>,
    },
    /// A warning or an error.
    Diagnostic(Diagnostic),
    /// The outputs at the end, by their names.
    Outputs(BTreeMap<String, Json>),
    /// Another kind that engines have, and that no program of a campaign gives a reason for.
    Other,
}

/// The part of a command that a message belongs to. The parts follow on one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Who speaks.
    Introduction,
    /// What is there.
    Reading,
    /// What has changed.
    Drift,
    /// What is to change.
    Planning,
    /// How much that is.
    PlanSummary,
    /// What is planned for outputs.
    PlannedOutputs,
    /// What is done.
    Operations,
    /// How much that was.
    Summary,
    /// The outputs at the end.
    Outputs,
}

impl Message {
    /// The part that it belongs to; none if it may come at any time.
    pub fn part(&self) -> Option<Part> {
        Some(match self {
            Self::Introduction { .. } => Part::Introduction,
            Self::Read(_) => Part::Reading,
            Self::Drift(_) => Part::Drift,
            Self::Planned(_) => Part::Planning,
            Self::Summary(summary) if summary.is_plan => Part::PlanSummary,
            Self::Summary(_) => Part::Summary,
            Self::PlannedOutputs(_) => Part::PlannedOutputs,
            Self::Operation(_) | Self::Waiting { .. } => Part::Operations,
            Self::Outputs(_) => Part::Outputs,
            Self::Diagnostic(_) | Self::Other => return None,
        })
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
    /// Why, by the engine's own account.
    pub reason: PlannedReason,
    /// Whether it comes with something that only a program or a command can ask for: a move, an import.
    pub asks_more: bool,
}

/// Why an engine says that it changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlannedReason {
    /// It gives no reason.
    None,
    /// An attribute cannot be changed in place.
    CannotUpdate,
    /// The command asks for it.
    Asked,
    /// The object is marked.
    Marked,
    /// Another resource changes.
    Triggered,
    /// The program does not have the resource.
    NotWritten,
    /// A reason that no program of a campaign gives.
    Other,
}

/// What an engine reports about an operation while it is under way.
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

/// What an engine reports about reading an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReportedRead {
    /// The address of the resource.
    pub address: Box<str>,
    /// When.
    pub moment: Moment,
    /// The object; none if it no longer exists.
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
    /// Whether it is about a plan, and not about what was done.
    pub is_plan: bool,
    /// Created.
    pub created: usize,
    /// Changed in place.
    pub updated: usize,
    /// Deleted.
    pub deleted: usize,
    /// What else it counts: imports, and what is removed from the state only.
    pub others: usize,
}

/// A warning or an error of an engine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// Whether it is an error.
    pub is_error: bool,
    /// What it is about, in one line.
    pub summary: String,
    /// What it says of that, in one line.
    pub detail: String,
    /// The address of the resource that it names.
    pub address: Option<String>,
    /// Where it is in the program; none if it does not say so.
    pub position: Option<Position>,
    /// What it warns of, if campaigns give a reason for that.
    pub warning: Option<Warning>,
    /// The reason to refuse a command that it names, if campaigns give it.
    pub refusal: Option<Refusal>,
}

/// A place in a program, and what is there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The file.
    pub file: String,
    /// The first byte.
    pub begin: usize,
    /// The byte after the last.
    pub end: usize,
    /// The address of the resource in whose block it is. None if the program is not part of the evidence, or if it is
    /// not in a block of a resource.
    pub resource: Option<String>,
}

/// Something that is wrong with a message by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Which line it is, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: MessageProblem,
    /// What it says to people.
    pub text: String,
}

/// What can be wrong with a message by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MessageProblem {
    /// Nothing gives a reason for a message of this kind.
    UnexpectedKind {
        /// The kind.
        kind: String,
        /// Whether engines have such messages: other programs may give a reason.
        exists: bool,
    },
    /// It lacks what messages of its kind have.
    Incomplete,
    /// What it says to people is not what its fields say.
    Text,
    /// The parts of an address are not those of the address.
    Address,
    /// Its level is not that of its kind.
    Level,
    /// It has no time, or one that lies before that of the message before it.
    Time,
    /// The source position that it names is not in the program, or what it quotes is not there.
    Position,
}
