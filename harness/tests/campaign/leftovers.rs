//! What a campaign leaves behind: no process, no temporary folder, however it ends. Signals are in `interrupt`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use equiform::engines::driver::{Access, ProviderMode};

use super::interrupt::Waiting;
use super::support::{engine, processes_of, provider};

const MODES: [ProviderMode; 2] = [ProviderMode::Reattach, ProviderMode::Init];

/// Runs a small campaign with a temporary folder of its own, and looks at that folder and its processes afterwards.
fn leaves_nothing(mode: ProviderMode, engine: &Path, code: i32) {
    let root = tempfile::tempdir().unwrap();
    let temporary = root.path().join("tmp");
    fs::create_dir(&temporary).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(["run", "--sources=1", "--variants=2", "--batches=2", "--resources=3", "--edges=1"])
        .arg(format!("--provider-mode={mode}"))
        .arg(format!("--engine={}", engine.display()))
        .arg("--out")
        .arg(root.path().join("out"))
        .env("TMPDIR", &temporary)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{mode}: {said}");
    assert_eq!(processes_of(&temporary), [0; 0], "{mode}");
    let names: Vec<_> = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.is_empty(), "{mode}: {names:?}");
}

#[test]
fn a_campaign_that_passes_leaves_nothing_behind() {
    MODES.into_iter().for_each(|mode| leaves_nothing(mode, &engine("terraform@1.15.5"), 0));
}

#[test]
fn an_engine_that_fails_half_way_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let failing = folder.path().join("terraform");
    let real = engine("terraform@1.15.5");
    let script = format!(
        "#!/bin/sh\n'{real}' \"$@\" || exit\nif [ \"$EQUIFORM_RUN\" = batch-2 ]; then exit 1; fi\n",
        real = real.display()
    );
    fs::write(&failing, script).unwrap();
    fs::set_permissions(&failing, fs::Permissions::from_mode(0o755)).unwrap();
    MODES.into_iter().for_each(|mode| leaves_nothing(mode, &failing, 1));
}

/// Waits until something holds, for at most half a minute.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_campaign_takes_its_provider_with_it_and_its_engine_ends_by_itself() {
    for mode in MODES {
        let mut waiting = Waiting::start(mode);
        let temporary = waiting.temporary();
        waiting.signal(libc::SIGKILL);
        waiting.run.wait().unwrap();
        // The provider that is up for all removes its socket. The folder to install one from outlives whoever
        // is killed.
        if mode == ProviderMode::Reattach {
            until("the provider ends", || fs::read_dir(&temporary).unwrap().next().is_none());
        }
        waiting.go();
        until("no process is left", || processes_of(&temporary).is_empty());
    }
}

#[test]
fn a_panic_ends_the_provider_and_removes_its_folder() {
    for mode in MODES {
        let mut place = PathBuf::new();
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let provider = provider(mode);
            place = match provider.access() {
                Access::Mirror { config, .. } => config,
                Access::Served { control } => control,
            };
            assert!(place.exists());
            panic!("as any other");
        }));
        assert!(unwound.is_err());
        assert!(!place.parent().unwrap().exists(), "{}", place.display());
    }
}
