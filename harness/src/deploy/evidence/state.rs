//! The engine's state file: the parts that the oracles look at, and how it differs from the one before.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use equiform_proto::ledger::{Attributes, PackedAttributes};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

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

/// An engine's state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Which state file it is: the same for as long as there is one.
    pub lineage: String,
    /// How often it has changed.
    pub serial: u64,
    /// The objects that it holds.
    pub objects: Vec<Stored>,
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

#[derive(Deserialize)]
struct Document {
    version: u64,
    serial: u64,
    lineage: String,
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

/// The version of the state's format that engines write.
const VERSION: u64 = 4;

/// Reads a state.
pub fn read(path: &Path) -> Result<StateFile, Unreadable> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(StateFile::Missing),
        Err(error) => return Err(unreadable(path)(error)),
    };
    let document: Document = match serde_json::from_reader(BufReader::with_capacity(1 << 20, file)) {
        Ok(document) => document,
        Err(error) if error.is_io() => return Err(unreadable(path)(error)),
        Err(error) => return Ok(StateFile::Bad(error.to_string())),
    };
    if document.version != VERSION {
        return Ok(StateFile::Bad(format!("it has version {}", document.version)));
    }
    let mut objects = Vec::with_capacity(document.resources.len());
    for resource in document.resources {
        for instance in resource.instances {
            objects.push(Stored {
                name: resource.name.clone(),
                deposed: instance.deposed.is_some(),
                content: instance.content,
                dependencies: instance.dependencies,
            });
        }
    }
    Ok(StateFile::Read(State { lineage: document.lineage, serial: document.serial, objects }))
}

/// How a state file differs from the one before; none if it does not.
///
/// `to_the_byte` is for commands that must not write it. Others that change nothing may count the serial up, and may
/// list dependencies in another order: nothing is promised about either.
pub fn difference(before: &Path, after: &Path, to_the_byte: bool) -> Result<Option<String>, Unreadable> {
    let bytes = |path: &Path| match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path)(error)),
    };
    let (before, after) = (bytes(before)?, bytes(after)?);
    if before == after {
        return Ok(None);
    }
    let (Some(before), Some(after)) = (before, after) else {
        return Ok(Some("the state file came or went".to_owned()));
    };
    let normal = |bytes: &[u8]| serde_json::from_slice(bytes).map(|state| normalised(state, to_the_byte));
    let (Ok(before), Ok(after)) = (normal(&before), normal(&after)) else {
        return Ok(Some("the state file was another one, and one of the two is no state".to_owned()));
    };
    match first_difference(&before, &after) {
        None if to_the_byte => Ok(Some("the state file was written anew".to_owned())),
        None => Ok(None),
        Some(place) => Ok(Some(format!("the state file differs at {place}"))),
    }
}

fn normalised(mut state: Json, to_the_byte: bool) -> Json {
    if to_the_byte {
        return state;
    }
    state["serial"] = Json::Null;
    let resources = state.get_mut("resources").and_then(Json::as_array_mut);
    let instances =
        resources.into_iter().flatten().filter_map(|resource| resource.get_mut("instances")?.as_array_mut());
    for instance in instances.flatten() {
        if let Some(dependencies) = instance.get_mut("dependencies").and_then(Json::as_array_mut) {
            dependencies.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        }
    }
    state
}

/// The path to the first place at which two documents differ.
fn first_difference(one: &Json, other: &Json) -> Option<String> {
    let within =
        |name: String, rest: String| Some(if rest.is_empty() { name } else { format!("{name}.{rest}") });
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
            names.sort_unstable();
            names.dedup();
            let null = Json::Null;
            names.into_iter().find_map(|name| {
                let (one, other) = (one.get(name).unwrap_or(&null), other.get(name).unwrap_or(&null));
                within(name.clone(), first_difference(one, other)?)
            })
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(place, (one, other))| within(place.to_string(), first_difference(one, other)?))
        }
        _ => (one != other).then(String::new),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differ(before: &Json, after: &Json, to_the_byte: bool) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let paths = [before, after].map(|state| {
            let path = folder.path().join(state.to_string().len().to_string() + &state["serial"].to_string());
            std::fs::write(&path, state.to_string()).unwrap();
            path
        });
        difference(&paths[0], &paths[1], to_the_byte).unwrap()
    }

    fn state(serial: u64, dependencies: &[&str], label: &str) -> Json {
        let instance = json!({ "attributes": { "label": label }, "dependencies": dependencies });
        json!({ "version": 4, "serial": serial, "lineage": "x", "resources": [{ "name": "a", "instances": [instance] }] })
    }

    #[test]
    fn a_serial_and_the_order_of_dependencies_may_change_where_the_file_may_be_written() {
        let (before, after) = (state(1, &["a", "b"], ""), state(2, &["b", "a"], ""));
        assert_eq!(differ(&before, &after, false), None);
        assert!(differ(&before, &after, true).is_some());
    }

    #[test]
    fn the_place_of_a_difference_is_named() {
        let found = differ(&state(1, &[], ""), &state(2, &[], "new"), false);
        assert_eq!(found.unwrap(), "the state file differs at resources.0.instances.0.attributes.label");
    }

    #[test]
    fn what_is_cut_off_doubled_or_of_another_version_is_no_state() {
        let whole = state(1, &[], "").to_string();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        for text in ["", &whole[..40], &format!("{whole}{whole}"), &whole.replace("4", "3"), "[]"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(read(&path).unwrap(), StateFile::Bad(_)), "{text}");
        }
    }
}
