//! Engines that are kept warm: processes that run one command after another. A worker belongs to one job at a time.
//! It is replaced after many commands, when its memory has grown, and after whatever went wrong in it.

use std::ffi::OsString;
use std::fmt::{self, Display};
use std::fs;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use equiform_proto::control::{Calls, ControlError, Run};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::control::ServedEndpoint;
use super::limits::{INTERVAL, Limits};
use super::process::{Ended, Outcome};
use super::processes;
use super::stop::{self, Running, Stop};
use super::usage::SoFar;
use crate::engines::driver::{Access, Driver, WorkerProgram};
use crate::engines::worker::{Answer, GREETING, Request};
use crate::evidence::{Excess, Limited};

/// The number of commands after which a worker is replaced. Each of them leaves goroutines behind that ask once a
/// second whether the provider is still alive, for as long as it is.
const COMMANDS: usize = 200;

/// The number of open files at which a worker is replaced: what those goroutines ask with stays open until it is
/// collected as garbage.
const FILES: u64 = 2000;

/// The bytes of memory at which a worker is replaced.
const MEMORY: u64 = 768 << 20;

/// How long a worker has to greet. It takes a tenth of a second; a machine may be very busy.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// The number of workers in a row that may fail to start before no other is tried.
const GIVEN_UP: usize = 3;

/// Exit codes that engines give in the ordinary course of things. After any other, nobody knows what state the process
/// is in.
const ORDINARY_EXITS: std::ops::RangeInclusive<i32> = 0..=2;

/// How little the engine collects its garbage: it has some megabytes of it after a command, and memory to spare up to
/// the second figure, from which on it collects more.
const GARBAGE_COLLECTION: [(&str, &str); 2] = [("GOGC", "800"), ("GOMEMLIMIT", "512MiB")];

/// A worker that is of no use any more.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The provider gives no endpoint for it to connect to.
    #[error(transparent)]
    Provider(ControlError),
    /// It could not be started, or not as far as to greet.
    #[error("it does not start: {0}")]
    Start(io::Error),
    /// It is another program, or of another version.
    #[error("it does not greet as a worker of this version does; it said {0:?}")]
    Foreign(String),
    /// Its process has ended amid a command.
    #[error("it ended amid a command ({0})")]
    Ended(ExitStatus),
    /// A command took more than it may, and the process was ended.
    #[error("a command exceeded a limit: {0}")]
    Exceeded(Excess),
    /// Its commands left processes behind.
    #[error("its commands left {} running", .0.join(", "))]
    LeftRunning(Vec<String>),
    /// A command took too long.
    #[error("a command took longer than {} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// It could not run a command, and said why.
    #[error("it could not run a command: {0}")]
    Refused(String),
    /// It cannot be spoken with.
    #[error("it does not answer: {0}")]
    Silent(io::Error),
}

/// What an engine in a worker may have done wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerSymptom {
    /// It crashed.
    Crash,
    /// It did not come to an end.
    Hang,
    /// It exceeded a limit.
    Excess(Limited),
    /// It left processes running.
    ProcessesLeft,
}

impl WorkerError {
    /// What the engine may have done wrong; none if it is not the engine's doing.
    pub fn symptom(&self) -> Option<WorkerSymptom> {
        match self {
            Self::Ended(_) => Some(WorkerSymptom::Crash),
            Self::TimedOut(_) => Some(WorkerSymptom::Hang),
            Self::Exceeded(excess) => Some(WorkerSymptom::Excess(excess.of)),
            Self::LeftRunning(_) => Some(WorkerSymptom::ProcessesLeft),
            Self::Provider(_) | Self::Start(_) | Self::Foreign(_) | Self::Refused(_) | Self::Silent(_) => {
                None
            }
        }
    }
}

/// The workers of an engine, as many as there are jobs.
#[derive(Debug)]
pub struct Workers {
    program: WorkerProgram,
    removed: Vec<OsString>,
    engine: Arc<dyn Driver>,
    control: PathBuf,
    stop: Stop,
    limits: Limits,
    idle: Mutex<Vec<Worker>>,
    started: AtomicUsize,
    /// How many did not start, one after the other.
    not_started: AtomicUsize,
    broken: AtomicUsize,
    first_error: OnceLock<String>,
}

/// What became of workers.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct WorkerCounts {
    /// How many were started.
    pub started: usize,
    /// How many crashed, hung, were killed or did not start; each of them cost a variant a cold run.
    pub broken: usize,
    /// What the first of those had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<String>,
}

impl Display for WorkerCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { started, broken, first_error } = self;
        write!(f, "by {started} processes")?;
        match first_error {
            None => Ok(()),
            Some(error) => {
                write!(f, ", of which {broken} broke and cost a variant a cold run; the first: {error}")
            }
        }
    }
}

impl Workers {
    /// None are up yet. They get the environment of this process without these variables and with those of the engine,
    /// and each gets an endpoint of its own from the provider with this control socket.
    pub fn new(
        program: WorkerProgram,
        removed: Vec<OsString>,
        (engine, control): (Arc<dyn Driver>, PathBuf),
        stop: Stop,
        limits: Limits,
    ) -> Self {
        Self {
            program,
            removed,
            engine,
            control,
            stop,
            limits,
            idle: Mutex::default(),
            started: AtomicUsize::new(0),
            not_started: AtomicUsize::new(0),
            broken: AtomicUsize::new(0),
            first_error: OnceLock::new(),
        }
    }

    /// One that is idle, or a new one.
    pub fn take(&self) -> Result<Worker, WorkerError> {
        let idle = || self.idle.lock().expect("no holder panics").pop();
        // One that was idle for long may have gathered open files.
        while let Some(worker) = idle() {
            if worker.is_fit() {
                return Ok(worker);
            }
        }
        self.started.fetch_add(1, Ordering::Relaxed);
        let worker = Worker::start(self);
        match &worker {
            Ok(_) => self.not_started.store(0, Ordering::Relaxed),
            Err(_) => drop(self.not_started.fetch_add(1, Ordering::Relaxed)),
        }
        worker
    }

    /// Whether too many in a row did not start.
    pub fn fail_to_start(&self) -> bool {
        self.not_started.load(Ordering::Relaxed) >= GIVEN_UP
    }

    /// Takes a worker back, unless it is time for a new one. It must not have left processes behind, which end with it.
    pub fn give_back(&self, worker: Worker) -> Result<(), WorkerError> {
        let left = worker.left_running();
        if !left.is_empty() {
            return Err(WorkerError::LeftRunning(left));
        }
        if worker.is_fit() {
            self.idle.lock().expect("no holder panics").push(worker);
        }
        Ok(())
    }

    /// A worker was of no use any more.
    pub fn count_broken(&self, error: &WorkerError) {
        let _ = self.first_error.set(error.to_string());
        self.broken.fetch_add(1, Ordering::Relaxed);
    }

    /// What became of them so far.
    pub fn counts(&self) -> WorkerCounts {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        let (started, broken) = (count(&self.started), count(&self.broken));
        WorkerCounts { started, broken, first_error: self.first_error.get().cloned() }
    }
}

/// A process that runs one command after another, for as long as this lives.
#[derive(Debug)]
pub struct Worker {
    child: Child,
    /// Where it reaches the provider: its environment is the same for all commands, so the endpoint is, too.
    endpoint: ServedEndpoint,
    requests: ChildStdin,
    answers: Lines,
    commands: usize,
    odd_exit: bool,
    limits: Limits,
    _running: Running,
}

impl Worker {
    fn start(workers: &Workers) -> Result<Self, WorkerError> {
        let endpoint = ServedEndpoint::open(&workers.control).map_err(WorkerError::Provider)?;
        let access = Access::Served { control: workers.control.clone() };
        let environment = workers.engine.environment(&access, Some(endpoint.address()));
        let mut command = Command::new(&workers.program.path);
        for name in &workers.removed {
            command.env_remove(name);
        }
        let mut child = command
            .args(&workers.program.arguments)
            .envs(GARBAGE_COLLECTION)
            .envs(environment)
            .envs(workers.program.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(WorkerError::Start)?;
        let running = workers.stop.running(&child);
        let requests = child.stdin.take().expect("its input is piped");
        let answers = Lines::of(child.stdout.take().expect("its output is piped"));
        let limits = workers.limits;
        let mut worker = Self {
            child,
            endpoint,
            requests,
            answers,
            commands: 0,
            odd_exit: false,
            limits,
            _running: running,
        };
        limits.enforce(stop::pid_of(&worker.child));
        let greeting = worker
            .answer(START_TIMEOUT, || None)
            .map_err(|error| WorkerError::Start(io::Error::other(error)))?;
        if greeting == GREETING { Ok(worker) } else { Err(WorkerError::Foreign(greeting)) }
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Runs a command to its end, as this run of the provider. After an error it is of no use any more.
    pub fn serve(
        &mut self,
        run: Run,
        request: &Request,
        timeout: Duration,
    ) -> Result<(Outcome, Option<Calls>), WorkerError> {
        let run = Run { engine: Some(self.pid()), ..run };
        self.endpoint.begin(run).map_err(WorkerError::Provider)?;
        let outcome = self.run(request, timeout);
        let calls = self.endpoint.end();
        Ok((outcome?, calls))
    }

    /// Runs a command to its end. After an error it is of no use any more.
    pub fn run(&mut self, request: &Request, timeout: Duration) -> Result<Outcome, WorkerError> {
        let (begin, begun) = (Instant::now(), SoFar::begin(self.pid()));
        // A path that is no text cannot be asked for.
        let line =
            serde_json::to_string(request).map_err(|error| WorkerError::Refused(error.to_string()))? + "\n";
        // If it has ended, its end tells more than the broken pipe.
        let _ = self.requests.write_all(line.as_bytes());
        self.commands += 1;
        let (leader, limits) = (stop::pid_of(&self.child), self.limits);
        let folders = [&*request.folder, request.stdout.parent().unwrap_or(&request.folder)];
        let answer = self.answer(timeout, || limits.exceeded(leader, &folders))?;
        let usage = begun.and_then(SoFar::end);
        if let Some(excess) = limits.exceeded_by_files(&folders) {
            return Err(WorkerError::Exceeded(excess));
        }
        let odd = |error: serde_json::Error| WorkerError::Silent(error.into());
        match serde_json::from_str(&answer).map_err(odd)? {
            Answer { exit: Some(code), .. } => {
                self.odd_exit |= !ORDINARY_EXITS.contains(&code);
                Ok(Outcome { end: Ended::Exit(code), took: begin.elapsed(), usage })
            }
            Answer { error, .. } => Err(WorkerError::Refused(error.unwrap_or_default())),
        }
    }

    /// The next line that it says, for as long as it exceeds no limit.
    fn answer(
        &mut self,
        timeout: Duration,
        exceeded: impl Fn() -> Option<Excess>,
    ) -> Result<String, WorkerError> {
        match self.answers.next(timeout, &exceeded).map_err(WorkerError::Silent)? {
            Next::Line(line) => Ok(line),
            Next::Exceeded(excess) => {
                stop::signal(stop::pid_of(&self.child), Signal::KILL);
                self.child.wait().map_err(WorkerError::Silent)?;
                Err(WorkerError::Exceeded(excess))
            }
            Next::Nothing => {
                // It must not go on while what it works in is removed.
                stop::signal(stop::pid_of(&self.child), Signal::KILL);
                self.child.wait().map_err(WorkerError::Silent)?;
                Err(WorkerError::TimedOut(timeout))
            }
            Next::End => {
                stop::signal(stop::pid_of(&self.child), Signal::KILL);
                // The system may have ended it for the size of a file.
                let excess = exceeded();
                let ended = |status| excess.map_or(WorkerError::Ended(status), WorkerError::Exceeded);
                Err(self.child.wait().map_or_else(WorkerError::Silent, ended))
            }
        }
    }

    fn is_fit(&self) -> bool {
        let fits = |taken: Option<u64>, bound: u64| taken.is_some_and(|taken| taken < bound);
        !self.odd_exit && self.commands < COMMANDS && fits(self.memory(), MEMORY) && fits(self.files(), FILES)
    }

    /// The programs that run because of it, beside its own.
    fn left_running(&self) -> Vec<String> {
        let all = processes::all();
        let running = processes::of_group(stop::pid_of(&self.child), &all).into_iter();
        let others = running.filter(|process| process.id.unsigned_abs() != self.pid() && !process.is_zombie);
        others.map(|process| process.name.clone()).collect()
    }

    /// How many files it has open, where the system tells.
    pub fn files(&self) -> Option<u64> {
        Some(fs::read_dir(format!("/proc/{}/fd", self.pid())).ok()?.count() as u64)
    }

    /// How many bytes of memory it takes, where the system tells.
    pub fn memory(&self) -> Option<u64> {
        let pages = fs::read_to_string(format!("/proc/{}/statm", self.pid())).ok()?;
        let pages: u64 = pages.split(' ').nth(1)?.parse().ok()?;
        Some(pages * rustix::param::page_size() as u64)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It is between two commands, or of no use any more.
        stop::signal(stop::pid_of(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

/// The lines that a process prints, each waited for so long and no longer.
#[derive(Debug)]
struct Lines {
    from: ChildStdout,
    read: Vec<u8>,
}

enum Next {
    Line(String),
    Exceeded(Excess),
    Nothing,
    End,
}

impl Lines {
    fn of(from: ChildStdout) -> Self {
        Self { from, read: Vec::new() }
    }

    fn next(&mut self, timeout: Duration, exceeded: impl Fn() -> Option<Excess>) -> io::Result<Next> {
        let begin = Instant::now();
        loop {
            if let Some(end) = self.read.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Ok(Next::Line(String::from_utf8_lossy(&line[..end]).into_owned()));
            }
            let left = timeout.saturating_sub(begin.elapsed());
            let slice = Timespec::try_from(left.min(INTERVAL)).expect("an interval is short");
            match poll(&mut [PollFd::new(&self.from, PollFlags::IN)], Some(&slice)) {
                Ok(0) if left <= INTERVAL => return Ok(Next::Nothing),
                Ok(0) => match exceeded() {
                    Some(excess) => return Ok(Next::Exceeded(excess)),
                    None => continue,
                },
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let mut some = [0; 4096];
            match io::Read::read(&mut self.from, &mut some) {
                Ok(0) => return Ok(Next::End),
                Ok(count) => self.read.extend_from_slice(&some[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A command in a working directory, with files for its output that are there and empty.
pub fn request(arguments: &[String], folder: &Path, stdout: &Path, stderr: &Path) -> io::Result<Request> {
    for file in [stdout, stderr] {
        crate::private::create(file)?;
    }
    let [folder, stdout, stderr] = [folder, stdout, stderr].map(Path::to_owned);
    Ok(Request { arguments: arguments.to_vec(), folder, stdout, stderr })
}
