//! One connection from a host, and who is at its other end.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tokio_util::sync::CancellationToken;

use super::configuration::{Configuration, FAILURES_VARIABLE};
use super::registry::Seen;
use crate::diagnostic::Problem;
use crate::failure::Failures;
use crate::store::Store;

/// Names a file with variables, `NAME=VALUE` in each line, that go before those in the environment. A process that runs
/// one engine command after another has one environment for all of them; the file is each command's own. A relative
/// name is meant against the working directory.
pub const VARIABLES_FILE: &str = "EQUIFORM_VARIABLES";

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
                find(&environment, 0, name)
            }
        };
        Ok(value.filter(|value| !value.is_empty()))
    }

    /// The variables of the command that the host is running, if it has them in a file.
    fn command(self) -> Result<Option<Vec<u8>>, Problem> {
        let Some(name) = self.env(VARIABLES_FILE)? else { return Ok(None) };
        let path = Path::new(&name);
        let path = if path.is_absolute() { path.to_owned() } else { self.working_directory()?.join(path) };
        std::fs::read(&path).map(Some).map_err(|error| {
            Problem::new(
                "The variables of this command cannot be read",
                format!(
                    "{VARIABLES_FILE} names the file {}, and the system says: {error}. Write it before the engine is \
                     run, or unset {VARIABLES_FILE}.",
                    path.display()
                ),
            )
        })
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

/// The value of a variable among those that are written one after the other.
fn find(variables: &[u8], separator: u8, name: &str) -> Option<OsString> {
    variables.split(|&byte| byte == separator).find_map(|pair| {
        let value = pair.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(OsString::from_vec(value.to_vec()))
    })
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

/// What tells one command of an engine from another: its process and, where that runs several, their variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EngineCommand {
    pub(super) host: Host,
    variables: Result<Option<Vec<u8>>, Problem>,
}

/// A connection's state. Several hosts may be connected at once; none sees another's.
#[derive(Debug)]
pub struct Session {
    /// Who is at the other end.
    pub host: Host,
    /// Which connection to this process it is, counted from 1.
    pub number: u64,
    requests: AtomicU64,
    /// The variables of the command that the host was running when it connected.
    command: Result<Option<Vec<u8>>, Problem>,
    closed: CancellationToken,
    /// How it configured the provider.
    pub(super) configuration: Mutex<Option<Configuration>>,
    /// What is to fail, as soon as it is known.
    failures: Mutex<Option<Arc<Failures>>>,
    /// The types that it has seen, as soon as it has asked for one.
    pub(super) types: Mutex<Option<Seen>>,
    stop: Mutex<CancellationToken>,
    /// The state store, once it is configured.
    store: Mutex<Option<Store>>,
}

impl Session {
    /// A new connection.
    pub fn new(host: Host) -> Self {
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        Self {
            host,
            number: SESSIONS.fetch_add(1, Ordering::Relaxed) + 1,
            requests: AtomicU64::new(0),
            command: host.command(),
            closed: CancellationToken::new(),
            configuration: Mutex::new(None),
            failures: Mutex::new(None),
            types: Mutex::new(None),
            stop: Mutex::new(CancellationToken::new()),
            store: Mutex::new(None),
        }
    }

    /// A variable that the host's user has set, for this command or in the environment.
    pub(super) fn variable(&self, name: &str) -> Result<Option<OsString>, Problem> {
        if let Some(command) = self.command.as_ref().map_err(Problem::clone)?
            && let Some(value) = find(command, b'\n', name)
        {
            return Ok(Some(value).filter(|value| !value.is_empty()));
        }
        self.host.env(name)
    }

    /// Whether both were opened by the same command of the same host.
    pub(super) fn is_of_same_command(&self, other: &Self) -> bool {
        self.host == other.host && self.command == other.command
    }

    /// The command that opened it.
    pub(super) fn engine_command(&self) -> EngineCommand {
        EngineCommand { host: self.host, variables: self.command.clone() }
    }

    /// What is to fail from now on.
    pub(super) fn set_failures(&self, failures: Arc<Failures>) {
        *self.failures.lock().expect("no holder panics") = Some(failures);
    }

    /// What is to fail. An engine shows its provider block first; without one it is what the variable says. A list that
    /// cannot be read is told where the provider is configured.
    pub(super) fn failures(&self) -> Arc<Failures> {
        let mut failures = self.failures.lock().expect("no holder panics");
        let from_variable = || {
            let list = self.variable(FAILURES_VARIABLE).ok().flatten();
            let list = list.and_then(|list| list.to_string_lossy().parse().ok());
            Arc::new(list.unwrap_or_default())
        };
        failures.get_or_insert_with(from_variable).clone()
    }

    /// Where states are kept from now on.
    pub(super) fn set_store(&self, store: Store) {
        *self.store.lock().expect("no holder panics") = Some(store);
    }

    /// Where states are kept, if that has been said.
    pub(super) fn store(&self) -> Option<Store> {
        self.store.lock().expect("no holder panics").clone()
    }

    /// Cancelled when the connection is to end.
    pub fn closed(&self) -> CancellationToken {
        self.closed.clone()
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

/// The open connections of hosts that run one command after another.
///
/// An engine that attaches leaves its connections open to the end of its process. One that is kept warm would gather
/// them, so those of a command are closed as soon as the next one connects.
#[derive(Debug, Default)]
pub struct Sessions(Mutex<HashMap<u32, Vec<Weak<Session>>>>);

impl Sessions {
    /// A new connection of a host.
    pub fn open(&self, host: Host) -> Arc<Session> {
        let session = Arc::new(Session::new(host));
        let (Some(pid), Ok(Some(_))) = (host.pid(), &session.command) else { return session };
        let mut hosts = self.0.lock().expect("no holder panics");
        hosts.retain(|_, sessions| sessions.iter().any(|session| session.strong_count() > 0));
        let sessions = hosts.entry(pid).or_default();
        sessions.retain(|earlier| {
            earlier.upgrade().is_some_and(|earlier| {
                let stays = earlier.is_of_same_command(&session);
                if !stays {
                    earlier.closed.cancel();
                }
                stays
            })
        });
        sessions.push(Arc::downgrade(&session));
        session
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_a_command_go_before_those_of_the_environment() {
        let command = |text: &str| Session {
            command: Ok(Some(text.as_bytes().to_vec())),
            ..Session::new(Host::Parent { pid: None })
        };
        let session = command("EQUIFORM_RUN=batch-1\nPATH=\nEQUIFORM_HOLD=quiet:1=2\n");
        let variable = |name| session.variable(name).unwrap().map(|value| value.into_string().unwrap());
        assert_eq!(variable("EQUIFORM_RUN").as_deref(), Some("batch-1"));
        assert_eq!(variable("EQUIFORM_HOLD").as_deref(), Some("quiet:1=2"));
        assert_eq!(variable("PATH"), None, "an empty one counts as not set");
        assert!(variable("CARGO_MANIFEST_DIR").is_some(), "what is not in the file is in the environment");
    }

    #[test]
    fn connections_of_one_command_stay_open_until_the_next_one_connects() {
        let sessions = Sessions::default();
        let folder = tempfile::tempdir().unwrap();
        let mut host = std::process::Command::new("sleep")
            .arg("1000")
            .current_dir(folder.path())
            .env(VARIABLES_FILE, "variables")
            .spawn()
            .unwrap();
        // The system starts a process before it shows the environment; engines have it long before they connect.
        let attached = Host::Attached { pid: Some(host.id()) };
        while attached.env(VARIABLES_FILE).unwrap().is_none() {
            std::thread::yield_now();
        }
        let open = || sessions.open(attached);
        let write = |text: &str| std::fs::write(folder.path().join("variables"), text).unwrap();
        write("EQUIFORM_RUN=1");
        let (first, second) = (open(), open());
        assert!(!first.closed().is_cancelled() && first.is_of_same_command(&second));
        write("EQUIFORM_RUN=2");
        let next = open();
        assert!(first.closed().is_cancelled() && second.closed().is_cancelled());
        assert!(!next.closed().is_cancelled() && !next.is_of_same_command(&first));
        host.kill().unwrap();
        host.wait().unwrap();
    }

    #[test]
    fn a_file_of_variables_that_is_not_there_is_told() {
        let session =
            Session { command: Err(Problem::new("gone", "")), ..Session::new(Host::Parent { pid: None }) };
        assert_eq!(session.variable("EQUIFORM_RUN").unwrap_err().summary, "gone");
    }
}
