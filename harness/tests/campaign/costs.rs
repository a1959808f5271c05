//! Engines that do what they should, and take far more for it than others.

use super::fork::{Fork, report};

/// An engine whose applies print many lines that say nothing.
const TALKS: &str = r#"real "$@"; code=$?
    case $1 in apply) yes '{"@level":"info","@message":"-","type":"log"}' | head -n 8000;; esac
    exit $code"#;

/// An engine that computes for long in one of its destroys.
const COMPUTES: &str = r#"if at '*/variant-0003/*' destroy; then i=0; while [ $i -lt 9000000 ]; do i=$((i+1)); done; fi
    real "$@""#;

/// An engine that does one operation at a time.
const ONE_AT_A_TIME: &str = r#"command=$1; shift
    case $command in
    apply|destroy) real "$command" -parallelism=1 "$@";;
    *) real "$command" "$@";;
    esac"#;

#[test]
fn commands_that_take_far_more_than_others_are_listed() {
    for (script, command, measure) in [(TALKS, "apply", "output"), (COMPUTES, "destroy", "cpu")] {
        let fork = Fork::new(script);
        // What it prints is a finding of other oracles, and what is found does not matter here.
        let small = ["--variants=8", "--batches=1", "--resources=2", "--edges=1"];
        let run = fork.run("out", &[&small[..], &["--oracles=graph", "--no-again"]].concat());
        let report: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        let outliers = report["outliers"].as_array().cloned().unwrap_or_default();
        let is_it = |it: &&serde_json::Value| it["command"] == command && it["measure"] == measure;
        assert!(outliers.iter().any(|it| is_it(&it)), "{outliers:#?}");
    }
}

#[test]
fn an_engine_that_does_one_operation_at_a_time_is_told() {
    let fork = Fork::new(ONE_AT_A_TIME);
    let run = fork.run("out", &["--variants=8", "--resources=8", "--edges=2"]);
    let report = report(&run, 0);
    let checks = &report["exercised"]["checks"];
    assert!(checks["stages that allow operations to overlap"].as_u64() >= Some(10), "{checks:#}");
    let summary = fork.summary("out", 0);
    assert!(summary.contains("never more than one operation at a time"), "{summary}");
}
