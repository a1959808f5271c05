//! Engines that run away: what they take is limited, and exceeding a limit is a finding about the engine. The campaign
//! goes on, and nothing that an engine started is left.

use std::fs;

use serde_json::Value;

use super::fork::{Fork, report};

/// The findings of the first variant, by oracle and kind, after a campaign in which an engine runs away in its second
/// batch. The other variants pass.
fn found(script: &str, more: &[&str]) -> Vec<(String, String)> {
    let fork = Fork::new(&format!(r#"if at '*/variant-0000/*' batch-2; then {script}; fi; real "$@""#));
    let report = report(&fork.run("out", &[&["--no-again"][..], more].concat()), 1);
    assert_eq!(
        (&report["counts"]["failed"], &report["counts"]["passed"]),
        (&1.into(), &2.into()),
        "{report}"
    );
    let evidence = fork.variant("out", 0).join("batch-2");
    for file in fs::read_dir(evidence).unwrap() {
        let file = file.unwrap();
        assert!(file.metadata().unwrap().len() <= 1 << 20, "{:?} is kept in part", file.path());
    }
    let findings = report["cases"][0]["variants"][0]["result"]["findings"].as_array().unwrap().clone();
    let word = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    findings.iter().map(|finding| (word(finding, "oracle"), word(finding, "kind"))).collect()
}

#[track_caller]
fn shows(script: &str, kind: &str) {
    let found = found(script, &[]);
    assert!(found.iter().any(|(oracle, found)| oracle == "health" && found == kind), "{found:?}");
}

#[test]
fn an_engine_that_prints_without_end_is_found_and_the_campaign_goes_on() {
    shows("yes", "excessive-file");
    shows("trap '' XFSZ; while :; do yes >&2; done", "excessive-file");
}

#[test]
fn an_engine_that_installs_its_provider_may_not_print_without_end_either() {
    let found = found("yes", &["--provider-mode=init"]);
    assert!(found.contains(&("health".to_owned(), "excessive-file".to_owned())), "{found:?}");
}

#[test]
fn an_engine_that_takes_all_memory_is_found_and_the_campaign_goes_on() {
    shows("(head -c 2300m /dev/zero; sleep 1000) | tail", "excessive-memory");
}

#[test]
fn an_engine_that_starts_process_after_process_is_found_and_the_campaign_goes_on() {
    let script = "i=0; while [ $i -lt 1100 ]; do sleep 1000 & i=$((i+1)); done; wait";
    shows(script, "excessive-processes");
}

#[test]
fn processes_that_outlive_their_command_are_ended_and_found() {
    for start in ["sleep 1000 &", "setsid sleep 1000 &"] {
        shows(&format!(r#"real "$@"; code=$?; {start} exit $code"#), "processes-left");
    }
}

/// Kills the provider that the engine attaches to.
const KILL: &str = r#"kill -9 "$(printf %s "$TF_REATTACH_PROVIDERS" | sed 's/.*"Pid":\([0-9]*\).*/\1/')""#;

#[test]
fn an_engine_that_kills_the_provider_is_found_and_the_campaign_goes_on() {
    shows(KILL, "provider-killed");
    shows(&format!(r#"real "$@"; code=$?; {KILL}; exit $code"#), "provider-killed");
}

#[test]
fn nobody_is_blamed_for_a_provider_that_is_killed_once() {
    let fork =
        Fork::new(&format!(r#"if at '*/variant-0000/*' batch-2 && once kill; then {KILL}; fi; real "$@""#));
    let report = report(&fork.run("out", &[]), 0);
    assert_eq!(report["counts"]["passed"], 3, "{report}");
    assert!(fork.path("once-kill").exists());
}
