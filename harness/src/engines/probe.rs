//! Asking an executable which version it is.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use semver::Version;
use serde::Deserialize;

/// What `version -json` prints, as far as it matters here; OpenTofu says it under the same name.
#[derive(Deserialize)]
struct Answer {
    terraform_version: Version,
}

/// The version that the engine at `path` gives as its own.
pub fn version(path: &Path) -> Result<Version, ProbeError> {
    let error = |kind| ProbeError { path: path.to_owned(), kind };
    let output = start(path, &["version", "-json"]).map_err(|source| error(ProbeErrorKind::Start(source)))?;
    match serde_json::from_slice::<Answer>(&output.stdout) {
        Ok(answer) if output.status.success() => Ok(answer.terraform_version),
        _ => Err(error(ProbeErrorKind::Answer(String::from_utf8_lossy(&output.stderr).trim().to_owned()))),
    }
}

/// The first line that the executable prints of itself. OpenTofu answers `version -json` under Terraform's name; only
/// this line, which is for people, tells them apart.
pub fn introduction(path: &Path) -> Result<String, ProbeError> {
    let error = |source| ProbeError { path: path.to_owned(), kind: ProbeErrorKind::Start(source) };
    let output = start(path, &["version"]).map_err(error)?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}

/// Runs an engine that is to speak of itself.
fn start(path: &Path, arguments: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(path);
    command
        .args(arguments)
        // Settings of the user's that would change what is printed (OpenTofu tells of a missing configuration file
        // on its standard output), and the look-up of newer versions.
        .env("TF_CLI_CONFIG_FILE", "/dev/null")
        .env("CHECKPOINT_DISABLE", "1")
        .env_remove("TF_CLI_ARGS")
        .env_remove("TF_CLI_ARGS_version")
        .env_remove("TF_LOG")
        .stdin(Stdio::null());
    // A file that was written a moment ago is busy as long as a child that another thread is just starting still
    // holds this process's open files.
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        match command.output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            answer => return answer,
        }
    }
}

/// An executable that does not say its version.
#[derive(Debug, thiserror::Error)]
#[error("{} {kind}", path.display())]
pub struct ProbeError {
    path: PathBuf,
    kind: ProbeErrorKind,
}

#[derive(Debug, thiserror::Error)]
enum ProbeErrorKind {
    #[error("cannot be started: {0}")]
    Start(io::Error),
    #[error(
        "does not answer `version -json` as an engine does; it said: {}",
        if .0.is_empty() { "nothing" } else { .0 }
    )]
    Answer(String),
}
