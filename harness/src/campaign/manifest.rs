//! A campaign's manifest: all that its verdicts depend on, as data. It is the first file in the campaign's folder,
//! which belongs to this campaign alone, and to one process at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Settings;
use super::builds::Builds;
use super::shard::{Part, Shard};
use crate::deploy::Mode;
use crate::engine_id::RecordedEngine;
use crate::judge::oracles::Oracle;
use crate::util::files::{Access, AtomicFile};

const FILE: &str = "campaign.json";

/// How the name of a manifest begins while it is being written.
const DRAFT: &str = ".campaign.json-";

/// The version of the file.
const VERSION: u32 = 4;

/// All that the verdicts in a folder depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignManifest {
    version: u32,
    engine: RecordedEngine,
    builds: Builds,
    mode: Mode,
    oracles: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<Shard>,
    settings: Settings,
}

/// A folder that cannot be used for a campaign.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Another campaign is in it.
    #[error(
        "{} holds a campaign with other settings:\n  {}\nResume it with --resume, or name another folder with --out",
        folder.display(),
        differences.join("\n  ")
    )]
    Other {
        /// The folder.
        folder: PathBuf,
        /// In what they differ, stored and given.
        differences: Vec<String>,
    },
    /// The verdicts in it are those of other programs.
    #[error(
        "{} holds the verdicts of other builds: {what} changed since then. Name a new folder with --out to judge \
         what is there now, or go back to the builds that it was begun with",
        folder.display()
    )]
    Changed {
        /// The folder.
        folder: PathBuf,
        /// What changed.
        what: String,
    },
    /// Something else is in it.
    #[error("{} is not empty and holds no campaign: name another folder with --out", .0.display())]
    Foreign(PathBuf),
    /// Another process is at it.
    #[error(
        "another process is running the campaign in {}: wait for its end, or name another folder with --out",
        .0.display()
    )]
    Busy(PathBuf),
    /// The file is there and is not a manifest.
    #[error("{}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It cannot be made, read or written.
    #[error("the folder {} cannot be used: {source}; name another with --out", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// A folder that is this process's for as long as this lives. The system takes the lock away from a process that dies.
#[derive(Debug)]
pub struct CampaignLock {
    _file: File,
}

/// Something that differs between two manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestDifference {
    /// Where it stands, such as `settings.seed`.
    pub key: String,
    /// Its value in the first; none if it has none.
    pub first: Option<String>,
    /// Its value in the second; none if it has none.
    pub second: Option<String>,
}

impl ManifestDifference {
    /// Both values, for people.
    pub fn values(&self) -> [&str; 2] {
        [&self.first, &self.second].map(|value| value.as_deref().unwrap_or("nothing"))
    }
}

impl CampaignManifest {
    /// The manifest of a campaign, or a part of one, with these builds of an engine and the provider.
    pub fn new(
        engine: RecordedEngine,
        builds: Builds,
        mode: Mode,
        oracles: &[&Oracle],
        shard: Option<Shard>,
        settings: Settings,
    ) -> Self {
        let oracles = oracles.iter().map(|oracle| oracle.name().to_owned()).collect();
        let engine = builds.identify(&engine);
        Self { version: VERSION, engine, builds, mode, oracles, shard, settings }
    }

    /// The manifest in a folder, if there is one.
    pub fn read(folder: &Path) -> Result<Option<Self>, ManifestError> {
        #[derive(Deserialize)]
        struct AnyVersion {
            version: u32,
        }
        let path = folder.join(FILE);
        let unreadable = |why: String| ManifestError::Unreadable { path: path.clone(), why };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(ManifestError::Io { path: folder.to_owned(), source }),
        };
        let not_one =
            |error: serde_json::Error| unreadable(format!("this is not a campaign's file: {error}"));
        let any: AnyVersion = serde_json::from_slice(&bytes).map_err(not_one)?;
        if any.version != VERSION {
            let found = any.version;
            return Err(unreadable(format!(
                "it has version {found}, and this program reads version {VERSION}: use the equiform that wrote it"
            )));
        }
        let manifest: Self = serde_json::from_slice(&bytes).map_err(not_one)?;
        let invalid = |error| unreadable(format!("its settings cannot be used: {error}"));
        manifest.settings.check().map_err(invalid)?;
        Ok(Some(manifest))
    }

    /// The engine.
    pub fn engine(&self) -> &RecordedEngine {
        &self.engine
    }

    /// The builds that its verdicts are of.
    pub fn builds(&self) -> &Builds {
        &self.builds
    }

    /// How it is run.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The oracles that are asked.
    pub fn oracles(&self) -> &[String] {
        &self.oracles
    }

    /// The part of the campaign that this is; none for the whole.
    pub fn shard(&self) -> Option<Shard> {
        self.shard
    }

    /// What is generated.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The campaign of which this is a part.
    pub fn whole(&self) -> Self {
        Self { shard: None, ..self.clone() }
    }

    /// What tells one campaign from another. Where the engine lies on some machine is no part of it.
    pub fn identity(&self) -> Self {
        Self { engine: self.engine.id.clone().into(), ..self.clone() }
    }

    /// The numbers of the cases.
    pub fn cases(&self) -> impl Iterator<Item = usize> {
        self.part().cases(self.settings.sources)
    }

    /// Which cases of the campaign it is about.
    pub fn part(&self) -> Part {
        self.shard.map_or(Part::Whole, Part::Shard)
    }

    /// What people chose differently in another manifest: everything but the builds, and where the engine lies.
    pub fn differences(&self, other: &Self) -> Vec<ManifestDifference> {
        let [own, others] = [self, other].map(|manifest| {
            let mut values = BTreeMap::new();
            let chosen = Chosen {
                engine: manifest.engine.id.any_build().to_string(),
                mode: manifest.mode,
                oracles: manifest.oracles.join(","),
                shard: manifest.shard,
                settings: &manifest.settings,
            };
            flatten("", &serde_json::to_value(chosen).expect("a manifest is JSON"), &mut values);
            values
        });
        let keys: BTreeSet<&String> = own.keys().chain(others.keys()).collect();
        let differing = keys.into_iter().filter(|key| own.get(*key) != others.get(*key));
        differing
            .map(|key| ManifestDifference {
                key: key.clone(),
                first: own.get(key).cloned(),
                second: others.get(key).cloned(),
            })
            .collect()
    }

    /// Makes the folder this campaign's, and this process's. One that is this campaign's already may be resumed.
    pub fn lock(&self, folder: &Path) -> Result<CampaignLock, ManifestError> {
        let io = |source| ManifestError::Io { path: folder.to_owned(), source };
        crate::private::create_folder(folder).map_err(io)?;
        if !folder.join(FILE).exists() {
            // Another process may begin the same campaign right now: its file may have come since.
            if holds_something_else(folder).map_err(io)? && !folder.join(FILE).exists() {
                return Err(ManifestError::Foreign(folder.to_owned()));
            }
            self.write(folder).map_err(io)?;
        }
        let gone = || io::Error::other(format!("{FILE} was removed just now"));
        let there = Self::read(folder)?.ok_or_else(|| io(gone()))?;
        let differences = there.differences(self);
        if !differences.is_empty() {
            let sentence = |it: &ManifestDifference| {
                let [stored, given] = it.values();
                format!("{}: stored {stored}, given {given}", it.key)
            };
            let differences = differences.iter().map(sentence).collect();
            return Err(ManifestError::Other { folder: folder.to_owned(), differences });
        }
        if let Some(what) = there.builds.changed(&self.builds) {
            return Err(ManifestError::Changed { folder: folder.to_owned(), what });
        }
        let locked = File::open(folder.join(FILE)).map_err(io)?;
        match locked.try_lock() {
            Ok(()) => Ok(CampaignLock { _file: locked }),
            Err(TryLockError::WouldBlock) => Err(ManifestError::Busy(folder.to_owned())),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }

    /// Writes the manifest, unless there is one already.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = AtomicFile::begin(&folder.join(FILE), Access::Private)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.finish_unless_there().map(drop)
    }
}

/// What people choose of a campaign.
#[derive(Serialize)]
struct Chosen<'a> {
    engine: String,
    mode: Mode,
    oracles: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<Shard>,
    settings: &'a Settings,
}

/// All values in a JSON document, by where they stand. A graph is one value.
fn flatten(key: &str, value: &serde_json::Value, values: &mut BTreeMap<String, String>) {
    match value {
        serde_json::Value::Object(fields) if !fields.contains_key("nodes") => {
            for (name, value) in fields {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&key, value, values);
            }
        }
        serde_json::Value::String(text) => {
            values.insert(key.to_owned(), text.clone());
        }
        other => {
            values.insert(key.to_owned(), other.to_string());
        }
    }
}

/// Whether a folder holds anything but manifests that are being written.
fn holds_something_else(folder: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(folder)? {
        if !entry?.file_name().as_encoded_bytes().starts_with(DRAFT.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
pub(super) mod tests;
