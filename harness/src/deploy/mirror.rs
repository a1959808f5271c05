//! A folder from which engines install the mock provider.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::provider::ProviderError;
use super::provider_log::ProviderLog;
use crate::engines::{Family, make_mirror};

/// A mirror with the provider in it, and an engine's configuration that names it. Gone when dropped.
pub struct Mirror {
    folder: TempDir,
    config: PathBuf,
    crash_log: PathBuf,
    log: Arc<ProviderLog>,
}

impl Mirror {
    /// A mirror of a provider's binary, for engines of a family.
    pub fn of(provider: &Path, family: Family) -> Result<Self, ProviderError> {
        make(provider, family).map_err(|source| ProviderError::Mirror { path: provider.to_owned(), source })
    }

    /// The configuration file.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// The file in which providers that were installed from it leave word of a crash.
    pub fn crash_log(&self) -> &Path {
        &self.crash_log
    }

    /// The same, as it is read.
    pub fn log(&self) -> &Arc<ProviderLog> {
        &self.log
    }

    /// The folder of the mirror.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

fn make(provider: &Path, family: Family) -> io::Result<Mirror> {
    let folder = tempfile::Builder::new().prefix("equiform-mirror-").tempdir()?;
    let config = make_mirror(family, provider, folder.path())?;
    let crash_log = folder.path().join("crashes.log");
    let log = Arc::new(ProviderLog::at(&crash_log)?);
    Ok(Mirror { folder, config, crash_log, log })
}
