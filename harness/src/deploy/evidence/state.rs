//! The engine's state file, as far as it is of interest.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use equiform_proto::ledger::{Attributes, PackedAttributes};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Unreadable, unreadable};

/// An object as the engine's state has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The resource's name in the program.
    pub name: String,
    /// Whether it is an old object that waits for its deletion.
    pub deposed: bool,
    /// Its id, and all its attributes.
    pub content: Content,
    /// The addresses it depends on.
    pub dependencies: Addresses,
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

#[derive(Deserialize)]
struct StateFile {
    resources: Vec<StateResource>,
}

#[derive(Deserialize)]
struct StateResource {
    name: String,
    instances: Vec<Instance>,
}

#[derive(Deserialize)]
struct Instance {
    deposed: Option<String>,
    #[serde(rename = "attributes", default)]
    content: Content,
    #[serde(default)]
    dependencies: Addresses,
}

/// Reads a state; none if there is no file.
pub fn read(path: &Path) -> Result<Option<Vec<Stored>>, Unreadable> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path)(error)),
    };
    let state: StateFile =
        serde_json::from_reader(BufReader::with_capacity(1 << 20, file)).map_err(unreadable(path))?;
    let mut objects = Vec::with_capacity(state.resources.len());
    for resource in state.resources {
        for instance in resource.instances {
            objects.push(Stored {
                name: resource.name.clone(),
                deposed: instance.deposed.is_some(),
                content: instance.content,
                dependencies: instance.dependencies,
            });
        }
    }
    Ok(Some(objects))
}
