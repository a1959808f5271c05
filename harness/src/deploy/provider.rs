//! The mock provider: its binary, and one that is up for engines to attach to.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::time::{Duration, Instant};

use equiform_proto::control::{Announcement, CONTROL_VERSION, Client};
use rustix::process::{Signal, kill_process};

use super::provider_log::ProviderLog;
use super::{stop, usage};
use crate::engines::locate::beside_this_program;

/// How long a provider has to start. It takes milliseconds; a machine may be very busy.
pub const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A provider that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The binary is missing.
    #[error("the provider is not at {}: build it with `make build`, or name it in EQUIFORM_PROVIDER", .0.display())]
    Missing(PathBuf),
    /// It did not start.
    #[error("the provider {} does not start: {source}", path.display())]
    Start {
        /// The binary.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// It could not be put where engines install it from.
    #[error("the provider {} cannot be put into a folder for engines to install it from: {source}", path.display())]
    Mirror {
        /// The binary.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// It started, and said nothing.
    #[error(
        "the provider {} started and printed nothing in {} s: it is another program, or hangs; \
         build it with `make build`, or name it in EQUIFORM_PROVIDER",
        path.display(), waited.as_secs_f64()
    )]
    Silent {
        /// The binary.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It printed something else than where its control socket is.
    #[error("the provider {} is another program, or of another version: it printed {line:?}", path.display())]
    Foreign {
        /// The binary.
        path: PathBuf,
        /// What it printed.
        line: String,
    },
}

/// The provider's binary: named in `EQUIFORM_PROVIDER`, or beside this one.
pub fn locate() -> Result<PathBuf, ProviderError> {
    let path = match std::env::var_os("EQUIFORM_PROVIDER").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => beside_this_program("terraform-provider-mock"),
    };
    if path.is_file() { Ok(path) } else { Err(ProviderError::Missing(path)) }
}

/// A provider that is up for engines to attach to, for as long as this lives. If somebody kills it, another one can
/// take its place.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    timeout: Duration,
    /// The control socket of the first one, or what leads to that of the one that is up.
    control: PathBuf,
    log: Arc<ProviderLog>,
    process: Mutex<Process>,
}

/// The process that is up, and those before it.
#[derive(Debug)]
struct Process {
    child: Child,
    /// Its control socket.
    control: PathBuf,
    /// How many have been up before it.
    number: u64,
    /// The signal that the one before it was killed by.
    killed_before: Option<i32>,
    /// How often the system had killed processes for want of memory when it started.
    killed_by_system: Option<u64>,
}

/// Which of the processes of a [`Server`] was up at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incarnation(u64);

impl Server {
    /// Starts one, which has [`START_TIMEOUT`] to say where it is.
    pub fn start(path: &Path) -> Result<Self, ProviderError> {
        Self::start_within(path, START_TIMEOUT)
    }

    /// Starts one, which has so long to say where it is.
    pub fn start_within(path: &Path, timeout: Duration) -> Result<Self, ProviderError> {
        let start = |source| ProviderError::Start { path: path.to_owned(), source };
        let log = Arc::new(ProviderLog::unnamed().map_err(start)?);
        let process = Process::start(path, timeout, &log)?;
        let (path, control) = (path.to_owned(), process.control.clone());
        Ok(Self { path, timeout, control, log, process: Mutex::new(process) })
    }

    /// Its control socket.
    pub fn control(&self) -> &Path {
        &self.control
    }

    /// What it says on standard error.
    pub fn log(&self) -> &Arc<ProviderLog> {
        &self.log
    }

    /// How much time the provider that is up has computed so far, where the system tells.
    pub fn computed(&self) -> Option<Duration> {
        usage::cpu(self.process().child.id())
    }

    /// The process that is up. If it was killed, another one takes its place.
    pub fn alive(&self) -> Result<Incarnation, ProviderError> {
        let mut process = self.process();
        if let Some(signal) = process.killed() {
            let mut next = Process::start(&self.path, self.timeout, &self.log)?;
            (next.number, next.killed_before) = (process.number + 1, Some(signal));
            let lead = |to: &Path| fs::remove_file(&self.control).and_then(|()| symlink(to, &self.control));
            lead(&next.control).map_err(|source| ProviderError::Start { path: self.path.clone(), source })?;
            if process.number > 0 {
                process.remove_sockets();
            }
            *process = next;
        }
        Ok(Incarnation(process.number))
    }

    /// The signal by which somebody has killed the process that was up at some time; none if it is up, or ended
    /// otherwise.
    pub fn killed_since(&self, since: Incarnation) -> Option<i32> {
        let mut process = self.process();
        if process.number != since.0 {
            return process.killed_before;
        }
        // One that was killed takes its leave a little later than its sockets, and closes one after the other: that it
        // can still be connected to says nothing, that it answers does.
        let begin = Instant::now();
        let answers = || Client::connect(&self.control, stop::GRACE).is_ok();
        while process.is_up() && !answers() && begin.elapsed() < stop::GRACE {
            std::thread::sleep(Duration::from_millis(1));
        }
        process.killed()
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().expect("no holder panics")
    }
}

impl Process {
    fn start(path: &Path, timeout: Duration, log: &ProviderLog) -> Result<Self, ProviderError> {
        let start = |source| ProviderError::Start { path: path.to_owned(), source };
        let mut child = Command::new(path)
            .arg("serve")
            // Nothing is written to it. It ends when we do, even if we are killed.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.stderr().map_err(start)?)
            // Ctrl-C goes to our own group: the provider has to outlive it until the commands in flight have ended.
            .process_group(0)
            .spawn()
            .map_err(start)?;
        let line = first_line(&mut child, timeout);
        let announced = |line: &String| serde_json::from_str::<Announcement>(line).ok();
        if let Some(Announcement { version: CONTROL_VERSION, socket: control }) =
            line.as_ref().ok().and_then(announced)
        {
            let killed_by_system = killed_by_system();
            return Ok(Self { child, control, number: 0, killed_before: None, killed_by_system });
        }
        // With all that it started: another program may be a script.
        stop::signal(stop::pid_of(&child), Signal::KILL);
        let _ = child.wait();
        let path = path.to_owned();
        Err(match line {
            Ok(line) => ProviderError::Foreign { path, line },
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                ProviderError::Silent { path, waited: timeout }
            }
            Err(error) => start(error),
        })
    }

    /// Removes the folder of its sockets, which one that is killed leaves behind.
    fn remove_sockets(&self) {
        let folder = self.control.parent().filter(|folder| folder.starts_with(std::env::temp_dir()));
        // Best effort: it is empty but for sockets that nobody listens to.
        let _ = folder.map(fs::remove_dir_all);
    }

    fn is_up(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The signal by which somebody killed it. Crashes end by other signals, and the system kills for want of memory.
    fn killed(&mut self) -> Option<i32> {
        const BY_SOMEBODY: [Signal; 5] = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT];
        let signal = self.child.try_wait().ok()??.signal()?;
        let is_theirs = BY_SOMEBODY.iter().any(|it| it.as_raw() == signal);
        (is_theirs && killed_by_system() == self.killed_by_system).then_some(signal)
    }
}

/// How often the system has killed processes for want of memory, where it counts that.
fn killed_by_system() -> Option<u64> {
    let counts = fs::read_to_string("/proc/vmstat").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok())
}

/// The first line that a child prints, if it does within this time.
fn first_line(child: &mut Child, timeout: Duration) -> io::Result<String> {
    let stdout = child.stdout.take().expect("its output is piped");
    let (sender, receiver) = mpsc::channel();
    // The thread ends with the child, which holds the other end of the pipe.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(stdout).read_line(&mut line);
        // Nobody listens any more if the time is up.
        let _ = sender.send(read.map(|_| line));
    });
    receiver.recv_timeout(timeout).map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
}

impl Drop for Server {
    fn drop(&mut self) {
        let process = self.process.get_mut().expect("no holder panics");
        if process.number > 0 {
            // What the first one left is needed as long as its control socket leads to another one.
            let _ = self.control.parent().map(fs::remove_dir_all);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It removes its socket when asked to end. One that hangs does not listen, and the number of one that is gone
        // may be another's.
        if self.is_up() {
            let _ = kill_process(stop::pid_of(&self.child), Signal::TERM);
        }
        let begin = Instant::now();
        while self.is_up() {
            if begin.elapsed() > stop::GRACE {
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn script(folder: &Path, lines: &str) -> PathBuf {
        let path = folder.join("provider");
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn a_provider_that_says_nothing_is_given_up_and_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let alive = folder.path().join("alive");
        // The pipe has a name, so that the test opens its end only once the script has opened its own.
        let made = Command::new("mkfifo").arg(&alive).status().unwrap();
        assert!(made.success());
        let path = script(folder.path(), &format!("exec 9>'{}'\nsleep 1000 &\nwait", alive.display()));
        let reader = std::thread::spawn(move || fs::File::open(alive).unwrap().read(&mut [0]).unwrap());
        let started = Server::start_within(&path, Duration::from_millis(500));
        let error = started.expect_err("it does not start").to_string();
        assert!(error.ends_with("build it with `make build`, or name it in EQUIFORM_PROVIDER"), "{error}");
        assert!(error.contains("printed nothing in 0.5 s"), "{error}");
        assert_eq!(reader.join().unwrap(), 0, "nobody holds the pipe any more");
    }

    #[test]
    fn another_program_is_told_by_what_it_prints() {
        let folder = tempfile::tempdir().unwrap();
        let started = Server::start(&script(folder.path(), "echo hello; sleep 1000"));
        assert!(matches!(started, Err(ProviderError::Foreign { line, .. }) if line == "hello\n"));
    }
}
