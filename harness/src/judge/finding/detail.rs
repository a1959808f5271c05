//! What was seen, as data. The sentences that people read are made of it in `text`, and nowhere else.

use std::collections::BTreeMap;

use equiform_proto::ledger::{Operation, Phase};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::evidence::{
    EngineError, Excess, MessageProblem, Moment, PlannedReason, Refusal, StateChange, Warning,
};
use crate::spec::{OperationKind, ResourceOperation};

/// What was seen of the subjects of a finding. Which of these there is depends on the kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Detail {
    /// The kind and the subjects say it all.
    #[default]
    None,
    /// How a graph differs from the source's.
    Graph {
        /// Nodes of the source that are not there.
        missing_nodes: Vec<String>,
        /// Nodes that are not the source's.
        extra_nodes: Vec<String>,
        /// Edges of the source that are not there.
        missing_edges: Vec<(String, String)>,
        /// Edges that are not the source's.
        extra_edges: Vec<(String, String)>,
        /// How many references lead nowhere.
        dangling: usize,
    },
    /// The value of an attribute.
    Value {
        /// What it should be.
        expected: Json,
        /// What it is.
        observed: Json,
    },
    /// The value of an output.
    OutputValue {
        /// What it should be; none if it should not be there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected: Option<Json>,
        /// What it is; none if it is not there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        observed: Option<Json>,
    },
    /// What an object refers to.
    References {
        /// The names that the program has.
        expected: Vec<String>,
        /// The keys of what it refers to; none for what is not there.
        observed: Vec<Option<String>>,
    },
    /// How many there are.
    Count {
        /// So many.
        observed: usize,
        /// So many there should be, or may be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected: Option<usize>,
    },
    /// When two operations were under way, the first and the second subject.
    Spans {
        /// The one that should have ended.
        first: Span,
        /// The one that did not wait.
        second: Span,
    },
    /// A request, by its entry in the ledger.
    Request {
        /// What was asked for.
        request: Operation,
        /// Its sequence number.
        seq: u64,
        /// What is wrong with it beyond its kind.
        problem: RequestProblem,
    },
    /// How announced changes differ from others.
    Changes {
        /// Those that were only announced.
        only_announced: Vec<ChangeAt>,
        /// The others.
        only_there: Vec<ChangeAt>,
    },
    /// Changes that were announced, and that nothing asks for. None if the exit code says that there are some.
    Planned {
        /// The changes.
        changes: Vec<PlannedAt>,
    },
    /// What a summary counts.
    Counts {
        /// The command that it is of.
        command: String,
        /// What it says.
        summarised: Counts,
        /// What there is.
        observed: Counts,
        /// Whether that was done, and not only expected.
        done: bool,
    },
    /// What becomes of outputs, by the engine's words.
    OutputChanges {
        /// What is planned.
        planned: BTreeMap<String, String>,
        /// What it comes to.
        due: BTreeMap<String, String>,
    },
    /// A message about an operation.
    Message {
        /// What it tells of the operation.
        moment: Moment,
        /// The object that it names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A message about reading an object.
    Read {
        /// What it says about the read.
        moment: Moment,
        /// The object that it names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A message that is wrong by itself.
    Flaw {
        /// Which line of the output it is.
        line: usize,
        /// What is wrong with it.
        problem: MessageProblem,
        /// What it says to people.
        text: String,
    },
    /// Why a change is planned.
    Reason {
        /// What the engine says.
        given: PlannedReason,
        /// What it could say.
        possible: Vec<PlannedReason>,
    },
    /// What an error is about.
    Blame {
        /// The error.
        error: String,
        /// What it names; none if it names nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        blamed: Option<String>,
        /// What it should name.
        expected: Vec<String>,
    },
    /// How a state file changed.
    StateChange {
        /// In which way.
        change: StateChange,
    },
    /// What changed, or did not.
    Versions {
        /// What it was.
        before: String,
        /// What it is.
        after: String,
    },
    /// Whether an object is marked as one to be replaced.
    Mark {
        /// Whether the state says so.
        marked: bool,
    },
    /// Whether an object has a setting in the state.
    Setting {
        /// Whether the state says so.
        is_set: bool,
    },
    /// The value of a field of the state.
    Field {
        /// The only value that it can have; none if there is no such field.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected: Option<String>,
        /// What it is, if that is not what is wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        observed: Option<String>,
    },
    /// By what an object goes in the state.
    Identity {
        /// None if the identity has no id.
        stored: Option<String>,
    },
    /// What an instance depends on.
    Dependencies {
        /// In the program.
        expected: Vec<String>,
        /// In the state.
        observed: Vec<String>,
    },
    /// How two runs of a step ended.
    Ends {
        /// Whether the first succeeded.
        first: bool,
        /// Whether the second did.
        second: bool,
    },
    /// What two runs of a step did.
    Runs {
        /// What only the first did.
        only_first: Vec<ResourceOperation>,
        /// What only the second did.
        only_second: Vec<ResourceOperation>,
    },
    /// How a command ended.
    Command {
        /// The command.
        command: String,
        /// How it ended.
        end: CommandEnd,
        /// The errors that the engine reported.
        errors: Vec<EngineError>,
    },
    /// Errors of a command that succeeded.
    Errors {
        /// The errors that the engine reported.
        errors: Vec<EngineError>,
    },
    /// Something began or ended after its command.
    Late {
        /// What was asked for.
        request: Operation,
        /// Which part of it came late.
        phase: Phase,
        /// The stage that had asked for it.
        stage: String,
    },
    /// Processes outlived the command.
    LeftRunning {
        /// The names of their programs.
        programs: Vec<String>,
    },
    /// A warning that is there or not.
    Warning {
        /// Which.
        warning: Warning,
    },
    /// Words of somebody else: of the engine, or of a program that could not read something.
    Quote {
        /// The words.
        words: String,
    },
    /// The variant that differs from the others.
    Variant {
        /// Its number.
        variant: usize,
    },
}

/// When an operation was under way, by sequence numbers of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// When it began.
    pub begin: u64,
    /// When it ended; none if it never did.
    pub end: Option<u64>,
}

/// A change at an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangeAt {
    /// What is done.
    pub operation: OperationKind,
    /// The address.
    pub address: String,
}

/// A change that an engine announced.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PlannedAt {
    /// The engine's word for it.
    pub action: String,
    /// The address.
    pub address: String,
}

/// How many objects are created, changed and deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Created.
    pub created: usize,
    /// Changed in place.
    pub updated: usize,
    /// Deleted.
    pub deleted: usize,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CommandEnd {
    /// With an exit code.
    Exit {
        /// The code.
        code: i32,
    },
    /// By a signal.
    Signal,
    /// Its time ran out.
    TimedOut,
    /// It exceeded a limit.
    Exceeded {
        /// Which.
        excess: Excess,
    },
    /// The provider was killed while it was under way.
    ProviderKilled {
        /// The signal.
        signal: i32,
    },
    /// It succeeded, although it has to be refused if there is a reason, or to fail.
    Success {
        /// Why it has to be refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refusal: Option<Refusal>,
    },
}

/// What is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RequestProblem {
    /// Its kind says it.
    ByItsKind,
    /// The provider's error.
    Refused {
        /// None if it gave no reason.
        error: Option<String>,
    },
    /// It is about this object.
    Object {
        /// Its id.
        id: String,
    },
    /// It was not planned.
    NotPlanned,
    /// It was planned from another object.
    PlannedFromAnotherObject,
}

impl Detail {
    /// The addresses that it names.
    pub fn addresses(&self) -> Vec<&str> {
        match self {
            Self::Changes { only_announced, only_there } => {
                only_announced.iter().chain(only_there).map(|change| change.address.as_str()).collect()
            }
            Self::Blame { blamed, expected, .. } => {
                blamed.iter().chain(expected).map(String::as_str).collect()
            }
            Self::Planned { changes } => changes.iter().map(|change| change.address.as_str()).collect(),
            Self::Dependencies { expected, observed } => {
                expected.iter().chain(observed).map(String::as_str).collect()
            }
            Self::Command { errors, .. } | Self::Errors { errors } => {
                let nodes = errors.iter().flat_map(|error| error.cycle.iter().flatten());
                nodes.map(|node| node.address.as_str()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The keys that it names.
    pub fn keys(&self) -> Vec<&str> {
        match self {
            Self::Graph { missing_nodes, extra_nodes, missing_edges, extra_edges, .. } => {
                let ends = missing_edges.iter().chain(extra_edges).flat_map(|(from, to)| [from, to]);
                missing_nodes.iter().chain(extra_nodes).chain(ends).map(String::as_str).collect()
            }
            Self::References { expected, observed } => {
                expected.iter().chain(observed.iter().flatten()).map(String::as_str).collect()
            }
            Self::Runs { only_first, only_second } => {
                only_first.iter().chain(only_second).map(|operation| &*operation.key).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The errors of the engine that it quotes.
    pub fn errors(&self) -> &[EngineError] {
        match self {
            Self::Command { errors, .. } | Self::Errors { errors } => errors,
            _ => &[],
        }
    }
}
