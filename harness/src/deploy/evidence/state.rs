//! The engine's state file, as far as it is of interest.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use equiform_proto::ledger::Attributes;
use serde::Deserialize;

use super::{Unreadable, unreadable};

/// An object as the engine's state has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The resource's name in the program.
    pub name: String,
    /// Whether it is an old object that waits for its deletion.
    pub deposed: bool,
    /// Its attributes.
    pub attributes: Attributes,
    /// The addresses it depends on.
    pub dependencies: Vec<String>,
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
    #[serde(default)]
    attributes: Attributes,
    #[serde(default)]
    dependencies: Vec<String>,
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
                attributes: instance.attributes,
                dependencies: instance.dependencies,
            });
        }
    }
    Ok(Some(objects))
}
