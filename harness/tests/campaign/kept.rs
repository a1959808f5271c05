//! What was found is kept, is not taken for what another build does, and is tried again.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use super::fork::{Fork, report, stderr};

/// An engine that fails in the second batch of the first variant, and then does this with the second variant.
fn fails_first_and_then(then: &str) -> String {
    format!(
        r#"if at '*/variant-0000/*' batch-2; then real "$@"; exit 1; fi
           if at '*/variant-0001/*' batch-1 && once stopped; then {then}; fi
           real "$@""#
    )
}

#[track_caller]
fn the_finding_is_kept(fork: &Fork, stopped: &Output) {
    let stopped = report(stopped, 1);
    assert_eq!(stopped["counts"]["failed"], 1, "{stopped:#}");
    assert_eq!((&stopped["complete"], &stopped["not_run"]), (&false.into(), &2.into()), "{stopped:#}");
    for file in ["verdict.json", "ledger.jsonl", "batch-2/output.jsonl"] {
        assert!(fork.variant("out", 0).join(file).exists(), "{file}");
    }
    assert!(!fork.variant("out", 1).exists(), "what was not judged is removed");
    let written =
        |number| fs::metadata(fork.variant("out", number).join("verdict.json")).unwrap().modified().unwrap();
    let before = written(0);
    let resumed = fork.resume("out");
    let said = stderr(&resumed);
    assert!(said.starts_with("1 of 3 variants are from an earlier run, 2 are left\n"), "{said}");
    let resumed = report(&resumed, 1);
    assert_eq!(written(0), before, "what was judged is not run again");
    assert_eq!((&resumed["counts"]["failed"], &resumed["counts"]["passed"]), (&1.into(), &2.into()));
    assert_eq!((&resumed["complete"], &resumed["from_earlier_run"]), (&true.into(), &1.into()));
}

#[test]
fn a_campaign_that_is_stopped_by_a_signal_keeps_its_findings_and_exits_1() {
    for signal in ["INT", "TERM"] {
        let fork = Fork::new(&fails_first_and_then(&format!("kill -{signal} $PPID")));
        let stopped = fork.run("out", &["--no-again"]);
        let said = stderr(&stopped);
        assert!(said.contains("stopped after 1 of 3 variants; `equiform run --resume "), "{said}");
        the_finding_is_kept(&fork, &stopped);
    }
}

#[test]
fn a_replay_that_is_stopped_keeps_its_findings_and_exits_1() {
    let fork = Fork::new(r#"real "$@""#);
    report(&fork.run("out", &[]), 0);
    fork.rebuild(&fails_first_and_then("kill -INT $PPID"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    command.args(["replay", "--no-again", "--jobs=1", "--format=json"]).arg(fork.path("out/case-0000"));
    let replayed = command.arg("--out").arg(fork.path("replayed")).output().unwrap();
    let replayed = report(&replayed, 1);
    assert_eq!((&replayed["counts"]["failed"], &replayed["not_run"]), (&1.into(), &2.into()));
    assert!(fork.path("replayed/variant-0000/verdict.json").exists());
}

#[test]
fn another_build_at_the_same_path_is_not_given_the_verdicts_of_the_one_before() {
    let fork = Fork::new(r#"real "$@""#);
    assert_eq!(report(&fork.run("out", &[]), 0)["counts"]["passed"], 3);
    fork.rebuild(r#"case "$1" in version) real "$@";; *) exit 1;; esac"#);
    for refused in [fork.run("out", &[]), fork.resume("out")] {
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("the engine's executable changed since then"), "{said}");
        assert!(said.contains("Name a new folder with --out"), "{said}");
    }
    assert_eq!(report(&fork.run("new", &["--no-again"]), 1)["counts"]["failed"], 3);
}

#[test]
fn another_build_of_the_provider_is_another_campaign_too() {
    let fork = Fork::new(r#"real "$@""#);
    let provider = fork.path("provider");
    let with = || fork.campaign("out", &[]).env("EQUIFORM_PROVIDER", &provider).output().unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_equiform")).with_file_name("terraform-provider-mock");
    let mut bytes = fs::read(&built).unwrap();
    fs::copy(&built, &provider).unwrap();
    report(&with(), 0);
    bytes.extend(b"what comes after the last section is not run");
    fs::write(&provider, bytes).unwrap();
    let refused = with();
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    assert!(said.contains("other builds: the provider's binary changed since then"), "{said}");
}

/// What was said besides how far it is, which a busy machine has time to say.
fn besides_progress(output: &Output) -> String {
    let said = stderr(output);
    // How far it is, and where the report is, is told anyway.
    let counts = |line: &&str| !line.contains(" known, ") && !line.starts_with("report ");
    said.lines().filter(counts).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_comes_from_an_earlier_run_is_said_and_cases_tell_who_made_them() {
    let fork = Fork::new(r#"real "$@""#);
    let first = fork.run("out", &[]);
    assert_eq!(besides_progress(&first), "");
    assert_eq!(report(&first, 0)["from_earlier_run"], 0);
    let second = fork.run("out", &[]);
    assert_eq!(besides_progress(&second), "3 of 3 variants are from an earlier run, 0 are left\n");
    assert_eq!(report(&second, 0)["from_earlier_run"], 3);
    let text = fork.summary("out", 0);
    assert!(text.contains("\n  note          3 from an earlier run\n"), "{text}");
    let case: Value =
        serde_json::from_slice(&fs::read(fork.path("out/case-0000/case.json")).unwrap()).unwrap();
    let version = Value::from(env!("CARGO_PKG_VERSION"));
    assert_eq!((&case["equiform"], &case["provider"]), (&version, &version));
}

/// What a report says of the first variant.
fn first(report: &Value) -> &Value {
    &report["cases"][0]["variants"][0]
}

#[test]
fn a_finding_that_comes_again_is_told_from_one_that_does_not() {
    let always = Fork::new(r#"if at '*/variant-0000/*' batch-2; then real "$@"; exit 1; fi; real "$@""#);
    let output = always.run("out", &[]);
    assert!(stderr(&output).contains("variant 0: again: "), "{}", stderr(&output));
    let found = report(&output, 1);
    assert_eq!((&first(&found)["again"], &found["counts"]["not_again"]), (&true.into(), &0.into()));
    for file in ["ledger.jsonl", "again/ledger.jsonl", "again/batch-2/output.jsonl"] {
        assert!(always.variant("out", 0).join(file).exists(), "{file}");
    }

    let rarely = Fork::new(
        r#"if at '*/variant-0000/*' batch-2 && once failed; then real "$@"; exit 1; fi; real "$@""#,
    );
    let output = rarely.run("out", &["--junit", rarely.path("junit.xml").to_str().unwrap()]);
    assert!(stderr(&output).contains("variant 0: not again: "), "{}", stderr(&output));
    let found = report(&output, 1);
    assert_eq!((&first(&found)["again"], &found["counts"]["not_again"]), (&false.into(), &1.into()));
    assert_eq!(found["counts"]["failed"], 1, "it is a failure all the same");
    assert!(fs::read_to_string(rarely.path("junit.xml")).unwrap().contains("(not again)"));
    let text = rarely.summary("out", 1);
    assert!(
        text.contains("\n  verdicts      2 passed, 1 failed (1 not again), "),
        "the mark is stored: {text}"
    );
    let mut judge = Command::new(env!("CARGO_BIN_EXE_equiform"));
    let judged = judge.args(["judge", "--format=json"]).arg(rarely.path("out")).output().unwrap();
    assert_eq!(stderr(&judged), "", "the stored verdicts are those of the evidence");
    assert_eq!(first(&report(&judged, 1))["again"], false, "and it is judged from the evidence");
}

#[test]
fn who_does_not_want_findings_to_be_tried_again_says_so() {
    let fork = Fork::new(r#"if at '*/variant-0000/*' batch-2; then real "$@"; exit 1; fi; real "$@""#);
    let found = report(&fork.run("out", &["--no-again"]), 1);
    assert_eq!(first(&found).get("again"), None);
    assert!(!fork.variant("out", 0).join("again").exists());
}

#[test]
fn a_finding_stays_when_trying_it_again_is_interrupted() {
    let fork = Fork::new(
        r#"if at '*/again/*' batch-1; then kill -INT $PPID; fi
           if at '*/variant-0000/*' batch-2; then real "$@"; exit 1; fi; real "$@""#,
    );
    let found = report(&fork.run("out", &[]), 1);
    assert_eq!((&found["counts"]["failed"], &found["not_run"]), (&1.into(), &2.into()), "{found:#}");
    assert_eq!(first(&found).get("again"), None);
    assert!(fork.variant("out", 0).join("verdict.json").exists());
    assert!(!fork.variant("out", 0).join("again").exists(), "the half of a deployment is removed");
}

#[test]
fn stages_that_were_not_reached_are_counted() {
    let fork = Fork::new(r#"if at '*/variant-0000/*' batch-1; then real "$@"; kill -9 $$; fi; real "$@""#);
    let found = report(&fork.run("out", &["--no-again"]), 1);
    // The second batch, idle, cross and destroy.
    assert_eq!((&found["stages_not_reached"], &first(&found)["not_reached"]), (&4.into(), &4.into()));
    let text = fork.summary("out", 1);
    assert!(text.contains("4 stages of 1 variants not reached, because one before them failed\n"), "{text}");
}

#[test]
fn one_variant_of_a_case_is_replayed_alone() {
    let fork = Fork::new(r#"real "$@""#);
    report(&fork.run("out", &[]), 0);
    let replay = |variant: &str, out: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
        command.args(["replay", "--format=json", "--variant", variant]).arg(fork.path("out/case-0000"));
        command.arg("--out").arg(fork.path(out)).output().unwrap()
    };
    let replayed = report(&replay("1", "replayed"), 0);
    assert_eq!((&replayed["counts"]["passed"], &replayed["not_run"]), (&1.into(), &0.into()));
    let there = |variant| fork.path(&format!("replayed/variant-000{variant}")).exists();
    assert_eq!([0, 1, 2].map(there), [false, true, false]);
    let mut show = Command::new(env!("CARGO_BIN_EXE_equiform"));
    let shown = show.arg("show").arg(fork.path("replayed/variant-0001")).output().unwrap();
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    let refused = replay("3", "none");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(stderr(&refused), "error: the case has no variant 3: its variants are 0 to 2\n");
    assert!(!fork.path("none").exists());
}
