//! An engine's state, whichever it is: the parts that the oracles look at, and how it differs from the one before.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use equiform_proto::ledger::{Attributes, PackedAttributes};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// An object as the engine's state has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The address of the instance.
    pub address: String,
    /// What it is called if it is an old object that waits for its deletion.
    pub deposed: Option<Box<str>>,
    /// Whether it is marked as one to be replaced.
    pub tainted: bool,
    /// Whether create_before_destroy is in force for it.
    pub create_before_destroy: bool,
    /// Its id, and all its attributes.
    pub content: Content,
    /// What it goes by in the world, where the engine stores that.
    pub identity: Option<Identity>,
    /// What its provider gave the engine to keep beside it.
    pub kept: Option<Box<str>>,
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

/// What an engine's state has of a create_before_destroy that has spread to an object from its dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredSetting {
    /// That it is in force.
    Always,
    /// That it is in force, up to the next change of the object.
    LostByChange,
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
    /// The version of the engine that wrote it, as that says.
    pub written_by: Option<String>,
    /// Which state file it is: the same for as long as there is one.
    pub lineage: String,
    /// How often it has changed.
    pub serial: u64,
    /// The objects that it holds.
    pub objects: Vec<Stored>,
    /// The outputs of the program, by name.
    pub outputs: BTreeMap<String, StoredOutput>,
    /// Whether it holds what became of checks.
    pub has_checks: bool,
    /// What is wrong in it, whatever the program.
    pub irregularities: Vec<Irregularity>,
}

impl State {
    /// Whether it holds the same, whatever its serial.
    pub fn holds_what(&self, other: &Self) -> bool {
        self.objects == other.objects && self.outputs == other.outputs && self.has_checks == other.has_checks
    }
}

/// An output, as the engine's state has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOutput {
    /// Its value.
    pub value: Json,
    /// The type of the value, in the engine's notation.
    pub value_type: Json,
    /// Whether the value is a secret.
    pub secret: bool,
}

/// A place in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatePlace {
    /// The state itself.
    Whole,
    /// The output with this name.
    Output(String),
    /// The resource or object at this address.
    Object(String),
}

/// Something that no state of an engine has, whatever the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Irregularity {
    /// A field has another value than the only one that it can have.
    Field {
        /// Where.
        place: StatePlace,
        /// The field.
        field: String,
        /// Its value.
        observed: String,
        /// The only value that it can have.
        expected: String,
    },
    /// A field that no engine writes.
    Unknown {
        /// Where.
        place: StatePlace,
        /// The field.
        field: String,
    },
    /// A resource without objects.
    Empty {
        /// Its address.
        address: String,
    },
    /// A resource, an instance or an old object that is more than once in it.
    Twice {
        /// Its address.
        address: String,
    },
}

impl Irregularity {
    /// Of a field with another value than the only one that it can have.
    pub fn field(place: StatePlace, field: &str, observed: &str, expected: &str) -> Self {
        let [field, observed, expected] = [field, observed, expected].map(str::to_owned);
        Self::Field { place, field, observed, expected }
    }

    /// Of a field that no engine writes.
    pub fn unknown(place: StatePlace, field: &str) -> Self {
        Self::Unknown { place, field: field.to_owned() }
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
    Read(Arc<State>),
}

impl StateFile {
    /// The state, if it could be read.
    pub fn state(&self) -> Option<&Arc<State>> {
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
