//! One engine command: in a process group of its own, with an environment that holds no surprises, and an end.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use super::stop::{self, Stop};
use crate::private;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this exit code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// By us, after its time was up.
    TimedOut,
}

/// What there is to say of a command that ended.
#[derive(Debug, Clone, Copy)]
pub struct Outcome {
    /// How.
    pub end: Ended,
    /// After how long.
    pub took: Duration,
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
}

impl Command {
    /// A command of an engine, in a working directory.
    pub fn new(program: &Path, folder: &Path) -> Self {
        let (program, folder) = (program.to_owned(), folder.to_owned());
        Self { program, folder, removed: Vec::new(), environment: Vec::new(), stop: Stop::default() }
    }

    /// Runs it to its end, or until its time is up.
    pub fn run(
        &self,
        arguments: &[String],
        stdout: &Path,
        stderr: &Path,
        timeout: Duration,
    ) -> io::Result<Outcome> {
        let mut command = std::process::Command::new(&self.program);
        for name in &self.removed {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(&self.folder)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(private::create(stdout)?)
            .stderr(private::create(stderr)?)
            .process_group(0);
        let begin = Instant::now();
        let mut child = command.spawn()?;
        let _running = self.stop.running(&child);
        let end = match wait(&mut child, timeout)? {
            Some(status) => match status.code() {
                Some(code) => Ended::Exit(code),
                None => Ended::Signal(status.signal().unwrap_or(0)),
            },
            None => {
                let leader = stop::pid_of(&child);
                stop::signal(leader, Signal::TERM);
                if wait(&mut child, stop::GRACE)?.is_none() {
                    stop::signal(leader, Signal::KILL);
                    child.wait()?;
                }
                stop::end_rest(leader);
                Ended::TimedOut
            }
        };
        Ok(Outcome { end, took: begin.elapsed() })
    }
}

/// Waits for a child to end; none if it does not within this time.
fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let begin = Instant::now();
    loop {
        let left = timeout.saturating_sub(begin.elapsed());
        let timeout = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Ok(None),
            Ok(_) => return child.wait().map(Some),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
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
