//! `equiform reduce`, and the reductions of `equiform run`, as people use them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::support::engine;

fn equiform(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform")).current_dir(folder).args(arguments).output().unwrap()
}

fn script(path: PathBuf, text: &str) -> PathBuf {
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// An engine that does some of its commands in another way.
fn engine_that(folder: &Path, does: &str) -> PathBuf {
    let real = engine("terraform@1.15.5");
    script(folder.join("engine"), &format!("#!/bin/sh\nengine='{}'\n{does}\n", real.display()))
}

/// It forgets a resource in the second batch.
const FORGETS: &str = r#"case "$EQUIFORM_RUN" in
batch-2) sed -i '/"mock_node" "r1"/,/^}/d' main.tf;;
esac
exec "$engine" "$@""#;

/// A campaign of a few variants with an engine.
fn campaign(folder: &Path, engine: &Path, more: &[&str]) -> Output {
    let engine = format!("--engine={}", engine.display());
    let usual = [
        "run",
        &engine,
        "--sources=2",
        "--variants=2",
        "--batches=2",
        "--resources=6",
        "--edges=6",
        "--workflows=plain",
        "--out=out",
        "--no-again",
    ];
    equiform(folder, &[&usual, more].concat())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_campaign_reduces_one_variant_of_each_new_signature_and_says_where_it_is() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine_that(root.path(), FORGETS);
    let output = campaign(root.path(), &engine, &["--format=json"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reductions = report["reductions"].as_array().unwrap();
    assert!(!reductions.is_empty(), "{report:#}");
    for reduction in reductions {
        let folder = Path::new(reduction["folder"].as_str().unwrap());
        assert!(folder.starts_with(root.path().join("out/reduced").canonicalize().unwrap()));
        let reduction = &reduction["reduction"];
        assert!(reduction["after"]["resources"].as_u64() <= Some(2), "{reduction:#}");
        assert_eq!(reduction["ended"], "minimal");
        let judged = equiform(root.path(), &["judge", folder.to_str().unwrap()]);
        assert_eq!(judged.status.code(), Some(1), "{}", said(&judged));
    }
    // What was reduced already stays.
    let stored = |name: &str| fs::metadata(root.path().join("out/reduced").join(name)).unwrap().modified();
    let names: Vec<String> = fs::read_dir(root.path().join("out/reduced"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let before: Vec<_> = names.iter().map(|name| stored(name).unwrap()).collect();
    let again = campaign(root.path(), &engine, &[]);
    assert_eq!(again.status.code(), Some(1), "{}", said(&again));
    assert!(printed(&again).contains("  reduced       "), "{}", printed(&again));
    assert_eq!(before, names.iter().map(|name| stored(name).unwrap()).collect::<Vec<_>>());
}

#[test]
fn a_variant_is_reduced_by_the_command_and_what_cannot_be_gets_a_sentence() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine_that(root.path(), FORGETS);
    let output = campaign(root.path(), &engine, &["--no-reduce"]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(!root.path().join("out/reduced").exists());
    let reduced = equiform(root.path(), &["reduce", "out/case-0000", "--out=small"]);
    assert_eq!(reduced.status.code(), Some(0), "{}", said(&reduced));
    let text = printed(&reduced);
    assert!(text.contains("  confirmed     in 3 deployments") && text.contains("\n  resources  "), "{text}");
    let reduction: Value =
        serde_json::from_slice(&fs::read(root.path().join("small/reduction.json")).unwrap()).unwrap();
    assert_eq!(reduction["before"]["batches"], 2);
    let refused = |arguments: &[&str], sentence: &str| {
        let output = equiform(root.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(sentence), "{arguments:?}: {}", said(&output));
    };
    refused(&["reduce", "out/case-0000", "--out=small"], "small is not empty: name a new folder");
    refused(&["reduce", "out"], "neither a case");
    refused(&["reduce", "out/case-0000", "--budget=0"], "0 attempts are too few; give at least 1");
    refused(
        &["reduce", "out/case-0000", "--finding=repeat"],
        "nothing in this variant was found as `repeat`",
    );
    refused(&["reduce", "out/case-0000", "--variant=9"], "the case has no variant 9");
    // The engine is mended: what failed does not show any more.
    engine_that(root.path(), r#"exec "$engine" "$@""#);
    refused(&["reduce", "small", "--out=smaller"], "did not show again in 10 deployments");
    assert!(!root.path().join("smaller").exists());
    fs::remove_file(&engine).unwrap();
    refused(&["reduce", "small", "--out=smaller"], "engine");
    let case = root.path().join("small/case.json");
    let text = fs::read_to_string(&case).unwrap();
    fs::write(&case, text.replacen(r#""version": "#, r#""version": 9"#, 1)).unwrap();
    refused(&["reduce", "small", "--out=smaller"], "use the equiform that wrote it");
    fs::write(&case, &text[..text.len() / 2]).unwrap();
    refused(&["reduce", "small", "--out=smaller"], "is not a case");
}

#[test]
fn a_variant_that_passed_has_nothing_to_reduce() {
    let root = tempfile::tempdir().unwrap();
    let output = campaign(root.path(), &engine("terraform@1.15.5"), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for (folder, sentence) in [
        ("out/case-0000", "failed by its evidence"),
        ("out/case-0000/variant-0000", "variant 0 passed: there is nothing to reduce"),
    ] {
        let output = equiform(root.path(), &["reduce", folder]);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(sentence), "{}", said(&output));
    }
}

#[test]
fn a_users_own_test_decides_what_is_of_interest() {
    let root = tempfile::tempdir().unwrap();
    let engine = engine_that(root.path(), FORGETS);
    campaign(root.path(), &engine, &["--no-reduce"]);
    // Two resources, whatever they are, and whatever else is found.
    let test = script(
        root.path().join("interesting"),
        "#!/bin/sh\n[ \"$1\" = \"$EQUIFORM_CASE\" ] && [ -d \"$EQUIFORM_VARIANT\" ] || exit 1\n\
         [ \"$(grep -o '(add ' case.json | wc -l)\" -ge 3 ]\n",
    );
    let test = format!("--interesting={}", test.display());
    let output = equiform(root.path(), &["reduce", "out/case-0000", &test, "--out=small", "--format=json"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let reduction: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&reduction["after"]["resources"], &reduction["after"]["edges"]), (&3.into(), &0.into()));
}
