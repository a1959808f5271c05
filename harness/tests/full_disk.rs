//! A campaign on a disk that is full. Where nothing may be mounted, the test is shown as ignored.

#[path = "engine_behaviour/support/disk.rs"]
mod disk;

use std::path::Path;
use std::process::{Command, ExitCode, Output};

use disk::Disk;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let name = "a_full_disk_ends_a_campaign_and_with_more_room_the_campaign_resumes";
    let trial = Trial::test(name, || {
        with_more_room_the_campaign_resumes();
        Ok::<(), Failed>(())
    });
    let possible = Disk::is_possible();
    if !possible {
        eprintln!("no disk can be mounted here, so {name} is ignored: run it as root");
    }
    libtest_mimic::run(&arguments, vec![trial.with_ignored_flag(!possible)]).exit_code()
}

/// A small campaign into a folder.
fn campaign(out: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(["run", "--engine=terraform@1.15.5", "--seed=3", "--sources=2", "--variants=2", "--batches=2"])
        .args(["--resources=4", "--edges=4", "--out"])
        .arg(out)
        .output()
        .unwrap()
}

fn with_more_room_the_campaign_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::mount(folder.path(), "200k");
    let out = folder.path().join("out");
    let output = campaign(&out);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
    assert!(stderr.contains("No space left on device"), "{stderr}");
    assert!(!stdout.contains(" × "), "nothing is held against the engine: {stdout}");
    disk.resize("64m");
    let output = campaign(&out);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
