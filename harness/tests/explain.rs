//! `equiform explain` and `equiform bundle`, as people call them: on stored evidence, and where there is nothing to
//! explain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A stored case with evidence.
fn stored(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fixtures/cases/explained")
        .join(name)
        .canonicalize()
        .unwrap()
}

/// A copy of a stored case that can be changed.
fn copy(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_into(&stored(name), folder.path());
    folder
}

fn copy_into(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir(&target).unwrap();
            copy_into(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn equiform(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform")).args(arguments).arg(folder).output().unwrap()
}

/// The text of an explanation, and the exit code.
fn explained(name: &str) -> String {
    let folder = stored(name);
    let output = equiform(&["explain"], &folder);
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    let text = text.replace(&folder.display().to_string(), "CASE");
    format!("{text}{errors}exit code {}\n", output.status.code().unwrap())
}

#[test]
fn a_cycle_is_explained_with_an_order_that_there_is() {
    insta::assert_snapshot!(explained("cycle"));
}

#[test]
fn a_wrong_order_is_explained_with_the_rule_and_the_lines_of_the_ledger() {
    insta::assert_snapshot!(explained("order"));
}

#[test]
fn a_missing_operation_is_explained_with_what_was_announced() {
    insta::assert_snapshot!(explained("steps"));
}

#[test]
fn a_state_that_is_rewritten_is_shown_before_and_after() {
    insta::assert_snapshot!(explained("state"));
}

#[test]
fn an_explanation_for_programs_has_the_same_parts() {
    let output = equiform(&["explain", "--no-known", "--format", "json"], &stored("order"));
    assert_eq!(output.status.code(), Some(1), "what is not known is new");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["version"], 2);
    assert_eq!(json["cause"]["oracle"], "order");
    assert_eq!(json["expected"]["rules"][0]["number"], 7);
    assert_eq!(json["stages"].as_array().unwrap().len(), 3);
    assert_eq!(json["known"], serde_json::Value::Null);
    assert!(json["proof"].as_array().unwrap().iter().any(|quote| quote["place"] == "seq 26"));
}

#[test]
fn a_variants_own_folder_stands_for_it_too() {
    let output = equiform(&["explain"], &stored("cycle").join("variant-0000"));
    assert_eq!(output.status.code(), Some(0));
}

/// Demands that a command says why it cannot be done, and what to do.
#[track_caller]
fn refused(output: &Output, sentences: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    for sentence in sentences {
        assert!(errors.contains(sentence), "{sentence:?}: {errors}");
    }
}

/// What both commands say of a folder; a bundle leaves nothing behind.
#[track_caller]
fn both_refuse(folder: &Path, sentences: &[&str]) {
    refused(&equiform(&["explain"], folder), sentences);
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    refused(&equiform(&["bundle", "--out", out.to_str().unwrap()], folder), sentences);
    assert!(!out.exists());
}

#[test]
fn a_variant_that_passed_is_not_explained() {
    both_refuse(&stored("passed"), &["variant 0 passed", "equiform show"]);
}

#[test]
fn a_case_that_is_cut_off_foreign_or_newer_is_told() {
    let case = copy("cycle");
    let path = case.path().join("case.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    both_refuse(case.path(), &["is not a case", "EOF while parsing"]);
    fs::write(&path, r#"{"version": 5, "hello": true}"#).unwrap();
    both_refuse(case.path(), &["is not a case", "unknown field"]);
    fs::write(&path, text.replacen("\"version\": 5", "\"version\": 99", 1)).unwrap();
    both_refuse(case.path(), &["has case version 99", "use the equiform that wrote it"]);
    fs::remove_file(&path).unwrap();
    both_refuse(case.path(), &["is neither a case's folder nor a variant's"]);
    both_refuse(Path::new("/nowhere"), &["/nowhere", "No such file"]);
}

#[test]
fn a_case_without_evidence_or_with_damaged_evidence_is_told_with_how_to_get_it() {
    let case = copy("cycle");
    let ledger = case.path().join("variant-0000/ledger.jsonl");
    let text = fs::read_to_string(&ledger).unwrap();
    fs::write(&ledger, &text[..text.len() / 2]).unwrap();
    both_refuse(case.path(), &["could not be judged", "the ledger is cut", "equiform replay"]);
    fs::remove_dir_all(case.path().join("variant-0000")).unwrap();
    both_refuse(case.path(), &["has no evidence", "equiform replay"]);
}

#[test]
fn a_case_that_does_not_name_its_engine_is_told() {
    let case = copy("cycle");
    let path = case.path().join("case.json");
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    json.as_object_mut().unwrap().remove("engine");
    fs::write(&path, json.to_string()).unwrap();
    both_refuse(case.path(), &["does not say which engine", "--engine ENGINE"]);
}

#[test]
fn a_bundle_needs_the_engine_that_the_case_was_run_on() {
    let case = copy("cycle");
    let path = case.path().join("case.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("1.15.5", "1.13.0")).unwrap();
    let out = case.path().join("out");
    let output = equiform(&["bundle", "--out", out.to_str().unwrap()], case.path());
    refused(&output, &["is gone", "--engine"]);
    assert!(!out.exists());
}

#[test]
fn a_bundle_of_a_failure_that_no_longer_shows_is_not_made() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let arguments = ["bundle", "--only", "--engine", "terraform@1.15.5", "--out", out.to_str().unwrap()];
    let output = equiform(&arguments, &stored("state"));
    refused(&output, &["state: setting-rewritten no longer shows on terraform@1.15.5", "equiform replay"]);
    assert!(!out.exists());
}

#[test]
fn a_bundle_takes_no_folder_with_something_else_in_it() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("notes.txt"), "mine").unwrap();
    let arguments = ["bundle", "--only", "--out", place.path().to_str().unwrap()];
    refused(&equiform(&arguments, &stored("cycle")), &["holds no bundle", "--out"]);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn a_bundle_of_each_kind_is_made_and_its_script_says_what_shows() {
    for (name, engine, builtin) in [
        ("cycle", "terraform@1.15.5", true),
        ("order", "terraform@1.15.5", false),
        ("state", "terraform@1.6.6", true),
    ] {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("out");
        let arguments = ["bundle", "--only", "--engine", engine, "--out", out.to_str().unwrap()];
        let output = equiform(&arguments, &stored(name));
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let program = fs::read_to_string(out.join("1/main.tf")).unwrap();
        assert_eq!(program.contains("terraform_data"), builtin, "{name}: {program}");
        let issue = fs::read_to_string(out.join("ISSUE.md")).unwrap();
        for heading in ["### Terraform Version", "### Expected Behavior", "### Actual Behavior"] {
            assert!(issue.contains(heading), "{issue}");
        }
        // The script as others run it: without a provider where it says that it needs none.
        let nobody = Command::new("sh").arg(out.join("repro.sh")).arg("no-such-engine").output().unwrap();
        refused(&nobody, &["there is no no-such-engine", "tofu"]);
        // A second bundle takes the place of the first one.
        fs::write(out.join("README.md"), "mine").unwrap();
        assert_eq!(equiform(&arguments, &stored(name)).status.code(), Some(0));
        assert_eq!(fs::read_to_string(out.join("README.md")).unwrap(), "mine");
    }
}
