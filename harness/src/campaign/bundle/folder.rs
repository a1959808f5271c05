//! A bundle's folder. What is in it and was not made by an earlier bundle is never touched.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{BundleError, SCRIPT};
use crate::engine_id::RecordedEngine;
use crate::judge::explain::Tried;
use crate::judge::finding::Finding;
use crate::util::files::{Access, folder_of, write_atomic};

/// The file that tells a bundle from other folders.
pub const BUNDLE_FILE: &str = "bundle.json";

/// The version of that file.
const VERSION: u32 = 2;

/// What a bundle says of itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Description {
    /// The version of the file.
    pub version: u32,
    /// The version of equiform that made it.
    pub equiform: String,
    /// The engine on which it was found.
    pub engine: RecordedEngine,
    /// What was found; none in a bundle that is only tried.
    pub finding: Option<Finding>,
    /// Whether it shows with a built-in resource, without our provider.
    pub builtin: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub needs_provider: String,
    /// Its files, but this one.
    pub files: Vec<String>,
}

impl Description {
    /// Of a bundle that is made now.
    pub fn new(engine: RecordedEngine, finding: Option<&Finding>, needs_provider: Option<&str>) -> Self {
        Self {
            version: VERSION,
            equiform: env!("CARGO_PKG_VERSION").to_owned(),
            engine,
            finding: finding.cloned(),
            builtin: needs_provider.is_none(),
            needs_provider: needs_provider.unwrap_or_default().to_owned(),
            files: Vec::new(),
        }
    }
}

/// The files of a bundle, by their names in its folder.
pub type Files = BTreeMap<String, String>;

/// Whether a folder can take a bundle: it is not there, or empty, or holds one. Gives the files of that.
pub fn may_be_written(folder: &Path) -> Result<Vec<String>, BundleError> {
    let io = |source| BundleError::Io { path: folder.to_owned(), source };
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(io(error)),
    };
    if is_empty {
        return Ok(Vec::new());
    }
    let foreign = || BundleError::Foreign(folder.to_owned());
    let bytes = fs::read(folder.join(BUNDLE_FILE)).map_err(|_| foreign())?;
    let there: Description = serde_json::from_slice(&bytes).map_err(|_| foreign())?;
    if there.version > VERSION {
        return Err(BundleError::Newer { folder: folder.to_owned(), found: there.version });
    }
    let is_inside = |file: &String| {
        Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    Ok(there.files.into_iter().filter(is_inside).collect())
}

/// Writes a bundle, each file whole or not at all, and removes what an earlier one left beside it.
pub fn write(folder: &Path, files: &Files, mut description: Description) -> Result<(), BundleError> {
    let old = may_be_written(folder)?;
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| BundleError::Io { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    description.files = files.keys().cloned().collect();
    let json = serde_json::to_string_pretty(&description).expect("a description is JSON") + "\n";
    // First of all, so that a folder that is half written is known as a bundle's.
    write_file(folder, BUNDLE_FILE, &json).map_err(failed(&folder.join(BUNDLE_FILE)))?;
    for (name, text) in files {
        write_file(folder, name, text).map_err(failed(&folder.join(name)))?;
    }
    for name in old.iter().filter(|name| !files.contains_key(*name)) {
        let path = folder.join(name);
        // Best effort: it is no part of the bundle any more. A folder that is left empty goes with it.
        let _ = fs::remove_file(&path);
        if let Some(above) = path.parent().filter(|above| *above != folder) {
            let _ = fs::remove_dir(above);
        }
    }
    Ok(())
}

/// Writes a file of a bundle. A bundle is made to be passed on.
fn write_file(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let path = folder.join(name);
    fs::create_dir_all(folder_of(&path))?;
    write_atomic(&path, if name == SCRIPT { Access::Executable } else { Access::Shared }, text)
}

/// On which engines it was tried, for people.
pub fn versions(tried: &[Tried]) -> String {
    let mut text = format!(
        "{SCRIPT} was run on these engines, {} on {}:\n\n",
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    Tried::lines(tried).iter().for_each(|line| text += &format!("{line}\n"));
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::engines::{EngineId, EngineName, Version};
    use crate::judge::finding::FindingKind;

    fn description() -> Description {
        let finding = Finding::new(FindingKind::Failure, "batch-1");
        let engine = EngineId::new(EngineName::Terraform, Version::new(1, 15, 5));
        Description::new(engine.into(), Some(&finding), None)
    }

    fn files(names: &[&str]) -> Files {
        names.iter().map(|name| ((*name).to_owned(), (*name).to_owned())).collect()
    }

    #[test]
    fn a_folder_with_something_else_in_it_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["notes.txt", BUNDLE_FILE] {
            fs::write(folder.path().join(name), "mine").unwrap();
            let error = write(folder.path(), &files(&["a"]), description()).unwrap_err();
            assert!(matches!(error, BundleError::Foreign(_)), "{error}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_bundle_takes_the_place_of_an_earlier_one_and_leaves_what_others_put_there() {
        let folder = tempfile::tempdir().unwrap();
        let names = |folder: &Path| {
            let mut names: Vec<String> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            names
        };
        write(folder.path(), &files(&["1/main.tf", "2/main.tf", "case.json"]), description()).unwrap();
        fs::write(folder.path().join("README.md"), "mine").unwrap();
        write(folder.path(), &files(&["1/main.tf", SCRIPT]), description()).unwrap();
        assert_eq!(names(folder.path()), ["1", "README.md", BUNDLE_FILE, SCRIPT]);
        let mode = fs::metadata(folder.path().join(SCRIPT)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }

    #[test]
    fn a_bundle_of_a_newer_version_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let newer = Description { version: VERSION + 1, ..description() };
        fs::write(folder.path().join(BUNDLE_FILE), serde_json::to_string(&newer).unwrap()).unwrap();
        let error = write(folder.path(), &files(&["a"]), description()).unwrap_err();
        assert!(error.to_string().contains("newer equiform"), "{error}");
    }
}
