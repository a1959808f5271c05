//! One engine command: in a process group of its own, with an environment that holds no surprises, and an end.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use wait_timeout::ChildExt;

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
}

impl Command {
    /// A command of an engine, in a folder.
    pub fn new(program: &Path, folder: &Path) -> Self {
        let settings =
            [("TF_CLI_CONFIG_FILE", "/dev/null"), ("CHECKPOINT_DISABLE", "1"), ("TF_IN_AUTOMATION", "1")];
        let environment = settings.map(|(name, value)| (name.into(), value.into())).to_vec();
        Self { program: program.to_owned(), folder: folder.to_owned(), environment }
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
            .stdout(File::create(stdout)?)
            .stderr(File::create(stderr)?)
            .process_group(0);
        let begin = Instant::now();
        let mut child = command.spawn()?;
        let end = match child.wait_timeout(patience)? {
            Some(status) => match status.code() {
                Some(code) => Ended::Exit(code),
                None => Ended::Signal(status.signal().unwrap_or(0)),
            },
            None => {
                kill_group(child.id());
                child.wait()?;
                Ended::TimedOut
            }
        };
        Ok(Outcome { end, took: begin.elapsed() })
    }
}

fn kill_group(leader: u32) {
    if let Ok(group) = i32::try_from(leader) {
        // SAFETY: a plain system call; the group is the one that was made for the child, which has not been waited for.
        unsafe { libc::killpg(group, libc::SIGKILL) };
    }
}
