//! One connection from a host, and who is at its other end.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_util::sync::CancellationToken;

use super::configuration::Configuration;

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
    pub fn env(self, name: &str) -> Option<OsString> {
        match self {
            Self::Attached { pid: Some(pid) } => {
                let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
                environment.split(|&byte| byte == 0).find_map(|pair| {
                    let value = pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
                    Some(OsString::from_vec(value.to_vec()))
                })
            }
            _ => std::env::var_os(name),
        }
        .filter(|value| !value.is_empty())
    }

    /// The host's working directory, against which relative paths are meant.
    pub fn working_directory(self) -> PathBuf {
        let theirs = match self {
            Self::Attached { pid: Some(pid) } => std::fs::read_link(format!("/proc/{pid}/cwd")).ok(),
            _ => None,
        };
        theirs.or_else(|| std::env::current_dir().ok()).unwrap_or_default()
    }
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
