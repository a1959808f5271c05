//! OpenTofu from its Go module, built with the user's Go.
//!
//! The module is fetched into Go's module cache and built where it lies there. So it is the main module of its own
//! build: its `replace` lines, its Go settings and the hashes in its `go.sum` hold as in an official build. Go itself
//! checks the module against the checksum database.
//!
//! Its worker is built from a copy of the same source, with one file added. The engine itself stays as it is.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use semver::Version;
use serde::Deserialize;

use super::tool::{self, ToolFailed};
use super::{Installer, Stage, StagingFolder};
use crate::engine_id::EngineName;
use crate::engines::cache;
use crate::engines::catalogue::{GoBuild, Version3};
use crate::engines::worker;
use crate::util::files::{Copying, copy_folder};

const MODULE: &str = "github.com/opentofu/opentofu";

/// The file that is added for a worker: the last of its package, so that it is initialised last.
const WORKER_FILE: &str = "zz_equiform_worker.go";

/// No symbols, which no run needs, and a release: without the setting it calls itself a `-dev` version.
const LINKER_FLAGS: &str = "-s -w -X github.com/opentofu/opentofu/version.dev=no";

/// Makes an OpenTofu in `staging.engine`.
pub(super) fn make(
    installer: &Installer<'_>,
    version: &Version,
    build: &GoBuild,
    staging: &StagingFolder,
) -> Result<(), TofuError> {
    let needed = Needed { tofu: version.clone(), go: build.go };
    let Some(go) = installer.engines.program("go") else { return Err(TofuError::NoGo(needed)) };
    fetch_and_build(installer, &go, version, staging).map_err(|error| match go_version(&go) {
        Some(found) if found < build.go => TofuError::OldGo { needed, found: dotted(found) },
        _ => error,
    })
}

fn fetch_and_build(
    installer: &Installer<'_>,
    go: &Path,
    version: &Version,
    staging: &StagingFolder,
) -> Result<(), TofuError> {
    installer.progress.stage(Stage::Downloading);
    let source = fetch(go, version, &staging.scratch)?;

    installer.progress.stage(Stage::Building);
    let executable = cache::executable(&staging.engine, EngineName::Tofu);
    tool::run(&mut build_command(go, &source, &executable, &[]), installer.progress)?;

    installer.progress.stage(Stage::BuildingWorker);
    let copied = staging.scratch.join("source");
    copy(&source, &copied).and_then(|()| add_worker(&copied)).map_err(TofuError::Copy)?;
    Ok(tool::run(
        &mut build_command(go, &copied, &worker::place_beside(&executable), &[]),
        installer.progress,
    )?)
}

/// Adds what makes a worker of an OpenTofu to a copy of its source.
pub fn add_worker(source: &Path) -> io::Result<()> {
    fs::write(source.join("cmd/tofu").join(WORKER_FILE), worker::GO_MAIN)
}

/// Copies a source out of Go's module cache, in which folders are read-only and builds exchange no file.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    copy_folder(from, to, Copying::AsTheyAre, &[])
}

/// The command that builds the OpenTofu whose source is in `source`, with `flags` added to those of an installed one.
pub fn build_command(go: &Path, source: &Path, executable: &Path, flags: &[&OsStr]) -> Command {
    let mut build = go_command(go, source);
    build
        // As in the official builds: one static file. Whatever the user cross-compiles for, this must run here.
        .env("CGO_ENABLED", "0")
        .env_remove("GOOS")
        .env_remove("GOARCH")
        .args(["build", "-v", "-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", LINKER_FLAGS])
        .args(flags)
        .arg("-o")
        .arg(executable)
        .arg("./cmd/tofu");
    build
}

/// A Go command in `folder` that no workspace or old setting of the user's leads elsewhere.
fn go_command(go: &Path, folder: &Path) -> Command {
    let mut command = Command::new(go);
    command.current_dir(folder).env("GOWORK", "off").env("GO111MODULE", "on");
    command
}

/// What `go mod download -json` prints, as far as it matters here.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Fetched {
    dir: Option<PathBuf>,
    error: Option<String>,
}

/// Fetches an OpenTofu's source into Go's module cache and gives its folder there. `scratch` is any folder outside of a
/// Go module.
pub fn fetch(go: &Path, version: &Version, scratch: &Path) -> Result<PathBuf, TofuError> {
    let module = format!("{MODULE}@v{version}");
    let failed = |said: String| TofuError::Fetch { module: module.clone(), said };
    let output = go_command(go, scratch)
        .args(["mod", "download", "-json", &module])
        .output()
        .map_err(|error| failed(error.to_string()))?;
    match serde_json::from_slice(&output.stdout) {
        Ok(Fetched { dir: Some(folder), error: None }) => Ok(folder),
        Ok(Fetched { error: Some(said), .. }) => Err(failed(said)),
        _ => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
    }
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

/// Which Go an OpenTofu needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("OpenTofu {tofu} is built from source and needs Go {} or newer", dotted(*go))]
pub struct Needed {
    tofu: Version,
    go: Version3,
}

/// Why there is no OpenTofu.
#[derive(Debug, thiserror::Error)]
pub enum TofuError {
    /// There is no Go.
    #[error("{0}, and there is no go on the PATH; install Go, or put a tofu on the PATH")]
    NoGo(Needed),
    /// The Go there is cannot build it.
    #[error("{needed}, and the go on the PATH is {found}; install a newer Go, or put a tofu on the PATH")]
    OldGo {
        /// What it takes.
        needed: Needed,
        /// The version on the PATH.
        found: String,
    },
    /// The module cannot be fetched.
    #[error(
        "go cannot download {module}: {said}\ncheck that Go reaches its module registry (`go env GOPROXY`)"
    )]
    Fetch {
        /// The module and its version.
        module: String,
        /// What Go says.
        said: String,
    },
    /// Its source cannot be copied.
    #[error("the source of OpenTofu cannot be copied: {0}; the cache folder must have room")]
    Copy(io::Error),
    /// It does not build.
    #[error("OpenTofu does not build: {0}")]
    Build(#[from] ToolFailed),
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
}
