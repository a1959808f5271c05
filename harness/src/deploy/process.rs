//! One engine command: in a process group of its own, with an environment that holds no surprises, and an end.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, test_kill_process_group};

use super::limits::{INTERVAL, Limits};
use super::processes::{self, ProcessInfo};
use super::stop::{self, Running, Stop};
use super::usage;
use crate::evidence::{Excess, Limited};
use crate::private;

/// The variable by which a process is known that a command has started, whatever group it is in.
const MARK: &str = "EQUIFORM_COMMAND";

/// How long processes that a command has started may outlive it, before it counts as having left them behind. On a busy
/// machine, even one that was killed takes its time to end.
const OUTLIVE: Duration = Duration::from_secs(3);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// By us, after its time was up.
    TimedOut,
    /// By us or by the system, because it took more than it may.
    Exceeded(Excess),
}

/// What there is to say of a command that ended.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// How.
    pub end: Ended,
    /// After how long.
    pub took: Duration,
    /// What it took beside time, where that is known.
    pub usage: Option<Usage>,
}

/// What a command took beside time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// How long it computed, with all that it started and waited for.
    pub cpu: Duration,
    /// The most memory that one of its processes had, in bytes.
    pub peak_memory: u64,
}

/// A command to run.
pub struct Command {
    program: PathBuf,
    folder: PathBuf,
    /// Variables that are not passed on: a run must not depend on who starts it.
    pub removed: Vec<OsString>,
    /// Variables beyond those that are.
    pub environment: Vec<(OsString, OsString)>,
    /// Who may end it before its time.
    pub stop: Stop,
    /// What it may take.
    pub limits: Limits,
}

impl Command {
    /// A command of an engine, in a working directory.
    pub fn new(program: &Path, folder: &Path) -> Self {
        Self {
            program: program.to_owned(),
            folder: folder.to_owned(),
            removed: Vec::new(),
            environment: Vec::new(),
            stop: Stop::default(),
            limits: Limits::default(),
        }
    }

    /// Runs it to its end, or until its time is up, and ends what it leaves behind.
    pub fn run(
        &self,
        arguments: &[String],
        stdout: &Path,
        stderr: &Path,
        timeout: Duration,
    ) -> io::Result<Outcome> {
        // What is left behind is ended when it goes out of scope.
        self.run_with_rest(arguments, stdout, stderr, timeout).map(|(outcome, _rest)| outcome)
    }

    /// The same, and leaves it to the caller when what it leaves behind is ended.
    pub fn run_with_rest(
        &self,
        arguments: &[String],
        stdout: &Path,
        stderr: &Path,
        timeout: Duration,
    ) -> io::Result<(Outcome, Rest)> {
        static COMMANDS: AtomicU64 = AtomicU64::new(0);
        processes::adopt_orphans();
        let mark = format!("{}-{}", std::process::id(), COMMANDS.fetch_add(1, Ordering::Relaxed));
        let mut command = std::process::Command::new(&self.program);
        for name in &self.removed {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env(MARK, &mark)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(private::create(stdout)?)
            .stderr(private::create(stderr)?)
            .process_group(0);
        let begin = Instant::now();
        let child = command.spawn()?;
        let running = self.stop.running(&child);
        let mark = format!("{MARK}={mark}");
        // From here on it ends with this, whatever goes wrong.
        let mut group = Group { child, mark, ended: false, usage: None, cleared: false, _running: running };
        self.limits.enforce(group.leader());
        let folders = [&*self.folder, stdout.parent().unwrap_or(&self.folder)];
        let end = self.wait(&mut group, &folders, timeout)?;
        Ok((Outcome { end, took: begin.elapsed(), usage: group.usage }, Rest(group)))
    }

    fn wait(&self, group: &mut Group, folders: &[&Path], timeout: Duration) -> io::Result<Ended> {
        let leader = group.leader();
        match group.wait(timeout, || self.limits.exceeded(leader, folders))? {
            Waited::Ended(status) => Ok(match (self.excess_of(status, folders), status.code()) {
                (Some(excess), _) => Ended::Exceeded(excess),
                (None, Some(code)) => Ended::Exit(code),
                (None, None) => Ended::Signal(status.signal().unwrap_or(0)),
            }),
            Waited::Exceeded(excess) => {
                // At once: it may be starting processes.
                group.kill()?;
                Ok(Ended::Exceeded(excess))
            }
            Waited::TimedOut => {
                stop::signal(leader, Signal::TERM);
                if let Waited::TimedOut = group.wait(stop::GRACE, || None)? {
                    group.kill()?;
                }
                stop::end_rest(leader);
                Ok(Ended::TimedOut)
            }
        }
    }

    /// The limit that a command had exceeded when it ended by itself.
    fn excess_of(&self, status: ExitStatus, folders: &[&Path]) -> Option<Excess> {
        let by_files = self.limits.exceeded_by_files(folders);
        let by_signal = || {
            let limit = self.limits.file_size.filter(|_| self.limits.file_size_enforced)?;
            // A lower limit on the size of files is not ours.
            let own = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
            let is_ours = own.is_none_or(|own| own > limit);
            (is_ours && status.signal() == Some(Signal::XFSZ.as_raw())).then_some(Excess {
                of: Limited::FileSize,
                limit,
                reached: limit,
            })
        };
        by_files.or_else(by_signal)
    }
}

/// What came of waiting for a child.
enum Waited {
    Ended(ExitStatus),
    Exceeded(Excess),
    TimedOut,
}

/// A child that leads a process group. When this is gone, so are the child and all that it started.
#[derive(Debug)]
struct Group {
    child: Child,
    /// What stands in the environment of all that it started.
    mark: String,
    /// Whether the child has been waited for.
    ended: bool,
    /// What it took; known once it has ended by itself.
    usage: Option<Usage>,
    /// Whether nothing is left of what it started.
    cleared: bool,
    _running: Running,
}

impl Group {
    fn leader(&self) -> Pid {
        stop::pid_of(&self.child)
    }

    /// Waits for the child to end, for as long as it exceeds nothing.
    fn wait(&mut self, timeout: Duration, exceeded: impl Fn() -> Option<Excess>) -> io::Result<Waited> {
        let process = pidfd_open(self.leader(), PidfdFlags::empty())?;
        let begin = Instant::now();
        loop {
            let left = timeout.saturating_sub(begin.elapsed());
            let slice = Timespec::try_from(left.min(INTERVAL)).expect("an interval is short");
            match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&slice)) {
                Ok(0) if left <= INTERVAL => return Ok(Waited::TimedOut),
                Ok(0) => {
                    if let Some(excess) = exceeded() {
                        return Ok(Waited::Exceeded(excess));
                    }
                }
                Ok(_) => {
                    let (status, usage) = usage::wait(self.leader())?;
                    (self.ended, self.usage) = (true, Some(usage));
                    return Ok(Waited::Ended(status));
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Kills the whole group.
    fn kill(&mut self) -> io::Result<()> {
        stop::signal(self.leader(), Signal::KILL);
        self.child.wait()?;
        self.ended = true;
        Ok(())
    }

    /// What is left of the processes that the child, which has ended, had started.
    fn left(&self) -> Vec<ProcessInfo> {
        let left = self.found();
        // A process may have slipped past a single look: between two lists, or from one parent to the next.
        if left.is_empty() { self.found() } else { left }
    }

    fn found(&self) -> Vec<ProcessInfo> {
        let leader = self.leader();
        processes::reap_group(leader);
        let mut found = Vec::new();
        if test_kill_process_group(leader).is_ok() {
            let all = processes::all();
            let running = processes::of_group(leader, &all).into_iter();
            found.extend(running.filter(|process| !process.is_zombie).cloned());
        }
        // After the group, because a process may just be leaving it.
        for child in processes::own_children_with(self.mark.as_bytes()) {
            if found.iter().all(|process| process.id != child.id) {
                found.push(child);
            }
        }
        found
    }

    /// Ends what is left; a process that is asked to end may start others.
    fn clear(&mut self) {
        if std::mem::replace(&mut self.cleared, true) {
            return;
        }
        let begin = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            let is_late = begin.elapsed() > stop::GRACE;
            for process in left.iter().filter_map(|process| Pid::from_raw(process.id)) {
                let _ = kill_process(process, if is_late { Signal::KILL } else { Signal::TERM });
                processes::reap(process);
            }
            if begin.elapsed() > 2 * stop::GRACE {
                // What cannot be killed now waits for the system, and ends after that.
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.ended {
            let _ = self.kill();
        }
        self.clear();
    }
}

/// What a command that has ended may have left behind. It is ended when this is gone.
#[derive(Debug)]
pub struct Rest(Group);

impl Rest {
    /// Gives what is left some time to end by itself, then ends it. The names of the programs that had to be ended.
    pub fn end(mut self) -> Vec<String> {
        let begin = Instant::now();
        let mut left = self.0.left();
        while !left.is_empty() && begin.elapsed() < OUTLIVE {
            std::thread::sleep(Duration::from_millis(10));
            left = self.0.left();
        }
        if left.is_empty() {
            self.0.cleared = true;
        }
        let mut names: Vec<String> = left.into_iter().map(|process| process.name).collect();
        names.sort();
        names
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn arguments(script: &str) -> [String; 2] {
        ["-c", script].map(str::to_owned)
    }

    fn run(script: &str, timeout: Duration) -> (Outcome, String) {
        let folder = tempfile::tempdir().unwrap();
        let stdout = folder.path().join("stdout");
        let command = Command::new(Path::new("/bin/sh"), folder.path());
        let outcome =
            command.run(&arguments(script), &stdout, &folder.path().join("stderr"), timeout).unwrap();
        (outcome, fs::read_to_string(stdout).unwrap())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_time_out_kills_the_whole_process_group() {
        // The grandchild holds the pipe open: its end is seen when the pipe closes, without asking about a process id
        // that may be somebody else's by then.
        let (mut alive, held) = io::pipe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
        rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).unwrap();
        let command = Command::new(Path::new("/bin/sh"), folder.path());
        let outcome = command
            .run(&arguments("sleep 1000 & sleep 1000"), &stdout, &stderr, Duration::from_millis(200))
            .unwrap();
        assert_eq!(outcome.end, Ended::TimedOut);
        drop(held);
        let read = io::Read::read(&mut alive, &mut [0]).unwrap();
        assert_eq!(read, 0, "nobody writes, so the only end is that all holders are gone");
    }

    #[test]
    fn exit_codes_and_signals_are_told_apart() {
        assert_eq!(run("exit 3", LONG).0.end, Ended::Exit(3));
        assert_eq!(run("kill -9 $$", LONG).0.end, Ended::Signal(9));
    }

    /// What a script comes to that runs for a minute unless it is ended.
    fn exceeding(script: &str, limits: Limits) -> Ended {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(Path::new("/bin/sh"), folder.path());
        command.limits = limits;
        let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
        let outcome = command.run(&arguments(script), &stdout, &stderr, LONG).unwrap();
        assert!(fs::metadata(stdout).unwrap().len() < 1 << 30);
        outcome.end
    }

    #[test]
    fn a_command_that_prints_without_end_is_ended() {
        let size = Some(1 << 20);
        for file_size_enforced in [true, false] {
            let limits = Limits { file_size: size, file_size_enforced, ..Limits::default() };
            // The second goes on when it cannot write.
            for script in ["yes", "trap '' XFSZ; while :; do yes; done 2>/dev/null"] {
                let end = exceeding(script, limits);
                let Ended::Exceeded(Excess { of: Limited::FileSize, limit, reached }) = end else {
                    panic!("{script}: {end:?}")
                };
                assert!(limit == 1 << 20 && reached >= limit, "{script}: {end:?}");
            }
        }
    }

    #[test]
    fn a_command_that_takes_all_memory_is_ended() {
        let limits = Limits { memory: Some(64 << 20), ..Limits::default() };
        let end = exceeding("(head -c 200m /dev/zero; sleep 60) | tail", limits);
        assert!(matches!(end, Ended::Exceeded(Excess { of: Limited::Memory, .. })), "{end:?}");
    }

    #[test]
    fn a_command_that_starts_process_after_process_is_ended() {
        let limits = Limits { tasks: Some(10), ..Limits::default() };
        let end = exceeding("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & done; wait", limits);
        assert!(matches!(end, Ended::Exceeded(Excess { of: Limited::Tasks, .. })), "{end:?}");
    }

    #[test]
    fn what_a_command_leaves_behind_is_ended_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
        let command = Command::new(Path::new("/bin/sh"), folder.path());
        for (script, named) in [
            ("true", &[][..]),
            ("sleep 0.5 &", &[]),
            ("sleep 1000 & sleep 1000 &", &["sleep", "sleep"]),
            ("setsid sleep 1000 & sleep 0.3", &["sleep"]),
        ] {
            let (mut alive, held) = io::pipe().unwrap();
            rustix::io::fcntl_setfd(&held, rustix::io::FdFlags::empty()).unwrap();
            let (outcome, rest) = command.run_with_rest(&arguments(script), &stdout, &stderr, LONG).unwrap();
            drop(held);
            assert_eq!(outcome.end, Ended::Exit(0), "{script}");
            assert_eq!(rest.end(), named, "{script}");
            assert_eq!(io::Read::read(&mut alive, &mut [0]).unwrap(), 0, "{script}: nobody is left");
        }
    }

    #[test]
    fn a_child_that_cannot_be_waited_for_is_ended_with_all_that_it_started() {
        let (mut alive, held) = io::pipe().unwrap();
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "sleep 1000 & echo; wait"]).stdout(held).process_group(0);
        let child = command.spawn().unwrap();
        drop(command);
        io::Read::read_exact(&mut alive, &mut [0]).unwrap();
        let _running = Stop::default().running(&child);
        drop(Group { child, mark: "none".to_owned(), ended: false, usage: None, cleared: false, _running });
        assert_eq!(io::Read::read(&mut alive, &mut [0]).unwrap(), 0, "nobody holds the pipe any more");
    }

    #[test]
    fn variables_are_passed_on_but_those_that_are_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let stdout = folder.path().join("stdout");
        let mut command = Command::new(Path::new("/bin/sh"), folder.path());
        command.removed.push("HOME".into());
        command.environment.push(("GIVEN".into(), "1".into()));
        let stderr = folder.path().join("stderr");
        command.run(&arguments("echo ${HOME-none} $GIVEN ${PATH:+path}"), &stdout, &stderr, LONG).unwrap();
        assert_eq!(fs::read_to_string(stdout).unwrap(), "none 1 path\n");
    }
}
