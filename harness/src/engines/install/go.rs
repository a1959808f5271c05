//! Engines from their Go modules, built with the user's Go.
//!
//! The module is fetched into Go's module cache and copied out of it. In the copy it is the main module of its own
//! build: its `replace` lines, its Go settings and the hashes in its `go.sum` hold as in an official build. Go checks
//! the module against the checksum database, and versions of the catalogue are compared with a hash of their own.
//!
//! The worker is built from the same copy, with one file added. The engine itself is built before that.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use semver::Version;
use serde::Deserialize;

use super::nested;
use super::tool::{self, ToolFailed};
use super::{Installer, Stage, StagingFolder};
use crate::engine_id::EngineName;
use crate::engines::cache;
use crate::engines::catalogue::{GoBuild, Version3};
use crate::engines::worker::{self, GoNames};
use crate::util::files::{Copying, copy_folder};

/// The file that is added for a worker: the last of its package, so that it is initialised last.
const WORKER_FILE: &str = "zz_equiform_worker.go";

/// An engine that is built from a Go module.
#[derive(Debug)]
pub struct GoEngine {
    name: EngineName,
    module: &'static str,
    /// The folder of its package `main`.
    main: &'static str,
    /// Without the setting it calls itself a `-dev` version. Versions that lack the variable ignore it.
    release: &'static str,
}

/// OpenTofu.
pub const OPENTOFU: GoEngine = GoEngine {
    name: EngineName::Tofu,
    module: "github.com/opentofu/opentofu",
    main: "cmd/tofu",
    release: "github.com/opentofu/opentofu/version.dev=no",
};

/// Terraform.
pub const TERRAFORM: GoEngine = GoEngine {
    name: EngineName::Terraform,
    module: "github.com/hashicorp/terraform",
    main: ".",
    release: "github.com/hashicorp/terraform/version.dev=no",
};

/// How an engine is built.
pub(super) fn engine(name: EngineName) -> &'static GoEngine {
    match name {
        EngineName::Terraform => &TERRAFORM,
        EngineName::Tofu => &OPENTOFU,
    }
}

impl GoEngine {
    /// Makes the engine in `staging.engine`.
    pub(super) fn make(
        &self,
        installer: &Installer<'_>,
        version: &Version,
        build: &GoBuild,
        staging: &StagingFolder,
    ) -> Result<(), SourceError> {
        let needed = Needed { name: self.name, version: version.clone(), go: build.go };
        let Some(go) = installer.engines.program("go") else { return Err(SourceError::NoGo(needed)) };
        let made = self.fetch_and_build(installer, &go, version, build.sum, staging);
        made.map_err(|error| match go_version(&go) {
            Some(found) if build.go.is_some_and(|go| found < go) => {
                SourceError::OldGo { needed, found: dotted(found) }
            }
            _ => error,
        })
    }

    fn fetch_and_build(
        &self,
        installer: &Installer<'_>,
        go: &Path,
        version: &Version,
        sum: Option<&'static str>,
        staging: &StagingFolder,
    ) -> Result<(), SourceError> {
        let progress = installer.progress;
        progress.stage(Stage::Downloading);
        let fetched = self.fetch(go, version, &staging.scratch)?;
        if let Some(pinned) = sum {
            progress.stage(Stage::Comparing);
            if fetched.sum != pinned {
                let module = format!("{}@v{version}", self.module);
                return Err(SourceError::WrongHash { module, pinned, found: fetched.sum });
            }
        }
        progress.stage(Stage::Unpacking);
        let source = staging.scratch.join("source");
        copy(&fetched.folder, &source).map_err(SourceError::Copy)?;
        nested::complete(go, &source)?;

        progress.stage(Stage::Building);
        let executable = cache::executable(&staging.engine, self.name);
        let build = |executable: &Path| {
            let built = tool::run(&mut self.build_command(go, &source, executable, &[]), progress);
            built.map_err(|failed| SourceError::Build { product: self.name.product(), failed })
        };
        build(&executable)?;

        progress.stage(Stage::BuildingWorker);
        self.add_worker(&source)?;
        build(&worker::place_beside(&executable))
    }

    /// Adds what makes a worker of the engine to a copy of its source.
    pub fn add_worker(&self, source: &Path) -> Result<(), SourceError> {
        let folder = source.join(self.main);
        let names = declared(&folder).map_err(SourceError::Copy)?;
        let missing = |what| SourceError::NoWorker { product: self.name.product(), what };
        let names = GoNames {
            commands: names.commands.ok_or_else(|| missing("a map `commands` or `Commands`"))?,
            main: names.main.ok_or_else(|| missing("a function `realMain`"))?,
        };
        fs::write(folder.join(WORKER_FILE), worker::go_main(names)).map_err(SourceError::Copy)
    }

    /// The command that builds the engine whose source is in `source`, with `flags` added to those of an installed one.
    pub fn build_command(&self, go: &Path, source: &Path, executable: &Path, flags: &[&OsStr]) -> Command {
        let mut build = go_command(go, source);
        build
            // As in the official builds: one static file. Whatever the user cross-compiles for, this must run here.
            .env("CGO_ENABLED", "0")
            .env_remove("GOOS")
            .env_remove("GOARCH")
            .args(["build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags"])
            // No symbols, which no run needs.
            .arg(format!("-s -w -X {}", self.release))
            .args(flags)
            .arg("-o")
            .arg(executable)
            .arg(Path::new(".").join(self.main));
        build
    }

    /// Fetches the engine's source into Go's module cache. `scratch` is any folder outside of a Go module.
    pub fn fetch(&self, go: &Path, version: &Version, scratch: &Path) -> Result<Fetched, SourceError> {
        let module = format!("{}@v{version}", self.module);
        let failed = |said: String| SourceError::Fetch { module: module.clone(), said };
        let output = go_command(go, scratch)
            .args(["mod", "download", "-json", &module])
            .output()
            .map_err(|error| failed(error.to_string()))?;
        match serde_json::from_slice(&output.stdout) {
            Ok(Download { dir: Some(folder), sum, error: None }) => Ok(Fetched { folder, sum }),
            Ok(Download { error: Some(said), .. }) => Err(failed(said)),
            _ => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
        }
    }
}

/// A source in Go's module cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Its folder.
    pub folder: PathBuf,
    /// Its hash, as Go writes it.
    pub sum: String,
}

/// Copies a source out of Go's module cache, in which folders are read-only and builds exchange no file.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_folder(from, to, Copying::AsTheyAre, &[])
}

/// A Go command in `folder` that no workspace or old setting of the user's leads elsewhere.
pub(super) fn go_command(go: &Path, folder: &Path) -> Command {
    let mut command = Command::new(go);
    command.current_dir(folder).env("GOWORK", "off").env("GO111MODULE", "on");
    command
}

/// What `go mod download -json` prints, as far as it matters here.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Download {
    dir: Option<PathBuf>,
    #[serde(default)]
    sum: String,
    error: Option<String>,
}

/// The names in an engine's package `main` that a worker refers to, as far as they were found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Declared {
    commands: Option<&'static str>,
    main: Option<&'static str>,
}

/// Looks for the names in all files of the package. They differ between engines and versions.
fn declared(folder: &Path) -> io::Result<Declared> {
    let mut found = Declared::default();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if !name.ends_with(".go") || name.ends_with("_test.go") || !path.is_file() {
            continue;
        }
        for line in fs::read_to_string(&path)?.lines() {
            let declares = |before: &str, name: &str, after: &str| {
                let line = line.trim_start();
                let rest = line.strip_prefix(before).unwrap_or(line).strip_prefix(name);
                rest.is_some_and(|rest| rest.starts_with(after))
            };
            let commands = ["commands", "Commands"].into_iter().find(|it| declares("var ", it, " map["));
            found.commands = found.commands.or(commands);
            // Old versions have both: the outer one starts another process, which runs the inner one.
            match ["wrappedMain", "realMain"].into_iter().find(|it| declares("func ", it, "() int")) {
                Some("wrappedMain") => found.main = Some("wrappedMain"),
                other => found.main = found.main.or(other),
            }
        }
    }
    Ok(found)
}

/// The version of the user's Go, `go1.26.8`, without what may follow the numbers.
fn go_version(go: &Path) -> Option<Version3> {
    let output = Command::new(go).args(["env", "GOVERSION"]).output().ok()?;
    parse_go_version(str::from_utf8(&output.stdout).ok()?)
}

fn parse_go_version(text: &str) -> Option<Version3> {
    let text = text.trim().strip_prefix("go")?;
    let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    let mut numbers = numbers.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next().flatten().unwrap_or(0)))
}

fn dotted((major, minor, patch): Version3) -> String {
    format!("{major}.{minor}.{patch}")
}

/// Which Go an engine needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{} {version} is built from source and needs Go{}",
    name.product(),
    go.map(|go| format!(" {} or newer", dotted(go))).unwrap_or_default()
)]
pub struct Needed {
    name: EngineName,
    version: Version,
    go: Option<Version3>,
}

/// Why an engine was not built from source.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There is no Go.
    #[error("{0}, and there is no go on the PATH; install Go, or put a {name} on the PATH", name = .0.name)]
    NoGo(Needed),
    /// The Go there is cannot build it.
    #[error(
        "{needed}, and the go on the PATH is {found}; install a newer Go, or put a {} on the PATH", needed.name
    )]
    OldGo {
        /// What it takes.
        needed: Needed,
        /// The version on the PATH.
        found: String,
    },
    /// The module cannot be fetched.
    #[error(
        "go cannot download {module}: {said}\ncheck that Go reaches its module registry (`go env GOPROXY`), and that \
         there is such a version"
    )]
    Fetch {
        /// The module and its version.
        module: String,
        /// What Go says.
        said: String,
    },
    /// The module is not the pinned one.
    #[error(
        "{module} has the hash {found:?} instead of {pinned}, so it was not built; whatever serves Go modules to this \
         machine has another source under this name"
    )]
    WrongHash {
        /// The module and its version.
        module: String,
        /// The hash in the catalogue.
        pinned: &'static str,
        /// The hash of what Go fetched.
        found: String,
    },
    /// Its source cannot be read or copied.
    #[error("the source cannot be copied: {0}; the cache folder must have room")]
    Copy(io::Error),
    /// Its `go.mod` cannot be read.
    #[error("the go.mod of the engine cannot be read: {0}")]
    GoMod(String),
    /// Its source has another structure than a worker needs.
    #[error("the source of {product} does not declare {what} in its package main, which a worker needs")]
    NoWorker {
        /// The engine.
        product: &'static str,
        /// What was not found.
        what: &'static str,
    },
    /// It does not build.
    #[error("{product} does not build: {failed}")]
    Build {
        /// The engine.
        product: &'static str,
        /// What Go says.
        failed: ToolFailed,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_versions_are_read_with_and_without_a_patch_or_suffix() {
        assert_eq!(parse_go_version("go1.26.8\n"), Some((1, 26, 8)));
        assert_eq!(parse_go_version("go1.20"), Some((1, 20, 0)));
        assert_eq!(parse_go_version("go1.27rc1"), Some((1, 27, 0)));
        assert_eq!(parse_go_version("go1.26.8-custom X:nodwarf5"), Some((1, 26, 8)));
        assert_eq!(parse_go_version("devel"), None);
    }

    #[test]
    fn a_worker_refers_to_what_the_package_declares_and_what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        let added = || TERRAFORM.add_worker(folder.path()).map_err(|error| error.to_string());
        write("main_test.go", "var commands map[string]int\nfunc realMain() int {\n");
        insta::assert_snapshot!(
            added().unwrap_err(),
            @"the source of Terraform does not declare a map `commands` or `Commands` in its package main, which a \
              worker needs"
        );
        write("commands.go", "package main\n\n// commands\nvar Commands map[string]cli.CommandFactory\n");
        assert!(added().unwrap_err().contains("a function `realMain`"));
        write("main.go", "func main() {\n\tos.Exit(realMain())\n}\n\nfunc realMain() int {\n");
        added().unwrap();
        let text = fs::read_to_string(folder.path().join(WORKER_FILE)).unwrap();
        assert!(text.contains("\tCommands = nil\n\treturn realMain(), nil\n"), "{text}");
        fs::remove_file(folder.path().join(WORKER_FILE)).unwrap();
        write("old.go", "var (\n\tcommands map[string]int\n)\nfunc wrappedMain() int {\n");
        assert_eq!(declared(folder.path()).unwrap().main, Some("wrappedMain"));
    }
}
