//! What happened to a variant, by the command that people type.

use std::process::Command;
use std::time::Duration;

use equiform::campaign::Settings;
use equiform::case::CASE_FILE;
use equiform::deploy::Start;
use equiform::engines::driver::ProviderMode;
use equiform::judge::variant::variant_folder;

use super::support::{engine, provider, runner};

#[test]
fn a_variant_is_shown_stage_by_stage_with_what_was_expected_and_done() {
    let (folder, provider) = (tempfile::tempdir().unwrap(), provider(ProviderMode::Reattach));
    let runner = runner(&engine("terraform@1.15.5"), &provider, Duration::from_secs(120));
    let settings =
        Settings { variants: 1, batches: 1, resources: 2..=2, edges: 1..=1, ..Settings::default() };
    let case = settings.case(0);
    std::fs::write(folder.path().join(CASE_FILE), serde_json::to_string(&case).unwrap()).unwrap();
    let place = variant_folder(folder.path(), 0);
    runner.deploy(&case, 0, &place, Start::Cold).unwrap();
    let show = || {
        let output = Command::new(env!("CARGO_BIN_EXE_equiform")).arg("show").arg(&place).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = show();
    assert_eq!(code, Some(0), "{text}");
    // Configured twice, and each planned twice: once with all the others, once before it is created.
    assert!(text.contains("  expected  +r0 +r1\n  did       +r0[6..7] +r1[9..10]\n"), "{text}");
    std::fs::remove_file(place.join("batch-1/state.json")).unwrap();
    let (code, text) = show();
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("  found     state: missing"), "{text}");
    assert!(text.contains("variant-0000/batch-1\n"), "{text}");
}
