//! Campaigns that cannot be run or judged: a sentence that says what to do, exit code 2, nothing overwritten, and nothing
//! held against the engine.

#[path = "engine_behaviour/support/limits.rs"]
mod limits;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use limits::{limit_file_size, obey_permissions};
use tempfile::TempDir;

const ENGINE: &str = "terraform@1.15.5";

fn equiform(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    command.args(arguments);
    command
}

/// A small campaign into a folder.
fn campaign(engine: &str, out: &Path) -> Command {
    let mut command =
        equiform(&["run", "--engine", engine, "--seed", "3", "--sources", "2", "--variants", "2"]);
    command.args(["--batches", "2", "--resources", "4", "--edges", "4", "--out"]).arg(out);
    command
}

/// Demands that a command could not be run, says these things, and blames no engine.
#[track_caller]
fn refused(output: &Output, sentences: &[&str]) {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{stdout}{stderr}");
    for sentence in sentences {
        assert!(stdout.contains(sentence) || stderr.contains(sentence), "{sentence:?}: {stdout}{stderr}");
    }
    for oracle in equiform::oracle::ORACLES {
        assert!(!stderr.contains(&format!(": {}: ", oracle.name)), "{stderr}");
        assert!(!stdout.contains(&format!("× {}: ", oracle.name)), "{stdout}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// Demands that a campaign holds only cases with a verdict.
#[track_caller]
fn holds_whole_cases(out: &Path) {
    for entry in fs::read_dir(out).unwrap() {
        let path = entry.unwrap().path();
        let whole = path.join("verdict.json").exists() || path.ends_with("campaign.json");
        assert!(whole, "{} is left half-written", path.display());
    }
}

#[test]
fn an_engine_that_is_unknown_or_not_installed_is_told_and_no_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    refused(&campaign("pulumi", &out).output().unwrap(), &["pulumi", "terraform"]);
    refused(&campaign("terraform@9.9.9", &out).output().unwrap(), &["terraform@9.9.9 cannot be installed"]);
    assert!(!out.exists());
}

#[test]
fn a_provider_that_is_missing_or_another_program_is_told_and_no_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let with = |provider: &str| campaign(ENGINE, &out).env("EQUIFORM_PROVIDER", provider).output().unwrap();
    refused(
        &with("/nowhere/provider"),
        &["the provider is not at /nowhere/provider: build it with `make build`"],
    );
    refused(&with("/bin/echo"), &["the provider /bin/echo is another program"]);
    refused(&with("/bin/true"), &["the provider /bin/true is another program"]);
    assert!(!out.exists());
}

#[test]
fn a_folder_that_cannot_be_made_or_written_is_told() {
    refused(
        &campaign(ENGINE, Path::new("/dev/null/out")).output().unwrap(),
        &["/dev/null/out cannot be used"],
    );
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    for out in [folder.path().to_owned(), folder.path().join("out")] {
        let mut command = campaign(ENGINE, &out);
        obey_permissions(&mut command);
        refused(&command.output().unwrap(), &["cannot be used: Permission denied"]);
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_limit_on_the_size_of_files_ends_a_campaign_and_without_it_the_campaign_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let advice = "or raise the limit on the size of files. Whole cases are kept; the same command goes on";
    // The engine, its state and the ledger meet the first limit; only our own look ahead meets the second.
    for limit in [3_000, 66_000] {
        let mut command = campaign(ENGINE, &out);
        limit_file_size(&mut command, limit);
        refused(&command.output().unwrap(), &["there is no room to write in", advice]);
    }
    holds_whole_cases(&out);
    assert!(campaign(ENGINE, &out).output().unwrap().status.success());
}

/// The provider that a process has started.
fn provider_of(process: &Child) -> i32 {
    let parent = process.id().to_string();
    let children = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        // After the name, which is in parentheses: the state, then the parent.
        let of_parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)? == parent;
        let is_provider = fs::read_to_string(path.join("cmdline")).ok()?.contains("reattach");
        (of_parent && is_provider).then(|| path.file_name()?.to_str()?.parse().ok())?
    });
    let found: Vec<i32> = children.collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

#[test]
fn a_provider_that_is_killed_ends_the_campaign_and_is_not_held_against_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = campaign(ENGINE, &out);
    let process = command
        .args(["--jobs", "1", "--create-before-destroy", "0.5"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let process = process.spawn().unwrap();
    let begin = Instant::now();
    // In the first stage of a variant of the second case.
    while !out.join("case-0001/variant-0000/batch-1").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "the campaign does not get on");
        sleep(Duration::from_millis(5));
    }
    // SAFETY: a plain system call on a child of our child, which has not been waited for.
    unsafe { libc::kill(provider_of(&process), libc::SIGKILL) };
    let output = process.wait_with_output().unwrap();
    refused(&output, &["the provider that engines attach to is gone", "Whole cases are kept"]);
    holds_whole_cases(&out);
    assert!(out.join("case-0000/verdict.json").exists());
}

/// The folder of a campaign that was run to its end, once for all tests.
fn finished() -> &'static Path {
    static FINISHED: OnceLock<TempDir> = OnceLock::new();
    let folder = FINISHED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let output = campaign(ENGINE, &folder.path().join("out")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        folder
    });
    folder.path()
}

/// A copy of the finished campaign, and the path of a file in it whose content was changed.
fn damaged(file: &str, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let copied =
        Command::new("cp").arg("-r").arg(finished().join("out")).arg(folder.path()).status().unwrap();
    assert!(copied.success());
    let path = folder.path().join("out").join(file);
    fs::write(&path, change(fs::read(&path).unwrap())).unwrap();
    (folder, path)
}

fn judge(folder: &Path) -> Output {
    equiform(&["judge"]).arg(folder).output().unwrap()
}

fn half(bytes: Vec<u8>) -> Vec<u8> {
    bytes[..bytes.len() / 2].to_owned()
}

fn without_last_line(bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').unwrap();
    bytes[..=end].to_owned()
}

#[test]
fn a_ledger_or_a_record_that_is_cut_makes_its_variant_inconclusive() {
    let told = ["variant 1: inconclusive", "passed        3", "inconclusive  1"];
    let ledger = "case-0000/variant-0001/ledger.jsonl";
    for cut in [half, without_last_line] {
        let (folder, _) = damaged(ledger, cut);
        let output = judge(&folder.path().join("out"));
        refused(&output, &["ledger.jsonl: the ledger is cut"]);
        refused(&output, &told);
    }
    let (folder, _) = damaged("case-0000/variant-0001/stages.json", half);
    let output = judge(&folder.path().join("out"));
    refused(&output, &["stages.json: "]);
    refused(&output, &told);
}

#[test]
fn a_case_of_a_newer_version_is_told() {
    let newer = |_| br#"{"version": 99, "novelty": true}"#.to_vec();
    let (folder, path) = damaged("case-0000/case.json", newer);
    let sentence = "has case version 99, and this program reads version 1: use a newer equiform";
    refused(&judge(&folder.path().join("out")), &[sentence]);
    let replay = equiform(&["replay", "--engine", ENGINE, "--out"])
        .arg(folder.path().join("replayed"))
        .arg(path.parent().unwrap())
        .output()
        .unwrap();
    refused(&replay, &[sentence]);
    assert!(!folder.path().join("replayed").exists());
}

#[test]
fn a_verdict_that_is_cut_or_of_a_newer_version_is_told_and_left_alone() {
    let newer = |_| br#"{"version": 99, "case": 0, "variants": []}"#.to_vec();
    let (folder, path) = damaged("case-0000/verdict.json", newer);
    let before = fs::read(&path).unwrap();
    refused(
        &campaign(ENGINE, &folder.path().join("out")).output().unwrap(),
        &["version 99", "use a newer equiform"],
    );
    assert_eq!(fs::read(&path).unwrap(), before);
    let (folder, path) = damaged("case-0000/verdict.json", half);
    let before = fs::read(&path).unwrap();
    let sentence = "remove the case's folder to run it again";
    refused(&campaign(ENGINE, &folder.path().join("out")).output().unwrap(), &[sentence]);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_folder_that_is_no_case_is_told() {
    let folder = tempfile::tempdir().unwrap();
    refused(&judge(folder.path()), &["is neither a case nor a campaign"]);
    refused(&judge(&folder.path().join("nowhere")), &["cannot be read"]);
    fs::write(folder.path().join("case.json"), "my holidays").unwrap();
    refused(&judge(folder.path()), &["is not a case"]);
    refused(&campaign(ENGINE, folder.path()).output().unwrap(), &["is not empty and holds no campaign"]);
    assert_eq!(fs::read_to_string(folder.path().join("case.json")).unwrap(), "my holidays");
}
