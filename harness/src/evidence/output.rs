//! What an engine printed, whichever it is: its messages, and what is not to be among them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::message::{Diagnostic, Flaw, Message, PlannedChange, Reported, ReportedRead, Summary};

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
    /// The address of the resource that it blames the provider for; none if it blames nobody, or names no resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blamed: Option<String>,
    /// The nodes of the cycle that it reports; none if it is about something else, or names what is no resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycle: Option<Vec<CycleNode>>,
}

#[cfg(test)]
impl EngineError {
    /// An error of which nothing but its words is known.
    pub fn unknown(text: &str) -> Self {
        Self { text: text.to_owned(), summary: None, refusal: None, blamed: None, cycle: None }
    }
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
    /// Another command holds the lock on the state.
    Locked,
    /// The provider failed an operation, because the case demands it.
    Provider,
    /// The provider planned what it must not, because the case demands it.
    InvalidPlan,
    /// The result of an operation is not what the provider planned.
    InconsistentResult,
    /// The result of an operation is none that an operation can have.
    InvalidResult,
    /// The provider answered with a value of another type.
    WrongAnswer,
}

impl Refusal {
    /// Whether the provider broke its contract.
    pub fn is_breach(self) -> bool {
        matches!(self, Self::InvalidPlan | Self::InconsistentResult | Self::InvalidResult | Self::WrongAnswer)
    }
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

/// What an engine printed. The text itself is not kept.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// Its messages, in order.
    pub messages: Vec<Message>,
    /// Whether its messages can be compared with what it did; not if they are all that is known of that.
    pub is_compared: bool,
    /// The errors that it reported.
    pub errors: Vec<EngineError>,
    /// Whether one of the errors is about a cycle in its graph.
    pub reports_a_cycle: bool,
    /// What is wrong with messages by themselves.
    pub flaws: Vec<Flaw>,
    /// Words that must not be there.
    pub alarms: BTreeSet<&'static Alarm>,
    /// The first line on standard output that is no message.
    pub stray: Option<String>,
    /// The first lines on standard error.
    pub on_stderr: Vec<String>,
}

impl Output {
    /// What it planned.
    pub fn planned(&self) -> impl Iterator<Item = &PlannedChange> {
        self.messages.iter().filter_map(|message| match message {
            Message::Planned(change) => Some(change),
            _ => None,
        })
    }

    /// What it says has changed behind its back.
    pub fn drifted(&self) -> impl Iterator<Item = &PlannedChange> {
        self.messages.iter().filter_map(|message| match message {
            Message::Drift(change) => Some(change),
            _ => None,
        })
    }

    /// The summaries.
    pub fn summaries(&self) -> impl Iterator<Item = &Summary> {
        self.messages.iter().filter_map(|message| match message {
            Message::Summary(summary) => Some(summary),
            _ => None,
        })
    }

    /// What it reported about its operations.
    pub fn reported(&self) -> impl Iterator<Item = &Reported> {
        self.messages.iter().filter_map(|message| match message {
            Message::Operation(reported) => Some(reported),
            _ => None,
        })
    }

    /// What it reported about reading.
    pub fn reads(&self) -> impl Iterator<Item = &ReportedRead> {
        self.messages.iter().filter_map(|message| match message {
            Message::Read(read) => Some(read),
            _ => None,
        })
    }

    /// The warnings and errors.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        self.messages.iter().filter_map(|message| match message {
            Message::Diagnostic(diagnostic) => Some(diagnostic),
            _ => None,
        })
    }

    /// What it planned to do with the outputs of the program, by their names; none if it did not say so.
    pub fn planned_outputs(&self) -> Option<&BTreeMap<String, String>> {
        self.messages.iter().find_map(|message| match message {
            Message::PlannedOutputs(outputs) => Some(outputs),
            _ => None,
        })
    }

    /// The outputs that it reported at the end, by name; none if it reported none.
    pub fn outputs(&self) -> Option<&BTreeMap<String, Json>> {
        self.messages.iter().find_map(|message| match message {
            Message::Outputs(outputs) => Some(outputs),
            _ => None,
        })
    }
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
