//! The same cases on several engines, by the command that people type.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::support::engine;

fn compare(folder: &Path, engines: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    command.args([
        "compare",
        "--sources",
        "1",
        "--variants",
        "2",
        "--batches",
        "2",
        "--format",
        "json",
        "--seed",
        "4",
    ]);
    command.args(["--resources", "4", "--edges", "4"]).arg("--out").arg(folder.join("out"));
    command.args(engines.iter().flat_map(|engine| ["--engine", engine])).output().unwrap()
}

fn document(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn engines_that_do_the_same_are_told_to_do_so() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(folder.path(), &["tofu@1.12.6", "terraform@1.15.5"]);
    let document = document(&output);
    assert_eq!(output.status.code(), Some(0), "{document:#}");
    assert_eq!(
        (&document["compared"], document["differences"].as_array().map(Vec::len)),
        (&2.into(), Some(0))
    );
    assert_eq!(document["engines"][0]["engine"]["name"], "terraform", "they are in ascending order");
}

#[test]
fn an_engine_that_does_something_else_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fork");
    // It replaces a resource that nobody asked it to, in the last batch.
    let script = format!(
        "#!/bin/sh\nif [ \"$EQUIFORM_RUN\" = batch-2 ]; then\n\
         set -- \"$@\" -replace=mock_node.r0\nfi\nexec '{}' \"$@\"\n",
        engine("terraform@1.15.5").display()
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let fork = path.to_str().unwrap();
    let output = compare(folder.path(), &["terraform@1.11.4", fork]);
    let document = document(&output);
    assert_eq!(output.status.code(), Some(1), "{document:#}");
    let difference = &document["differences"][0];
    assert_eq!(difference["stage"], "batch-2", "{document:#}");
    assert_eq!(difference["first_in"][0]["path"], fork, "{document:#}");
}

#[test]
fn one_engine_is_no_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(folder.path(), &["terraform@1.15.5", "terraform@1.15.5"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.starts_with("error: a comparison needs two engines or more"), "{said}");
    assert!(!folder.path().join("out").exists());
}
