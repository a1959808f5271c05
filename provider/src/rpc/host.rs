//! Who is at the other end of a connection, and where that one's settings come from.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::served::ServedRun;
use crate::diagnostic::Problem;

/// Where a host's settings come from. Two hosts are equal if they are the same command of the same engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// It started this process, so its working directory and environment are ours.
    Parent {
        /// Its process.
        pid: Option<u32>,
    },
    /// It found us running and attached; its working directory and environment are its own.
    Attached {
        /// Its process.
        pid: Option<u32>,
    },
    /// It connected to an endpoint, and the control channel said which run that serves.
    Served {
        /// The process that connected, where the system names it.
        peer: Option<u32>,
        /// The run.
        run: Arc<ServedRun>,
    },
}

impl Host {
    /// The host's process. The one that holds the connection is the one that sends requests; the control channel knows
    /// the process that was started, which may be a script around the engine.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::Parent { pid } | Self::Attached { pid } => *pid,
            Self::Served { peer, run } => peer.or(run.settings.engine),
        }
    }

    /// The run that the control channel has begun for it.
    pub fn run(&self) -> Option<&Arc<ServedRun>> {
        match self {
            Self::Parent { .. } | Self::Attached { .. } => None,
            Self::Served { run, .. } => Some(run),
        }
    }

    /// Whether the command may still be running.
    pub fn is_alive(&self) -> bool {
        match self {
            Self::Parent { pid } | Self::Attached { pid } => pid.is_none_or(is_running),
            Self::Served { run, .. } => !run.is_over(),
        }
    }

    /// A variable of the host's environment. A run that the control channel has begun has none.
    pub fn env(&self, name: &str) -> Result<Option<OsString>, Problem> {
        let value = match self {
            Self::Parent { .. } => std::env::var_os(name),
            Self::Attached { pid } => {
                let path = process_file(*pid, "environ")?;
                let environment = std::fs::read(&path).map_err(|error| hidden(&path, &error))?;
                find(&environment, name)
            }
            Self::Served { .. } => None,
        };
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// The host's working directory, against which relative paths are meant.
    pub fn working_directory(&self) -> Result<PathBuf, Problem> {
        match self {
            Self::Parent { .. } => std::env::current_dir().map_err(|error| {
                Problem::new(
                    "The working directory cannot be found",
                    format!(
                        "The system says: {error}. Run the engine in a folder that is there, or give `ledger` in \
                         the provider block as an absolute path."
                    ),
                )
            }),
            Self::Attached { pid } => {
                let path = process_file(*pid, "cwd")?;
                std::fs::read_link(&path).map_err(|error| hidden(&path, &error))
            }
            Self::Served { run, .. } => Ok(run.settings.working_directory.clone()),
        }
    }
}

/// Whether there is such a process.
pub fn is_running(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// The value of a variable in an environment as the system shows it.
fn find(environment: &[u8], name: &str) -> Option<OsString> {
    environment.split(|&byte| byte == 0).find_map(|pair| {
        let value = pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(OsString::from_vec(value.to_vec()))
    })
}

/// A file in which the system describes an engine that has attached.
fn process_file(pid: Option<u32>, name: &str) -> Result<PathBuf, Problem> {
    let unnamed = || hidden_because("the system does not say which process it is");
    Ok(format!("/proc/{}/{name}", pid.ok_or_else(unnamed)?).into())
}

fn hidden(path: &Path, error: &io::Error) -> Problem {
    hidden_because(&format!("{} cannot be read: {error}", path.display()))
}

/// Our own environment and directory would not do: the engine's ledger would be written somewhere else,
/// unnoticed.
fn hidden_because(reason: &str) -> Problem {
    Problem::new(
        "The engine's environment and working directory cannot be read",
        format!(
            "This provider was running already when the engine attached to it, and it takes the ledger's name, the \
             run's label, the hold and the faults from the engine's process: {reason}.\n\nRun the engine as the user \
             who started the provider, and in the same container. Or give all of `ledger` (an absolute path), `run`, \
             `hold` and `faults` in the provider block. Or unset TF_REATTACH_PROVIDERS, so that the engine starts a \
             provider of its own."
        ),
    )
}
