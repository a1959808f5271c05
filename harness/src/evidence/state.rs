//! An engine's state, whichever it is: the parts that the oracles look at, and how it differs from the one before.

use std::collections::BTreeMap;
use std::fmt;

use equiform_proto::ledger::{Attributes, PackedAttributes};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// An object as the engine's state has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The address of the instance.
    pub address: String,
    /// Whether it is an old object that waits for its deletion.
    pub deposed: bool,
    /// Whether it is marked as one to be replaced.
    pub tainted: bool,
    /// Its id, and all its attributes.
    pub content: Content,
    /// What it goes by in the world, where the engine stores that.
    pub identity: Option<Identity>,
    /// The addresses it depends on.
    pub dependencies: Addresses,
}

/// What an object goes by in the world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// Its id.
    pub id: Option<Box<str>>,
    /// Its key.
    pub key: Option<Box<str>>,
}

/// When an engine's state has the identity of objects whose type has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredIdentity {
    /// Never: the engine knows nothing of it.
    Never,
    /// After commands that succeed: what fails loses it, up to the next time that it is read.
    WithoutFailure,
    /// Always.
    Always,
}

/// The attributes of an object, and the one among them that tells it from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Empty if there is none.
    pub id: Box<str>,
    /// All of them.
    pub attributes: PackedAttributes,
}

impl Default for Content {
    fn default() -> Self {
        Self::from(&Attributes::new())
    }
}

impl From<&Attributes> for Content {
    fn from(attributes: &Attributes) -> Self {
        let id = attributes.get("id").and_then(|id| id.as_str()).unwrap_or_default();
        Self { id: id.into(), attributes: attributes.into() }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Packed one by one: the maps of all objects together would take more memory than the file does.
        Ok(Self::from(&Attributes::deserialize(deserializer)?))
    }
}

/// Addresses in one text, a line for each: a large state has many times more of them than objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addresses(Box<str>);

impl Addresses {
    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.lines()
    }
}

impl<'de> Deserialize<'de> for Addresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lines;

        impl<'de> Visitor<'de> for Lines {
            type Value = Addresses;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of addresses")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut addresses: A) -> Result<Addresses, A::Error> {
                let mut text = String::new();
                while let Some(address) = addresses.next_element::<String>()? {
                    text.push_str(&address);
                    text.push('\n');
                }
                Ok(Addresses(text.into()))
            }
        }

        deserializer.deserialize_seq(Lines)
    }
}

/// An engine's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Which state file it is: the same for as long as there is one.
    pub lineage: String,
    /// How often it has changed.
    pub serial: u64,
    /// The objects that it holds.
    pub objects: Vec<Stored>,
    /// The outputs of the program, by name.
    pub outputs: BTreeMap<String, Json>,
}

/// What is remembered of a state while the next stage is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBefore {
    /// See [`State::lineage`].
    pub lineage: String,
    /// See [`State::serial`].
    pub serial: u64,
    /// See [`State::outputs`].
    pub outputs: BTreeMap<String, Json>,
}

impl StateBefore {
    /// Of a state.
    pub fn of(state: &State) -> Self {
        Self { lineage: state.lineage.clone(), serial: state.serial, outputs: state.outputs.clone() }
    }
}

/// What there is of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateFile {
    /// No file.
    Missing,
    /// A file that is no state, and why not. The engine wrote it, so that is its doing.
    Bad(String),
    /// A state.
    Read(State),
}

impl StateFile {
    /// The state, if it could be read.
    pub fn state(&self) -> Option<&State> {
        match self {
            Self::Read(state) => Some(state),
            Self::Missing | Self::Bad(_) => None,
        }
    }
}

/// What a command may have changed in a state file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateComparison {
    /// Nothing: it must not write it.
    ToTheByte,
    /// What engines are known to touch where nothing changes.
    Meaning,
    /// That, and marks of objects that are to be replaced.
    ButMarks,
}

/// How a state file differs from the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateDifference {
    /// Objects have another value of this setting, and nothing else is different.
    Setting {
        /// The setting.
        name: String,
        /// The first place of it.
        path: String,
    },
    /// Anything else.
    Other(StateChange),
}

/// A change of a state file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum StateChange {
    /// It was not there before, or is not there any more.
    CameOrWent,
    /// One of the two is no state.
    NotAState,
    /// It has the same content, and other bytes.
    Rewritten,
    /// Its content is different.
    At {
        /// The first place that is.
        path: String,
    },
}
