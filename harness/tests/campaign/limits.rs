//! Campaigns that are to go so far and no further, which is no error, and how far they are.

use serde_json::Value;

use super::fork::{Fork, report, stderr};

/// An engine that takes longer for the first batch of the first variant than the campaign is given.
const SLOW: &str = r#"if at '*/variant-0000/*' batch-1 && once slept; then sleep 4; fi; real "$@""#;

/// An engine that fails in the second batch of each variant but the last.
const FAILS: &str = r#"case "$EQUIFORM_LEDGER" in */variant-0002/*) real "$@"; exit;; esac
    if [ "$EQUIFORM_RUN" = batch-2 ]; then real "$@"; exit 1; fi; real "$@""#;

fn numbers<const N: usize>(report: &Value, of: [&str; N]) -> [u64; N] {
    of.map(|name| report[name].as_u64().or_else(|| report["counts"][name].as_u64()).unwrap())
}

#[test]
fn a_campaign_ends_when_its_time_is_up_and_goes_on_from_there() {
    let fork = Fork::new(SLOW);
    let first = fork.run("out", &["--for=3s"]);
    let said = stderr(&first);
    let told = "the time is up (--for 3s): 2 of 3 variants were not run; `equiform run --resume ";
    assert!(said.contains(told), "{said}");
    let first = report(&first, 0);
    assert_eq!(numbers(&first, ["passed", "failed", "inconclusive", "not_run"]), [1, 0, 0, 2]);
    assert_eq!(first["complete"], false);
    assert!(fork.variant("out", 0).join("verdict.json").exists());
    assert!(!fork.variant("out", 1).exists(), "it was not begun");
    let second = report(&fork.run_resumed("out", &["--for=1h"]), 0);
    assert_eq!(numbers(&second, ["passed", "from_earlier_run", "not_run"]), [3, 1, 0]);
}

#[test]
fn findings_count_when_the_time_is_up() {
    let slow_failure = r#"if at '*/variant-0000/*' batch-2; then sleep 4; real "$@"; exit 1; fi; real "$@""#;
    let fork = Fork::new(slow_failure);
    let output = fork.run("out", &["--for=3s", "--no-again"]);
    assert!(stderr(&output).contains("2 of 3 variants were not run"), "{}", stderr(&output));
    assert_eq!(numbers(&report(&output, 1), ["failed", "not_run"]), [1, 2]);
}

#[test]
fn a_campaign_ends_once_enough_was_found_and_goes_on_to_the_next_finding() {
    let fork = Fork::new(FAILS);
    let first = fork.run("out", &["--max-findings=1", "--no-again"]);
    let said = stderr(&first);
    let told = "enough was found (--max-findings 1): 2 of 3 variants were not run; `equiform run --resume ";
    assert!(said.contains(told), "{said}");
    assert_eq!(numbers(&report(&first, 1), ["failed", "not_run"]), [1, 2]);
    // What the earlier run found does not count.
    let second = fork.run_resumed("out", &["--max-findings=1", "--no-again"]);
    assert_eq!(numbers(&report(&second, 1), ["failed", "passed", "not_run"]), [2, 0, 1]);
    let third = fork.run_resumed("out", &["--max-findings=1"]);
    assert!(!stderr(&third).contains("enough was found"), "{}", stderr(&third));
    assert_eq!(numbers(&report(&third, 1), ["failed", "passed", "not_run"]), [2, 1, 0]);
}

#[test]
fn without_a_terminal_it_is_told_now_and_then_how_far_it_is() {
    let fork = Fork::new(r#"if at '*/variant-0001/*' batch-1; then sleep 16; fi; real "$@""#);
    let output = fork.run("out", &[]);
    let said = stderr(&output);
    report(&output, 0);
    let far: Vec<&str> = said.lines().filter(|line| line.contains(" of 3 variants, 0 known, ")).collect();
    assert!(!far.is_empty(), "{said}");
}
