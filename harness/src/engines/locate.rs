//! From the name of an engine to an executable that is there.

use std::ffi::OsString;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};

use super::cache::{Cache, CacheNotFound};
use super::catalogue::{self, NotInCatalogue};
use super::choice::EngineChoice;
use super::probe::{self, ProbeError};
use super::spec::EngineSpec;
use crate::engine_id::{EngineId, EngineName, RecordedEngine};

/// Where an engine was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineOrigin {
    /// On the user's PATH.
    Path,
    /// In the cache, installed by equiform.
    Installed,
    /// Where the user said.
    Given,
}

/// An engine that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Which engine it is.
    pub id: EngineId,
    /// Its executable.
    pub path: PathBuf,
    /// Where it was found.
    pub origin: EngineOrigin,
}

impl Engine {
    /// What is stored of it: which engine it is, and its path if that was given.
    pub fn recorded(&self) -> RecordedEngine {
        let path = (self.origin == EngineOrigin::Given).then(|| self.path.clone());
        RecordedEngine { id: self.id.clone(), path }
    }
}

impl Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.recorded().fmt(f)
    }
}

/// A program that is built and installed together with this one.
pub fn beside_this_program(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let folder = own.parent().unwrap_or(Path::new(""));
    // Test binaries stand one folder deeper.
    let folder = if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder };
    folder.join(name)
}

/// The places where engines are looked for.
#[derive(Debug, Clone)]
pub struct Engines {
    /// Where they are installed.
    pub cache: Cache,
    /// The folders with the user's own programs, as in `PATH`.
    pub search_path: OsString,
}

impl Engines {
    /// The places that the environment of this process names.
    pub fn from_env() -> Result<Self, CacheNotFound> {
        let variable = |name: &str| std::env::var_os(name);
        Ok(Self { cache: Cache::from_env(variable)?, search_path: variable("PATH").unwrap_or_default() })
    }

    /// The engine that was chosen.
    pub fn find(&self, choice: &EngineChoice) -> Result<Engine, LocateError> {
        match choice {
            EngineChoice::Named(spec) => self.locate(spec),
            EngineChoice::At { path, named } => given(path, *named),
        }
    }

    /// The engine that `spec` names.
    ///
    /// The one on the PATH if it is of a version that was asked for, else the newest such that is installed.
    pub fn locate(&self, spec: &EngineSpec) -> Result<Engine, LocateError> {
        if let Some(engine) = self.on_path(spec.name)
            && spec.version.accepts(&engine.id.version)
        {
            return Ok(engine);
        }
        match self.installed(spec.name).find(|engine| spec.version.accepts(&engine.id.version)) {
            Some(engine) => Ok(engine),
            None => match catalogue::find(spec) {
                Ok(_) => Err(LocateError::NotInstalled(spec.clone())),
                Err(unknown) => Err(unknown.into()),
            },
        }
    }

    /// The engine that people get who type its name. One that does not say its version cannot be used and counts as
    /// absent.
    pub fn on_path(&self, name: EngineName) -> Option<Engine> {
        let path = self.program(name.as_str())?;
        let version = probe::version(&path).ok()?;
        Some(Engine { id: EngineId::new(name, version), path, origin: EngineOrigin::Path })
    }

    /// The versions of an engine in the cache, the newest first.
    pub fn installed(&self, name: EngineName) -> impl Iterator<Item = Engine> {
        self.cache.installed_versions(name).into_iter().map(move |(version, path)| Engine {
            id: EngineId::new(name, version),
            path,
            origin: EngineOrigin::Installed,
        })
    }

    /// The program of this name on the search path.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let here = std::env::current_dir().unwrap_or_default();
        which::which_in(name, Some(&self.search_path), here).ok()
    }
}

/// The engine at a path, by the name that somebody gave it, else by what it says of itself.
fn given(path: &Path, named: Option<EngineName>) -> Result<Engine, LocateError> {
    let version = probe::version(path)?;
    let name = match named {
        Some(name) => name,
        None => recognised(path, &probe::introduction(path)?)?,
    };
    // Engines are run in other folders, where a relative path leads elsewhere.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Ok(Engine { id: EngineId::new(name, version), path, origin: EngineOrigin::Given })
}

/// The engine that introduces itself by this line.
fn recognised(path: &Path, said: &str) -> Result<EngineName, LocateError> {
    let name = EngineName::ALL.into_iter().find(|name| said.starts_with(name.product()));
    name.ok_or_else(|| LocateError::Unrecognised { path: path.to_owned(), said: said.to_owned() })
}

/// Why there is no engine for a spec.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// It could be installed, but is not.
    #[error("{0} is neither on the PATH nor installed; run `equiform engines install {0}`")]
    NotInstalled(EngineSpec),
    /// It cannot be installed either.
    #[error("there is no such engine on the PATH or in the cache, and {0}")]
    Unknown(#[from] NotInCatalogue),
    /// The executable that was named is no engine.
    #[error("{0}; name an executable that takes the commands of Terraform")]
    NoEngine(#[from] ProbeError),
    /// The executable that was named is an engine, but nobody knows which.
    #[error(
        "{path} does not say which engine it is: its `version` begins with {said:?}. If it takes the commands of one \
         of these, say of which: --engine terraform:{path} or --engine tofu:{path}", path = path.display()
    )]
    Unrecognised {
        /// The executable.
        path: PathBuf,
        /// What it says of itself.
        said: String,
    },
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use semver::Version;
    use tempfile::TempDir;

    use super::*;
    use crate::engines::cache::TERRAFORM_LIBRARY;

    /// A search path and a cache with nothing in them, to be filled.
    struct Place {
        folder: TempDir,
    }

    impl Place {
        fn empty() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("bin")).unwrap();
            Self { folder }
        }

        /// Puts a script on the search path that prints `answer`.
        fn on_path(self, name: &str, answer: &str) -> Self {
            let path = self.folder.path().join("bin").join(name);
            let says = match name {
                "terraform" => "Terraform v1",
                _ => "",
            };
            let lines = format!("if [ \"$2\" = -json ]; then echo '{answer}'; else echo '{says}'; fi");
            fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            self
        }

        fn terraform_on_path(self, version: &str) -> Self {
            self.on_path("terraform", &format!(r#"{{"terraform_version":"{version}"}}"#))
        }

        fn installed(self, version: &str) -> Self {
            let engine =
                self.engines().cache.folder(EngineName::Terraform, &Version::parse(version).unwrap());
            fs::create_dir_all(&engine).unwrap();
            for file in ["terraform", TERRAFORM_LIBRARY] {
                fs::write(engine.join(file), "").unwrap();
            }
            self
        }

        fn engines(&self) -> Engines {
            let folder: &Path = self.folder.path();
            Engines { cache: Cache::at(folder.join("cache")), search_path: folder.join("bin").into() }
        }

        fn locate(&self, spec: &str) -> Result<(EngineOrigin, String), String> {
            match self.engines().locate(&spec.parse().unwrap()) {
                Ok(engine) => Ok((engine.origin, engine.id.version.to_string())),
                Err(error) => Err(error.to_string()),
            }
        }
    }

    fn found(origin: EngineOrigin, version: &str) -> Result<(EngineOrigin, String), String> {
        Ok((origin, version.to_owned()))
    }

    #[test]
    fn without_a_version_the_path_comes_first() {
        let place = Place::empty().terraform_on_path("1.3.0").installed("1.15.5");
        assert_eq!(place.locate("terraform"), found(EngineOrigin::Path, "1.3.0"));
    }

    #[test]
    fn the_path_is_used_for_a_version_only_if_it_is_that_version() {
        let place = Place::empty().terraform_on_path("1.11.4").installed("1.11.4").installed("1.6.6");
        assert_eq!(place.locate("terraform@1.11.4"), found(EngineOrigin::Path, "1.11.4"));
        assert_eq!(place.locate("terraform@1.11"), found(EngineOrigin::Path, "1.11.4"));
        assert_eq!(place.locate("terraform@1.6.6"), found(EngineOrigin::Installed, "1.6.6"));
    }

    #[test]
    fn without_a_version_and_with_nothing_on_the_path_the_newest_installed_is_used() {
        let place = Place::empty().installed("1.9.8").installed("1.10.5");
        assert_eq!(place.locate("terraform"), found(EngineOrigin::Installed, "1.10.5"));
    }

    #[test]
    fn a_version_on_the_path_need_not_be_in_the_catalogue() {
        let place = Place::empty().terraform_on_path("1.16.0-alpha1");
        assert_eq!(place.locate("terraform@1.16.0-alpha1"), found(EngineOrigin::Path, "1.16.0-alpha1"));
    }

    #[test]
    fn a_program_on_the_path_that_is_no_engine_is_passed_over() {
        let place = Place::empty().on_path("terraform", "hello").installed("1.6.6");
        assert_eq!(place.locate("terraform"), found(EngineOrigin::Installed, "1.6.6"));
    }

    fn find(path: &Path) -> Result<Engine, String> {
        let engines = Place::empty().engines();
        let choice = EngineChoice::At { path: path.to_owned(), named: None };
        engines.find(&choice).map_err(|error| error.to_string())
    }

    #[test]
    fn an_executable_at_a_path_says_itself_what_it_is() {
        let place = Place::empty().terraform_on_path("1.99.0-fork");
        let path = place.folder.path().join("bin/terraform");
        let engine = find(&path).unwrap();
        assert_eq!((engine.origin, engine.id.name), (EngineOrigin::Given, EngineName::Terraform));
        assert_eq!(engine.to_string(), format!("terraform@1.99.0-fork at {}", path.display()));
    }

    #[test]
    fn an_executable_that_does_not_say_which_engine_it_is_counts_as_none_until_somebody_says_it() {
        let answer = r#"{"terraform_version":"1.99.0"}"#;
        let place = Place::empty().on_path("platform-tool", answer);
        let path = place.folder.path().join("bin/platform-tool");
        let error = find(&path).unwrap_err().replace(place.folder.path().to_str().unwrap(), "");
        let begins = "/bin/platform-tool does not say which engine it is: its `version` begins with \"\".";
        let ends = "--engine terraform:/bin/platform-tool or --engine tofu:/bin/platform-tool";
        assert!(error.starts_with(begins) && error.ends_with(ends), "{error}");
        let choice: EngineChoice = format!("tofu:{}", path.display()).parse().unwrap();
        let engine = place.engines().find(&choice).unwrap();
        assert_eq!(engine.id, EngineId::new(EngineName::Tofu, Version::new(1, 99, 0)));
    }

    #[test]
    fn a_path_to_something_else_gives_a_sentence() {
        let place = Place::empty().on_path("terraform", "hello");
        let path = place.folder.path().join("bin/terraform");
        let error = find(&path).unwrap_err().replace(place.folder.path().to_str().unwrap(), "");
        insta::assert_snapshot!(
            error,
            @"/bin/terraform does not answer `version -json` as an engine does; it said: nothing; \
              name an executable that takes the commands of Terraform"
        );
        insta::assert_snapshot!(
            find(Path::new("/no/such/engine")).unwrap_err(),
            @"/no/such/engine cannot be started: No such file or directory (os error 2); \
              name an executable that takes the commands of Terraform"
        );
    }

    #[test]
    fn what_could_be_installed_is_answered_with_the_command() {
        let error = Place::empty().locate("terraform@1.99.0").unwrap_err();
        assert!(error.ends_with("run `equiform engines install terraform@1.99.0`"), "{error}");
        let error = Place::empty().installed("1.6.6").locate("terraform@1.11").unwrap_err();
        insta::assert_snapshot!(
            error,
            @"terraform@1.11 is neither on the PATH nor installed; run `equiform engines install terraform@1.11`"
        );
    }

    #[test]
    fn what_could_not_is_answered_with_the_versions_there_are() {
        let error = Place::empty().locate("tofu@1.11").unwrap_err();
        insta::assert_snapshot!(
            error,
            @"there is no such engine on the PATH or in the cache, and tofu@1.11 cannot be installed, because the \
              catalogue has no such version; it has 1.10.10, 1.12.6 of tofu. Any other version is built from source \
              if you write all three numbers, as in tofu@1.11.0"
        );
    }
}
