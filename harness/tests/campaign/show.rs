//! What happened to a variant, by the command that people type.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use equiform::campaign::Settings;
use equiform::case::CASE_FILE;
use equiform::deploy::Start;
use equiform::engines::driver::ProviderMode;
use equiform::judge::variant::variant_folder;

use super::commands::case_with_a_known_cycle;
use super::support::{engine, id, provider, runner};

#[test]
fn a_variant_is_shown_stage_by_stage_with_what_was_expected_and_done() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), provider(ProviderMode::Reattach));
    let runner = runner(&engine("terraform@1.15.5"), &provider, Duration::from_secs(120));
    let settings =
        Settings { variants: 1, batches: 1, resources: 2..=2, edges: 1..=1, ..Settings::default() };
    let case = settings.case(0).on(runner.engine.engine().recorded());
    std::fs::write(folder.path().join(CASE_FILE), serde_json::to_string(&case).unwrap()).unwrap();
    let place = variant_folder(folder.path(), 0);
    runner.deploy(&case, 0, &place, Start::Cold).unwrap();
    let show = || {
        let output = Command::new(env!("CARGO_BIN_EXE_equiform")).arg("show").arg(&place).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = show();
    assert_eq!(code, Some(0), "{text}");
    // Configured twice, and each planned twice: once with all the others, once before it is created. Between begin and
    // end the provider records that it releases the operation.
    assert!(text.contains("  expected  +r0 +r1\n  did       +r0[6..8] +r1[10..12]\n"), "{text}");
    std::fs::remove_file(place.join("batch-1/state.json")).unwrap();
    let (code, text) = show();
    assert_eq!(code, Some(2), "{text}");
    // The evidence is ours: that a part of it is missing says nothing about the engine.
    assert!(text.lines().next().is_some_and(|line| line.ends_with(": inconclusive")), "{text}");
}

fn equiform(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_equiform")).current_dir(folder).args(arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

/// The text without what differs from run to run: how long commands took, and the order in which a cycle is told.
fn steady(text: &str) -> String {
    let line = |line: &str| {
        let line = line.split_once("Error: Cycle:").map_or(line, |(before, _)| before.trim_end());
        match line.split_once(" ms, ") {
            Some((before, after)) => {
                let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
                format!("{before}… ms, {after}")
            }
            None => line.to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_cause_stands_first_with_what_is_known_and_what_changed_and_the_rest_is_folded() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("case-0007")).unwrap();
    let case = case_with_a_known_cycle().on(id("terraform@1.15.5"));
    std::fs::write(root.path().join("case-0007").join(CASE_FILE), serde_json::to_string(&case).unwrap())
        .unwrap();
    let (code, text) = equiform(root.path(), &["replay", "case-0007", "--out=case-0007-again"]);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = equiform(root.path(), &["show", "case-0007-again"]);
    assert_eq!(code, Some(0), "{text}");
    insta::assert_snapshot!(steady(&text));
    let (_, of_variant) = equiform(root.path(), &["show", "case-0007-again/variant-0000"]);
    assert!(text.ends_with(&format!("\n\n{of_variant}")), "the same without the list: {of_variant}");
    let (_, all) = equiform(root.path(), &["show", "case-0007-again", "--all"]);
    for unfolded in
        ["\nbatch-1  apply, exit 0, ", "  expected  +a +b +p\n", "steps: operation-missing, known: "]
    {
        assert!(all.contains(unfolded), "{unfolded}: {all}");
    }
    let (code, text) = equiform(root.path(), &["show", "case-0007-again", "--no-known"]);
    assert_eq!(code, Some(1), "{text}");
    let (code, _) = equiform(root.path(), &["show", "case-0007-again/variant-0003"]);
    assert_eq!(code, Some(2), "there is no such folder");
    let (code, _) = equiform(root.path(), &["show", "."]);
    assert_eq!(code, Some(2), "this is neither a variant nor a case");
}
