//! One connection from a host, and who is at its other end.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_util::sync::CancellationToken;

use super::configuration::Configuration;
use crate::diagnostic::Problem;

/// Where a host's settings come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl Host {
    /// The host's process.
    pub fn pid(self) -> Option<u32> {
        match self {
            Self::Parent { pid } | Self::Attached { pid } => pid,
        }
    }

    /// A variable of the host's environment.
    pub fn env(self, name: &str) -> Result<Option<OsString>, Problem> {
        let value = match self {
            Self::Parent { .. } => std::env::var_os(name),
            Self::Attached { pid } => {
                let path = process_file(pid, "environ")?;
                let environment = std::fs::read(&path).map_err(|error| hidden(&path, &error))?;
                environment.split(|&byte| byte == 0).find_map(|pair| {
                    let value = pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
                    Some(OsString::from_vec(value.to_vec()))
                })
            }
        };
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// The host's working directory, against which relative paths are meant.
    pub fn working_directory(self) -> Result<PathBuf, Problem> {
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
                let path = process_file(pid, "cwd")?;
                std::fs::read_link(&path).map_err(|error| hidden(&path, &error))
            }
        }
    }
}

/// A file in which the system tells of an engine that has attached.
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
            "This provider was running already when the engine attached to it, and it takes the ledger's name and \
             the run's label from the engine's process: {reason}.\n\nRun the engine as the user who started the \
             provider, and in the same container. Or give `ledger` (an absolute path) and `run` in the provider \
             block. Or unset TF_REATTACH_PROVIDERS, so that the engine starts a provider of its own."
        ),
    )
}

/// A connection's state. Several hosts may be connected at once; none sees another's.
#[derive(Debug)]
pub struct Session {
    /// Who is at the other end.
    pub host: Host,
    /// Which connection to this process it is, counted from 1.
    pub number: u64,
    requests: AtomicU64,
    /// How it configured the provider.
    pub(super) configuration: Mutex<Option<Configuration>>,
    stop: Mutex<CancellationToken>,
}

impl Session {
    /// A new connection.
    pub fn new(host: Host) -> Self {
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        Self {
            host,
            number: SESSIONS.fetch_add(1, Ordering::Relaxed) + 1,
            requests: AtomicU64::new(0),
            configuration: Mutex::new(None),
            stop: Mutex::new(CancellationToken::new()),
        }
    }

    /// One more request has come in.
    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of the request that came in last, counted from 1.
    pub(super) fn request(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Cancelled when the host wants what is in flight now to stop.
    pub(super) fn stopped(&self) -> CancellationToken {
        self.stop.lock().expect("no holder panics").clone()
    }

    /// Cancels what is in flight. What comes later is not affected.
    pub(super) fn stop(&self) {
        let mut stop = self.stop.lock().expect("no holder panics");
        std::mem::take(&mut *stop).cancel();
    }
}
