//! Signals to a real `equiform run` while an engine command is in flight.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use equiform::engines::driver::ProviderMode;
use tempfile::TempDir;

use super::support::{engine, processes_of};

/// A campaign whose engine waits in its first apply. The engine and all that it starts hold `alive` open for writing.
pub struct Waiting {
    root: TempDir,
    pub run: Child,
    stderr: BufReader<ChildStderr>,
    alive: File,
}

fn fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a plain system call with a string that lives.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}

impl Waiting {
    pub fn start(mode: ProviderMode) -> Self {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fifo(&path("alive"));
        fifo(&path("go"));
        fs::create_dir_all(path("bin")).unwrap();
        fs::create_dir_all(path("tmp")).unwrap();
        let script = format!(
            "#!/bin/sh\nif [ \"$EQUIFORM_RUN\" = batch-1 ] && [ ! -e '{once}' ]; then\ntouch '{once}'\n\
             exec 9>'{alive}'\necho started >&9\n( read line < '{go}' )\nfi\nexec '{real}' \"$@\"\n",
            once = path("once").display(),
            alive = path("alive").display(),
            go = path("go").display(),
            real = engine("terraform@1.15.5").display(),
        );
        fs::write(path("bin/terraform"), script).unwrap();
        fs::set_permissions(path("bin/terraform"), fs::Permissions::from_mode(0o755)).unwrap();
        let search = format!("{}:{}", path("bin").display(), std::env::var("PATH").unwrap());
        let mut run = Command::new(env!("CARGO_BIN_EXE_equiform"))
            .args([
                "run",
                "--sources=2",
                "--variants=2",
                "--batches=1",
                "--resources=3",
                "--edges=1",
                "--jobs=1",
            ])
            .arg(format!("--provider-mode={mode}"))
            .args(["--format=json", "--out"])
            .arg(path("out"))
            .env("PATH", search)
            .env("TMPDIR", path("tmp"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(run.stderr.take().unwrap());
        let mut alive = File::open(path("alive")).unwrap();
        alive.read_exact(&mut [0; 8]).unwrap();
        Self { root, run, stderr, alive }
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: a plain system call on a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(self.run.id().cast_signed(), signal) }, 0);
    }

    pub fn says(&mut self, begin: &str) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with(begin), "{line}");
        line
    }

    fn out(&self) -> PathBuf {
        self.root.path().join("out")
    }

    /// `equiform run --resume` on the engine that the campaign was begun with.
    fn resume(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
        let bin = self.root.path().join("bin");
        command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
        command.args(["run", "--format=json", "--resume"]).arg(self.out());
        command
    }

    /// The temporary folder of all that runs in the campaign.
    pub fn temporary(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// Lets the engine go on.
    pub fn go(&self) {
        let mut go = File::options().write(true).open(self.root.path().join("go")).unwrap();
        go.write_all(b"go\n").unwrap();
    }

    fn nothing_is_left_behind(&mut self) {
        assert_eq!(self.alive.read(&mut [0]).unwrap(), 0, "no process of the engine is left");
        assert_eq!(processes_of(&self.temporary()), [0; 0], "no process is left");
        assert_eq!(fs::read_dir(self.temporary()).unwrap().count(), 0, "no temporary file is left");
        let names: Vec<_> =
            fs::read_dir(self.out()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["campaign.json"], "nothing is left of what was not judged");
        File::open(self.out().join("campaign.json")).unwrap().try_lock().expect("the folder is free");
    }
}

fn once_is_a_clean_stop(mode: ProviderMode, signal: i32) {
    let mut waiting = Waiting::start(mode);
    waiting.signal(signal);
    waiting.says("stopping after the running commands; press again to stop now");
    assert!(waiting.run.try_wait().unwrap().is_none(), "the command in flight is waited for");
    let busy = String::from_utf8(waiting.resume().output().unwrap().stderr).unwrap();
    assert!(busy.contains("another process is running the campaign"), "{busy}");
    waiting.go();
    assert_eq!(waiting.run.wait().unwrap().code(), Some(2));
    waiting.says("error: stopped after 0 of 4 variants; `equiform run --resume ");
    waiting.nothing_is_left_behind();
}

#[test]
fn one_signal_waits_for_the_command_in_flight_and_leaves_no_half_of_a_variant() {
    once_is_a_clean_stop(ProviderMode::Reattach, libc::SIGINT);
    once_is_a_clean_stop(ProviderMode::Init, libc::SIGINT);
}

#[test]
fn a_terminal_that_goes_away_is_a_clean_stop_too() {
    once_is_a_clean_stop(ProviderMode::Reattach, libc::SIGHUP);
}

#[test]
fn a_second_signal_ends_the_command_in_flight_and_leaves_nothing_behind() {
    for mode in [ProviderMode::Reattach, ProviderMode::Init] {
        let mut waiting = Waiting::start(mode);
        waiting.signal(libc::SIGINT);
        waiting.says("stopping after");
        waiting.signal(libc::SIGTERM);
        assert_eq!(waiting.run.wait().unwrap().code(), Some(130));
        waiting.says("stopped after 0 of 4 variants");
        waiting.nothing_is_left_behind();
    }
}

#[test]
fn a_stopped_campaign_is_resumed_with_what_is_stored_and_nothing_else() {
    let mut waiting = Waiting::start(ProviderMode::Reattach);
    waiting.signal(libc::SIGINT);
    waiting.says("stopping after");
    waiting.signal(libc::SIGINT);
    waiting.run.wait().unwrap();
    let resume = |options: &[&str]| waiting.resume().args(options).output().unwrap();
    let refused = resume(&["--seed=0"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().ends_with("leave out --seed\n"));
    let resumed = resume(&[]);
    let stderr = String::from_utf8(resumed.stderr).unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{stderr}");
    assert!(stderr.starts_with("0 of 4 variants are from an earlier run, 4 are left\n"), "{stderr}");
    let report: serde_json::Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!((&report["counts"]["passed"], &report["complete"]), (&4.into(), &true.into()));
    assert_eq!(report["engine"]["version"], "1.15.5");
}
