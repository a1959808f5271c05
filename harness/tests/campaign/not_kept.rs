//! Campaigns that keep the evidence of what did not pass alone, and replays of one variant.

use std::fs;
use std::process::{Command, Output};

use super::fork::{Fork, report, stderr};

/// An engine that fails in the second batch of the second variant.
const FAILS: &str = r#"if at '*/variant-0001/*' batch-2; then real "$@"; exit 1; fi; real "$@""#;

fn files(fork: &Fork, variant: usize) -> Vec<String> {
    let entries = fs::read_dir(fork.variant("out", variant)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn equiform(fork: &Fork, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    command.current_dir(fork.path("")).args(arguments).output().unwrap()
}

#[test]
fn what_passed_leaves_its_verdict_alone_and_counts_whenever_the_campaign_is_read() {
    let fork = Fork::new(FAILS);
    let first = report(&fork.run("out", &["--keep=failed", "--no-again"]), 1);
    assert_eq!((&first["counts"]["passed"], &first["counts"]["failed"]), (&2.into(), &1.into()));
    assert_eq!(files(&fork, 0), ["verdict.json"]);
    assert!(files(&fork, 1).contains(&"ledger.jsonl".to_owned()));
    let resumed = report(&fork.resume("out"), 1);
    assert_eq!((&resumed["counts"], &resumed["from_earlier_run"]), (&first["counts"], &3.into()));
    let judged = equiform(&fork, &["judge", "out", "--format=json"]);
    assert!(stderr(&judged).contains("evidence of 2 variants was not kept; their stored verdicts count"));
    assert_eq!(report(&judged, 1)["counts"], first["counts"]);
    // The case is still what the verdict was made from.
    let case = fork.path("out").join("case-0000/case.json");
    let text = fs::read_to_string(&case).unwrap();
    fs::write(&case, text + "\n").unwrap();
    assert!(stderr(&fork.resume("out")).contains("changed since it was judged: case.json"));
}

#[test]
fn one_variant_of_a_case_can_be_replayed_by_itself() {
    let fork = Fork::new(FAILS);
    report(&fork.run("out", &["--no-again"]), 1);
    let replay = |variant: &str| {
        let out = format!("--out=replayed-{variant}");
        let variant = format!("--variant={variant}");
        equiform(&fork, &["replay", "out/case-0000", "--format=json", "--no-again", &out, &variant])
    };
    assert_eq!(report(&replay("0"), 0)["counts"]["passed"], 1);
    let failed = report(&replay("1"), 1);
    assert_eq!((&failed["counts"]["failed"], &failed["not_run"]), (&1.into(), &0.into()));
    assert!(!fork.path("replayed-1/variant-0000").exists());
    let none = replay("3");
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("the case has no variant 3; they are numbered from 0 to 2"));
}
