//! Campaigns that cannot be run or judged: a sentence that says what to do, exit code 2, nothing overwritten,
//! and nothing held against the engine.

#[path = "campaign_errors/changed_evidence.rs"]
mod changed_evidence;
#[path = "engine_behaviour/support/limits.rs"]
mod limits;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use equiform::campaign::stored::VERDICT_VERSION;
use equiform::case::CASE_VERSION;
use equiform::judge::variant as judge;
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
        equiform(&["run", "--engine", engine, "--seed", "5", "--sources", "2", "--variants", "2"]);
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
    for oracle in equiform::judge::oracles::ORACLES {
        assert!(!stderr.contains(&format!(": {}: ", oracle.name())), "{stderr}");
        assert!(!stdout.contains(&format!("× {}: ", oracle.name())), "{stdout}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// Demands that a campaign holds only variants with a verdict.
#[track_caller]
fn holds_whole_variants(out: &Path) {
    for case in judge::case_folders(out).unwrap() {
        for entry in fs::read_dir(case).unwrap() {
            let path = entry.unwrap().path();
            let whole = path.join("verdict.json").exists() || path.ends_with("case.json");
            assert!(whole, "{} is left half-written", path.display());
        }
    }
}

#[test]
fn an_engine_that_is_unknown_or_not_installed_is_told_and_no_folder_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    refused(&campaign("pulumi", &out).output().unwrap(), &["pulumi", "terraform"]);
    refused(
        &campaign("terraform@9.9.9", &out).output().unwrap(),
        &["terraform@9.9.9 is neither on the PATH nor installed"],
    );
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
fn a_limit_on_the_size_of_files_ends_a_campaign_and_without_it_the_campaign_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let advice = "or raise the limit on the size of files. What was judged is kept; stopped after";
    // The engine, its state and the ledger meet the first limit; only our own look ahead meets the second.
    for limit in [16_000, 66_000] {
        let mut command = campaign(ENGINE, &out);
        limit_file_size(&mut command, limit);
        refused(&command.output().unwrap(), &["there is no room to write in", advice]);
    }
    holds_whole_variants(&out);
    assert!(campaign(ENGINE, &out).output().unwrap().status.success());
}

#[test]
fn a_limit_on_open_files_is_raised_where_it_may_be_and_is_not_held_against_the_engine_where_not() {
    let folder = tempfile::tempdir().unwrap();
    let limited = |limit: &str, out: &str| {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]);
        let campaign = campaign(ENGINE, &folder.path().join(out));
        command.arg(campaign.get_program()).args(campaign.get_args()).arg("--cold").output().unwrap()
    };
    let raised = limited("-S -n 24", "raised");
    assert!(raised.status.success(), "{}", String::from_utf8_lossy(&raised.stderr));
    refused(&limited("-n 24", "low"), &["(`ulimit -n`)"]);
}

/// The provider that a process has started.
fn provider_of(process: &Child) -> i32 {
    let parent = process.id().to_string();
    let children = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let path = entry.unwrap().path();
        let stat = fs::read_to_string(path.join("stat")).ok()?;
        // After the name, which is in parentheses: the state, then the parent.
        let of_parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)? == parent;
        let is_provider = fs::read_to_string(path.join("cmdline")).ok()?.contains("\0serve");
        (of_parent && is_provider).then(|| path.file_name()?.to_str()?.parse().ok())?
    });
    let found: Vec<i32> = children.collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0]
}

#[test]
fn a_provider_that_is_killed_is_started_again_and_nothing_is_held_against_the_engine() {
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
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    holds_whole_variants(&out);
}

/// A campaign whose provider hangs ends and says so.
fn ends_if_its_provider_hangs(start: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = campaign(ENGINE, &out);
    command.args(["--jobs=1", "--timeout=10s", "--hold=100ms"]).args(start);
    let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while !out.join("case-0000/variant-0001").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "the campaign does not get on");
        sleep(Duration::from_millis(5));
    }
    // SAFETY: a plain system call on a child of our child, which has not been waited for.
    unsafe { libc::kill(provider_of(&process), libc::SIGSTOP) };
    let output = process.wait_with_output().unwrap();
    refused(&output, &["the provider that engines attach to does not answer", "What was judged is kept"]);
    holds_whole_variants(&out);
}

#[test]
fn a_provider_that_hangs_ends_the_campaign_and_is_not_held_against_the_engine() {
    ends_if_its_provider_hangs(&[]);
}

#[test]
fn a_provider_that_hangs_ends_a_campaign_of_fresh_processes_too() {
    ends_if_its_provider_hangs(&["--cold"]);
}

/// A real engine that passes a variable on to the providers that it starts.
fn engine_with(folder: &Path, name: &str, value: &str) -> PathBuf {
    let real = equiform(&["engines", "path", ENGINE]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap();
    let engine = folder.join("terraform");
    let script = format!("#!/bin/sh\nexport {name}={value}\nexec '{}' \"$@\"\n", real.trim());
    fs::write(&engine, script).unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    engine
}

#[test]
fn a_provider_that_panics_ends_the_campaign_and_is_not_held_against_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with(folder.path(), "EQUIFORM_TEST_PANIC", "1");
    for mode in ["reattach", "init"] {
        let out = folder.path().join(mode);
        // One that engines attach to has its environment from us, one that they start has it from them.
        let mut command = match mode {
            "reattach" => campaign(ENGINE, &out),
            _ => campaign(engine.to_str().unwrap(), &out),
        };
        let output =
            command.args(["--provider-mode", mode]).env("EQUIFORM_TEST_PANIC", "3").output().unwrap();
        let log = out.canonicalize().unwrap().join("provider.log");
        refused(
            &output,
            &[
                "the provider crashed, which is a bug in the mock provider and not in the engine",
                "\"panic: at provider/src/testing.rs:",
                &format!("All that it said is in {}. What was judged is kept", log.display()),
            ],
        );
        holds_whole_variants(&out);
        let said = fs::read_to_string(&log).unwrap();
        assert!(said.contains("This is a bug in the mock provider"), "{said}");
        // What it left does not stand in the mode of another try.
        let again = campaign(if mode == "init" { engine.to_str().unwrap() } else { ENGINE }, &out)
            .args(["--provider-mode", mode])
            .output()
            .unwrap();
        match mode {
            "reattach" => assert!(again.status.success(), "{again:?}"),
            _ => refused(&again, &["the provider crashed"]),
        }
    }
}

/// Demands that a folder and all in it are their owner's alone.
#[track_caller]
fn is_private(path: &Path) {
    let metadata = fs::symlink_metadata(path).unwrap();
    let due = if metadata.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(metadata.permissions().mode() & 0o777, due, "{}", path.display());
    if metadata.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| is_private(&entry.unwrap().path()));
    }
}

#[test]
fn evidence_is_its_owners_alone_whatever_the_umask() {
    let folder = tempfile::tempdir().unwrap();
    let outs = ["reattach", "init"].map(|mode| (mode, folder.path().join(mode)));
    for (mode, out) in &outs {
        let mut command = campaign(ENGINE, out);
        command.args(["--provider-mode", mode]);
        // SAFETY: between fork and exec only a system call is made.
        unsafe {
            command.pre_exec(|| {
                libc::umask(0);
                Ok(())
            })
        };
        assert!(command.output().unwrap().status.success());
        is_private(out);
        assert!(out.join("case-0001/variant-0001/batch-2/state.json").exists());
    }
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

fn judged(folder: &Path) -> Output {
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
    let told = ["variant 1: inconclusive", "3 passed", "1 inconclusive"];
    let ledger = "case-0000/variant-0001/ledger.jsonl";
    for cut in [half, without_last_line] {
        let (folder, _) = damaged(ledger, cut);
        let output = judged(&folder.path().join("out"));
        refused(&output, &["changed since it was judged: ledger.jsonl"]);
        refused(&output, &told);
    }
    let (folder, _) = damaged("case-0000/variant-0001/stages.json", half);
    let output = judged(&folder.path().join("out"));
    refused(&output, &["changed since it was judged: stages.json"]);
    refused(&output, &told);
}

#[test]
fn a_case_of_a_newer_version_is_told() {
    let newer = |_| br#"{"version": 99, "novelty": true}"#.to_vec();
    let (folder, path) = damaged("case-0000/case.json", newer);
    let sentence = format!(
        "has case version 99, and this program reads version {CASE_VERSION}: use the equiform that wrote it"
    );
    refused(&judged(&folder.path().join("out")), &[&sentence]);
    let replay = equiform(&["replay", "--engine", ENGINE, "--out"])
        .arg(folder.path().join("replayed"))
        .arg(path.parent().unwrap())
        .output()
        .unwrap();
    refused(&replay, &[&sentence]);
    assert!(!folder.path().join("replayed").exists());
}

#[test]
fn a_verdict_that_is_cut_or_of_a_newer_version_is_told_and_left_alone() {
    let file = "case-0000/variant-0001/verdict.json";
    let newer = |_| br#"{"version": 99, "variant": 1}"#.to_vec();
    let reads = format!("has version 99, and this program reads version {VERDICT_VERSION}");
    for (change, sentence) in
        [(newer as fn(Vec<u8>) -> Vec<u8>, reads.as_str()), (half, "verdict.json is not a verdict")]
    {
        let (folder, path) = damaged(file, change);
        let before = fs::read(&path).unwrap();
        let output = campaign(ENGINE, &folder.path().join("out")).output().unwrap();
        refused(&output, &[sentence, "case-0000/variant-0001 to run it again", "1 inconclusive"]);
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn a_folder_that_is_no_case_is_told() {
    let folder = tempfile::tempdir().unwrap();
    refused(&judged(folder.path()), &["is neither a case nor a campaign"]);
    refused(&judged(&folder.path().join("nowhere")), &["cannot be read"]);
    fs::write(folder.path().join("case.json"), "my holidays").unwrap();
    refused(&judged(folder.path()), &["is not a case"]);
    refused(&campaign(ENGINE, folder.path()).output().unwrap(), &["is not empty and holds no campaign"]);
    assert_eq!(fs::read_to_string(folder.path().join("case.json")).unwrap(), "my holidays");
}

fn passes(output: &Output, sentence: &str) {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stderr.contains(sentence), "{stderr}");
    assert!(stdout.contains("verdicts      4 passed, "), "{stdout}");
}

#[test]
fn a_variant_without_a_verdict_is_run_again() {
    let (folder, path) = damaged("case-0000/variant-0001/verdict.json", |bytes| bytes);
    fs::remove_file(path).unwrap();
    let output = campaign(ENGINE, &folder.path().join("out")).output().unwrap();
    passes(&output, "3 of 4 variants are from an earlier run, 1 are left");
}

#[test]
fn settings_that_were_edited_into_a_bad_graph_are_an_error_when_a_campaign_is_resumed_or_merged() {
    let cyclic = |bytes: Vec<u8>| {
        let mut manifest: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let graph = serde_json::json!({ "nodes": ["a", "b"], "edges": [["a", "b"], ["b", "a"]] });
        manifest["settings"]["from"] = serde_json::json!({ "given": graph });
        serde_json::to_vec(&manifest).unwrap()
    };
    let (folder, _) = damaged("campaign.json", cyclic);
    let out = folder.path().join("out");
    let sentences = ["campaign.json: its settings cannot be used", "cycle"];
    refused(&equiform(&["run", "--resume"]).arg(&out).output().unwrap(), &sentences);
    let merged = folder.path().join("merged");
    refused(&equiform(&["merge", "--out"]).arg(merged).arg(&out).output().unwrap(), &sentences);
}
