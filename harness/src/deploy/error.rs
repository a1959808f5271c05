//! Why a variant could not be deployed.

use std::io;
use std::path::Path;

use super::EnvironmentError;
use super::provider::ProviderError;
use super::worker::WorkerError;
use crate::case::CaseError;

/// Why a variant could not be deployed: not the engine's doing.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// It was asked to stop.
    #[error("stopped early")]
    Stopped,
    /// The case is unusable.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The engine could not make its folder ready.
    #[error("the engine could not prepare its folder with `{command}`: {said}")]
    Preparation {
        /// The command.
        command: String,
        /// What it printed.
        said: String,
    },
    /// The command that changes an object behind the engine's back did not come to its end.
    #[error("the command that changes the world in stage {stage} did not come to its end: {end}")]
    Drift {
        /// The stage.
        stage: String,
        /// How it ended.
        end: String,
    },
    /// The engine that was kept warm is of no use any more. What it did says nothing; it is run cold then.
    #[error("the engine cannot be kept warm: {error}")]
    Worker {
        /// The stage; empty if there was none.
        stage: String,
        /// What happened.
        error: WorkerError,
    },
    /// Somebody killed the provider while commands of several jobs may have been under way, or between two commands.
    #[error("the provider that engines attach to was killed, by signal {signal}")]
    ProviderKilled {
        /// The signal.
        signal: i32,
    },
    /// The provider was killed, and no other one starts.
    #[error(transparent)]
    ProviderNotStarted(ProviderError),
    /// The environment is no place to judge an engine in.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A file could not be written or read.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
}

impl DeployError {
    /// A file or folder that could not be written.
    pub fn writing(path: &Path, source: io::Error) -> Self {
        io_error("cannot write", path)(source)
    }
}

/// What turns the system's error about a path into ours.
pub fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DeployError {
    let path = path.display().to_string();
    move |source| DeployError::Io { doing, path, source }
}
