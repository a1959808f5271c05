//! One engine command: in a process group of its own, with an environment that holds no surprises, and an end.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

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
    /// Variables beyond those that are passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Who may end it before its time.
    pub stop: Stop,
}

impl Command {
    /// A command of an engine, in a folder.
    pub fn new(program: &Path, folder: &Path) -> Self {
        let settings =
            [("TF_CLI_CONFIG_FILE", "/dev/null"), ("CHECKPOINT_DISABLE", "1"), ("TF_IN_AUTOMATION", "1")];
        let environment = settings.map(|(name, value)| (name.into(), value.into())).to_vec();
        Self { program: program.to_owned(), folder: folder.to_owned(), environment, stop: Stop::default() }
    }

    /// Runs it to its end. Variables that steer engines or the provider are not inherited: a run must not depend on
    /// who starts it.
    pub fn run(
        &self,
        arguments: &[&str],
        stdout: &Path,
        stderr: &Path,
        patience: Duration,
    ) -> io::Result<Outcome> {
        let mut command = std::process::Command::new(&self.program);
        let steering = |name: &OsString| {
            let name = name.to_string_lossy();
            ["TF_", "TOFU_", "EQUIFORM_", "CHECKPOINT_"].iter().any(|prefix| name.starts_with(prefix))
        };
        for (name, _) in std::env::vars_os().filter(|(name, _)| steering(name)) {
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
        let _running = self.stop.running(child.id());
        let end = match child.wait_timeout(patience)? {
            Some(status) => match status.code() {
                Some(code) => Ended::Exit(code),
                None => Ended::Signal(status.signal().unwrap_or(0)),
            },
            None => {
                let leader = i32::try_from(child.id()).expect("process ids are small");
                stop::signal(leader, libc::SIGTERM);
                if child.wait_timeout(stop::GRACE)?.is_none() {
                    stop::signal(leader, libc::SIGKILL);
                    child.wait()?;
                }
                stop::end_rest(leader);
                Ended::TimedOut
            }
        };
        Ok(Outcome { end, took: begin.elapsed() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn run(script: &str, patience: Duration) -> (Outcome, String) {
        let folder = tempfile::tempdir().unwrap();
        let stdout = folder.path().join("stdout");
        let command = Command::new(Path::new("/bin/sh"), folder.path());
        let outcome = command.run(&["-c", script], &stdout, &folder.path().join("stderr"), patience).unwrap();
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
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&held);
        // SAFETY: a plain system call on a descriptor that is open.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) };
        let command = Command::new(Path::new("/bin/sh"), folder.path());
        let outcome = command
            .run(&["-c", "sleep 1000 & sleep 1000"], &stdout, &stderr, Duration::from_millis(200))
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
    fn a_command_has_the_settings_that_keep_engines_apart_from_the_user() {
        let (_, printed) = run("echo $TF_CLI_CONFIG_FILE $CHECKPOINT_DISABLE $TF_IN_AUTOMATION", LONG);
        assert_eq!(printed, "/dev/null 1 1\n");
    }
}
