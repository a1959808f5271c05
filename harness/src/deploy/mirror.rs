//! A folder from which engines install the mock provider.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use super::provider::ProviderError;
use super::provider_log::ProviderLog;
use crate::engines::terraform::provider_access::{CONFIGURATION_FILE, mirror_configuration, place_in_mirror};

/// A mirror with the provider in it, and an engine's configuration that names it. Gone when dropped.
pub struct Mirror {
    folder: TempDir,
    config: PathBuf,
    crash_log: PathBuf,
    log: Arc<ProviderLog>,
}

impl Mirror {
    /// A mirror of a provider's binary.
    pub fn of(provider: &Path) -> Result<Self, ProviderError> {
        make(provider).map_err(|source| ProviderError::Mirror { path: provider.to_owned(), source })
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

fn make(provider: &Path) -> io::Result<Mirror> {
    let folder = tempfile::Builder::new().prefix("equiform-mirror-").tempdir()?;
    let binary = folder.path().join(place_in_mirror(env!("CARGO_PKG_VERSION")));
    fs::create_dir_all(binary.parent().unwrap_or(folder.path()))?;
    // Engines put a link to it into each folder they prepare; a copy would be written and hashed again for each.
    fs::copy(provider, binary)?;
    let config = folder.path().join(CONFIGURATION_FILE);
    fs::write(&config, mirror_configuration(folder.path()))?;
    let crash_log = folder.path().join("crashes.log");
    let log = Arc::new(ProviderLog::at(&crash_log)?);
    Ok(Mirror { folder, config, crash_log, log })
}
