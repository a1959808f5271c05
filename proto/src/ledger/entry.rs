//! The lines of a ledger as types: a header first, then entries.

use std::fmt;

use jiff::Timestamp;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::hash::{Digest, LineHash};
use crate::holds::Hold;

/// The version of the format that this crate reads and writes. Within a version, fields and operations may be added: a
/// reader passes over those it does not know.
pub const FORMAT_VERSION: u32 = 2;

/// An object's attributes, as JSON.
pub type Attributes = serde_json::Map<String, serde_json::Value>;

/// The first line of a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format. Its name makes the file recognisable by its first bytes.
    #[serde(rename = "equiform_ledger")]
    pub version: u32,
    /// Tells one ledger from another, so that a file that belongs to one is never taken for the other's.
    pub id: String,
    /// When the ledger was begun.
    pub created: Timestamp,
}

/// What was done to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// An object came into the world.
    Create,
    /// An object changed in place.
    Update,
    /// An object left the world.
    Delete,
    /// The engine read an object.
    Read,
    /// The engine imported an object.
    Import,
    /// The engine asked what a change would amount to.
    Plan,
    /// The engine configured the provider.
    Configure,
    /// The engine asked for what is in flight to stop.
    Stop,
    /// Of the operations that are held, some go on: `held` and `released` say which.
    Release,
    /// The world changed without the engine: `after` is the object as it is now, or absent if it is gone.
    Drift,
    /// A remark; the world is as before.
    Mark,
    /// The engine asked which objects of a type are there.
    List,
    /// An ephemeral resource was opened.
    Open,
    /// An ephemeral resource was to stay open for longer.
    Renew,
    /// An ephemeral resource was closed.
    Close,
    /// An action was invoked. What it does to the world stands between its begin and its end, as drift.
    Invoke,
    /// A state in a state store was locked.
    Lock,
    /// A state in a state store was unlocked.
    Unlock,
    /// A state was written to a state store.
    Write,
    /// A state was removed from a state store.
    Erase,
    /// One that a newer program has written. The world is as before, whatever it is.
    Unknown,
}

impl Operation {
    /// All operations that can be written.
    pub const ALL: [Self; 20] = [
        Self::Create,
        Self::Update,
        Self::Delete,
        Self::Read,
        Self::Import,
        Self::Plan,
        Self::Configure,
        Self::Stop,
        Self::Release,
        Self::Drift,
        Self::Mark,
        Self::List,
        Self::Open,
        Self::Renew,
        Self::Close,
        Self::Invoke,
        Self::Lock,
        Self::Unlock,
        Self::Write,
        Self::Erase,
    ];

    /// Whether it is a request of the engine that changes nothing, or a decision of the provider about its schedule.
    pub fn changes_nothing(self) -> bool {
        matches!(self, Self::Read | Self::Plan | Self::Configure | Self::Stop | Self::List | Self::Release)
    }

    /// Whether it may be a single line, an end without a begin.
    pub fn may_be_single_line(self) -> bool {
        !matches!(self, Self::Create | Self::Update | Self::Delete)
    }

    /// The operation's name, as it is written in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Import => "import",
            Self::Plan => "plan",
            Self::Configure => "configure",
            Self::Stop => "stop",
            Self::Release => "release",
            Self::Drift => "drift",
            Self::Mark => "mark",
            Self::List => "list",
            Self::Open => "open",
            Self::Renew => "renew",
            Self::Close => "close",
            Self::Invoke => "invoke",
            Self::Lock => "lock",
            Self::Unlock => "unlock",
            Self::Write => "write",
            Self::Erase => "erase",
            Self::Unknown => "unknown",
        }
    }
}

impl Serialize for Operation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl Visitor<'_> for NameVisitor {
            type Value = Operation;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of an operation")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Operation, E> {
                Ok(Operation::ALL.into_iter().find(|op| op.name() == name).unwrap_or(Operation::Unknown))
            }
        }

        deserializer.deserialize_str(NameVisitor)
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Where in an operation's life an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The request has arrived; nothing has happened yet.
    Begin,
    /// The operation took effect; its answer leaves after this line is written.
    Commit,
    /// The operation was given up without an effect.
    Fail,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 3] = [Self::Begin, Self::Commit, Self::Fail];

    /// The phase's name, as it is written in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Commit => "commit",
            Self::Fail => "fail",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A reference from the entry's object to another one, by value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// The attribute that holds the id.
    pub path: String,
    /// The id of the object referred to.
    pub id: String,
}

/// Bytes that a killed writer left behind, and that stand in the file between the line before and this entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Torn {
    /// How many bytes, the line break that ends them not counted.
    pub bytes: u64,
    /// Their SHA-256.
    pub sha256: LineHash,
}

/// One line of a ledger after the header. Fields that do not apply are left out of the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// 1 for the first entry, then one more with each.
    pub seq: u64,
    /// When the entry was written. For people: order is told by `seq` alone.
    pub time: Timestamp,
    /// The label of the run, as the user gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What is done.
    pub op: Operation,
    /// Whether it begins, has taken effect, or was given up.
    pub phase: Phase,
    /// On a commit or fail: the `seq` of the operation's begin. Absent where an operation is a single line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<u64>,
    /// The type of the object.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub type_name: Option<String>,
    /// The object's name in the graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The object's minted id. A create has it from its begin on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The objects that this one refers to after the operation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<Reference>,
    /// The object's attributes before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Attributes>,
    /// The object's attributes after; on a begin, what was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Attributes>,
    /// Why the operation failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The text of a mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// As what the object was asked for, where it is no managed resource: `data`, `ephemeral`, `list`, `action` or
    /// `state`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The object as the engine believed it to be when it asked. Absent if it sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Digest>,
    /// The configuration that the engine sent along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<Digest>,
    /// On a plan: the object that it ends in. On a change: the object that the engine says was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<Digest>,
    /// On a read or an import: the object that the engine was given. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned: Option<Digest>,
    /// What the provider was told to do wrong here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// On a configure: how operations are held in the run; absent if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// On a release: the operations that are held, by the `seq` of their begins, in the order of their turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<u64>,
    /// On a release: those of them that go on now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<u64>,
    /// The address of the provider, where it is another than the mock's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The alias of the provider's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// On a mark: what a killed writer left behind just before this line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<Torn>,
    /// The process that wrote the entry.
    pub provider_pid: u32,
    /// The engine's process, where one asked for the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_pid: Option<u32>,
    /// The connection on which it came, counted by the provider's process from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// Which request on that connection it was, counted from 1. Begin and end of an operation have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<u64>,
    /// The hash of the last whole line before this one, its line break not counted.
    pub prev: LineHash,
}

impl Entry {
    /// An entry with nothing but what every entry has; `time` is now.
    pub fn new(seq: u64, op: Operation, phase: Phase, provider_pid: u32, prev: LineHash) -> Self {
        Self {
            seq,
            time: Timestamp::now(),
            run: None,
            op,
            phase,
            begin: None,
            type_name: None,
            key: None,
            id: None,
            refs: Vec::new(),
            before: None,
            after: None,
            error: None,
            note: None,
            mode: None,
            prior: None,
            config: None,
            planned: None,
            returned: None,
            fault: None,
            hold: None,
            held: Vec::new(),
            released: Vec::new(),
            provider: None,
            alias: None,
            torn: None,
            provider_pid,
            engine_pid: None,
            session: None,
            request: None,
            prev,
        }
    }

    /// Whether folding this entry changes the world.
    pub fn changes_world(&self) -> bool {
        self.phase == Phase::Commit
            && matches!(self.op, Operation::Create | Operation::Update | Operation::Delete | Operation::Drift)
    }
}
