//! Modules that an engine has fetched already, into `.terraform/modules` of a program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The folder of modules in a program's folder.
pub const FOLDER: &str = ".terraform/modules";

#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "Modules")]
    modules: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "Key")]
    key: String,
    #[serde(rename = "Dir")]
    folder: String,
}

/// The folders of modules by their keys: the names of the calls that lead to them, with dots between. What cannot be
/// read has none: engines fetch it anew.
pub fn modules(program: &Path) -> BTreeMap<String, PathBuf> {
    let Ok(text) = std::fs::read(program.join(FOLDER).join("modules.json")) else { return BTreeMap::new() };
    let Ok(manifest) = serde_json::from_slice::<Manifest>(&text) else { return BTreeMap::new() };
    let within = |entry: Entry| {
        let folder = program.join(&entry.folder).canonicalize().ok()?;
        // What is elsewhere was not fetched, and is not copied.
        folder.starts_with(program.join(FOLDER)).then_some((entry.key, folder))
    };
    manifest.modules.into_iter().filter_map(within).collect()
}
