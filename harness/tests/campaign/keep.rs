//! Campaigns that keep the evidence of variants that did not pass, and only the verdicts of the others.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::fork::{Fork, report, stderr};

/// An engine that fails in the second batch of the first variant.
const FAILS: &str = r#"if at '*/variant-0000/*' batch-2; then real "$@"; exit 1; fi; real "$@""#;

fn equiform(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform")).args(arguments).arg(folder).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

fn counts(report: &Value) -> (u64, u64, u64) {
    let count = |name: &str| report["counts"][name].as_u64().unwrap();
    (count("passed"), count("failed"), count("inconclusive"))
}

#[test]
fn only_the_evidence_of_what_did_not_pass_is_kept_and_all_verdicts_count() {
    let fork = Fork::new(FAILS);
    let first = report(&fork.run("out", &["--keep=failed", "--no-again"]), 1);
    assert_eq!(counts(&first), (2, 1, 0));
    assert!(fork.variant("out", 0).join("batch-2/output.jsonl").exists());
    for variant in [1, 2] {
        assert_eq!(names(&fork.variant("out", variant)), ["stages.json", "verdict.json"]);
    }

    let resumed = report(&fork.resume("out"), 1);
    assert_eq!((counts(&resumed), &resumed["from_earlier_run"]), ((2, 1, 0), &3.into()));

    let judged = equiform(&["judge", "--format=json"], &fork.path("out"));
    let said = stderr(&judged);
    assert!(said.starts_with("2 variants that passed cannot be judged again"), "{said}");
    assert!(said.ends_with("their stored verdicts count\n"), "{said}");
    assert_eq!(counts(&report(&judged, 1)), (2, 1, 0));

    let shown = equiform(&["show"], &fork.variant("out", 1));
    assert_eq!(shown.status.code(), Some(2));
    assert!(stderr(&shown).contains("/case-0000/variant-0001` deploys it again"), "{}", stderr(&shown));
}

#[test]
fn a_case_that_was_interrupted_keeps_its_evidence_until_all_of_it_is_judged() {
    let fork =
        Fork::new(r#"if at '*/variant-0001/*' batch-1 && once stopped; then kill -INT $PPID; fi; real "$@""#);
    fork.run("out", &["--keep=failed"]);
    assert!(fork.variant("out", 0).join("ledger.jsonl").exists());
    assert_eq!(counts(&report(&fork.run_resumed("out", &["--keep=failed"]), 0)), (3, 0, 0));
    assert!(!fork.variant("out", 0).join("ledger.jsonl").exists());
}

#[test]
fn what_is_left_must_be_what_was_judged_and_only_a_pass_may_lack_evidence() {
    let fork = Fork::new(FAILS);
    report(&fork.run("out", &["--keep=failed", "--no-again"]), 1);
    let stages = fork.variant("out", 1).join("stages.json");
    let before = fs::read(&stages).unwrap();
    fs::write(&stages, "[]").unwrap();
    assert_eq!(counts(&report(&fork.resume("out"), 1)), (1, 1, 1));
    let judged = equiform(&["judge", "--format=json"], &fork.path("out"));
    assert_eq!(counts(&report(&judged, 1)), (1, 1, 1));
    fs::write(&stages, before).unwrap();

    let failed = fork.variant("out", 0);
    let verdict = fs::read_to_string(failed.join("verdict.json")).unwrap();
    let mut verdict: Value = serde_json::from_str(&verdict).unwrap();
    verdict["evidence_removed"] = true.into();
    fs::write(failed.join("verdict.json"), verdict.to_string()).unwrap();
    fs::remove_file(failed.join("ledger.jsonl")).unwrap();
    let resumed = report(&fork.resume("out"), 1);
    let damaged = &resumed["cases"][0]["variants"][0]["damaged"];
    assert!(damaged.as_str().is_some_and(|why| why.contains("ledger.jsonl")), "{resumed:#}");
}
