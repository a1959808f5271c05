//! The lines of a ledger as types: a header first, then entries.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The version of the format that this crate writes. A reader refuses any other.
pub const FORMAT_VERSION: u32 = 1;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// The world changed without the engine: `after` is the object as it is now, or absent if it is gone.
    Drift,
    /// A remark; the world is as before.
    Mark,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 7] =
        [Self::Create, Self::Update, Self::Delete, Self::Read, Self::Import, Self::Drift, Self::Mark];

    /// The operation's name, as it is written in the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Read => "read",
            Self::Import => "import",
            Self::Drift => "drift",
            Self::Mark => "mark",
        }
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
    /// On a mark: what a killed writer left behind just before this line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<Torn>,
    /// The process that wrote the entry.
    pub provider_pid: u32,
    /// The engine's process, where one asked for the operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_pid: Option<u32>,
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
            torn: None,
            provider_pid,
            engine_pid: None,
            prev,
        }
    }

    /// Whether folding this entry changes the world.
    pub fn changes_world(&self) -> bool {
        self.phase == Phase::Commit
            && matches!(self.op, Operation::Create | Operation::Update | Operation::Delete | Operation::Drift)
    }
}

/// The SHA-256 of a line, written as 64 hexadecimal digits; `sha256sum` prints the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineHash(pub [u8; 32]);

impl LineHash {
    /// The hash of a line, given without its line break.
    pub fn of(line: &[u8]) -> Self {
        Self(Sha256::digest(line).into())
    }
}

impl fmt::Display for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0u8; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).expect("hexadecimal digits are ASCII"))
    }
}

impl fmt::Debug for LineHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not 64 hexadecimal digits.
#[derive(Debug, thiserror::Error)]
#[error("a hash is 64 lower-case hexadecimal digits")]
pub struct NotAHash;

impl FromStr for LineHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        // A table and one test at the end instead of a branch for each digit: every line of a ledger holds a hash.
        const NO_DIGIT: u8 = 0xff;
        const VALUES: [u8; 256] = {
            let mut values = [NO_DIGIT; 256];
            let mut value = 0;
            while value < 16 {
                values[b"0123456789abcdef"[value as usize] as usize] = value;
                value += 1;
            }
            values
        };
        let text: &[u8; 64] = text.as_bytes().try_into().map_err(|_| NotAHash)?;
        let mut seen = 0;
        let mut hash = [0u8; 32];
        for (byte, pair) in hash.iter_mut().zip(text.chunks_exact(2)) {
            let (high, low) = (VALUES[usize::from(pair[0])], VALUES[usize::from(pair[1])]);
            seen |= high | low;
            *byte = high << 4 | low & 15;
        }
        if seen == NO_DIGIT { Err(NotAHash) } else { Ok(Self(hash)) }
    }
}

impl Serialize for LineHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for LineHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HashVisitor;

        impl Visitor<'_> for HashVisitor {
            type Value = LineHash;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&NotAHash, f)
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<LineHash, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(HashVisitor)
    }
}
