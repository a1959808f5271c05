//! Signals to an `equiform run` that waits for no engine: they end it all the same.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use equiform::engines::driver::ProviderMode;
use tempfile::TempDir;

use super::support::{engine, processes_of};

/// Nothing here takes so long; what does hangs.
const LONG: Duration = Duration::from_secs(60);

/// A campaign that runs.
struct Campaign {
    root: TempDir,
    run: Child,
    stderr: BufReader<ChildStderr>,
}

/// Waits until something is so, and fails if it does not become so.
#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < LONG, "{what}: not in a long time");
        sleep(Duration::from_millis(5));
    }
}

impl Campaign {
    fn start(root: TempDir, engine: &Path, options: &[&str]) -> Self {
        fs::create_dir(root.path().join("tmp")).unwrap();
        let mut run = Command::new(env!("CARGO_BIN_EXE_equiform"))
            .arg("run")
            .arg(format!("--engine={}", engine.display()))
            .args(["--sources=2", "--batches=1", "--resources=3", "--edges=1", "--jobs=1", "--out"])
            .arg(root.path().join("out"))
            .args(options)
            .env("TMPDIR", root.path().join("tmp"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(run.stderr.take().unwrap());
        Self { root, run, stderr }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn signal(&self, signal: i32) {
        // SAFETY: a plain system call on a child that has not been waited for.
        assert_eq!(unsafe { libc::kill(self.run.id().cast_signed(), signal) }, 0);
    }

    /// Sends the first signal, and waits until it is taken.
    fn first_signal(&mut self) {
        self.signal(libc::SIGTERM);
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with("stopping after the running commands"), "{line}");
    }

    fn end(&mut self) -> ExitStatus {
        let mut end = None;
        wait_until("the end of the campaign", || {
            end = self.run.try_wait().unwrap();
            end.is_some()
        });
        end.unwrap()
    }

    fn nothing_is_left_behind(&self) {
        let temporary = self.path("tmp");
        wait_until("the end of all processes", || processes_of(&temporary).is_empty());
        assert_eq!(fs::read_dir(temporary).unwrap().count(), 0, "no temporary file is left");
    }
}

impl Drop for Campaign {
    fn drop(&mut self) {
        // A campaign that did not end must not go on after its test.
        let _ = self.run.kill();
        let _ = self.run.wait();
    }
}

#[test]
fn a_campaign_that_generates_a_huge_case_ends_at_the_first_signal() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine("terraform@1.15.5");
    let mut campaign = Campaign::start(root, &engine, &["--variants=1000000000000", "--allow-large"]);
    // Generating begins right after that.
    let begun = campaign.path("out/campaign.json");
    wait_until("the beginning of the campaign", || begun.exists());
    campaign.first_signal();
    assert_eq!(campaign.end().code(), Some(2));
    campaign.nothing_is_left_behind();
    assert_eq!(fs::read_dir(campaign.path("out")).unwrap().count(), 1, "only campaign.json is there");
}

/// A campaign whose engine leaves a pipe in the place of its state, which nobody ever writes to: whoever
/// reads it hangs.
fn a_second_signal_ends_what_hangs(mode: ProviderMode) {
    let root = tempfile::tempdir().unwrap();
    let (script, begun) = (root.path().join("terraform"), root.path().join("begun"));
    let real = engine("terraform@1.15.5");
    let text = format!(
        "#!/bin/sh\nif [ \"$EQUIFORM_RUN\" = batch-1 ]; then\nmkfifo terraform.tfstate\ntouch '{}'\nexit 0\nfi\n\
         exec '{}' \"$@\"\n",
        begun.display(),
        real.display()
    );
    fs::write(root.path().join("draft"), text).unwrap();
    fs::set_permissions(root.path().join("draft"), fs::Permissions::from_mode(0o755)).unwrap();
    // Copied by another process: a file that this one has open for writing cannot be run as long.
    assert!(Command::new("cp").arg(root.path().join("draft")).arg(&script).status().unwrap().success());
    let mut campaign = Campaign::start(root, &script, &["--variants=1", &format!("--provider-mode={mode}")]);
    wait_until("the first apply", || begun.exists());
    campaign.first_signal();
    campaign.signal(libc::SIGTERM);
    assert_eq!(campaign.end().code(), Some(130));
    campaign.nothing_is_left_behind();
}

#[test]
fn a_second_signal_ends_a_campaign_that_hangs_with_its_provider() {
    a_second_signal_ends_what_hangs(ProviderMode::Reattach);
}

#[test]
fn a_second_signal_ends_a_campaign_that_hangs_and_removes_the_installed_provider() {
    a_second_signal_ends_what_hangs(ProviderMode::Init);
}
