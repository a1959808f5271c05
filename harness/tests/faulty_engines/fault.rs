//! The faults, as data: which file of OpenTofu is exchanged, and what is different in it.

use std::collections::BTreeMap;

use equiform::engines::Version;
use serde::Deserialize;

const FILE: &str = include_str!("faults.toml");

/// All faults.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// The version of OpenTofu that they are made for.
    pub opentofu: Version,
    #[serde(default)]
    prepare: BTreeMap<String, Vec<Edit>>,
    /// In the order of the rules.
    pub fault: Vec<Fault>,
}

/// A fault: one file of the engine is another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What the engine does wrong.
    pub name: String,
    /// The rules of the model that it breaks.
    pub rules: Vec<u8>,
    /// The file within the engine's source.
    pub file: String,
    prepared: Option<String>,
    edit: Vec<Edit>,
}

/// A place in a file, and what stands there instead.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Edit {
    find: String,
    put: String,
}

impl Faults {
    /// Those of this project.
    pub fn read() -> Self {
        toml::from_str(FILE).unwrap_or_else(|error| panic!("faults.toml: {error}"))
    }

    /// The text of the fault's file, with the fault in it.
    pub fn put(&self, fault: &Fault, text: &str) -> Result<String, String> {
        let prepared = match &fault.prepared {
            Some(list) => {
                self.prepare.get(list).ok_or_else(|| format!("{}: there is no {list}", fault.name))?
            }
            None => &Vec::new(),
        };
        prepared.iter().chain(&fault.edit).try_fold(text.to_owned(), |text, edit| {
            match text.matches(&edit.find).count() {
                1 => Ok(text.replace(&edit.find, edit.put.trim().replace("{found}", &edit.find).as_str())),
                count => Err(format!(
                    "{}: `{}` is {count} times in {}, not once",
                    fault.name, edit.find, fault.file
                )),
            }
        })
    }
}
