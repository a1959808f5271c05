//! `equiform run`, `merge`, `replay` and `judge` as people use them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use equiform::case::edges::EdgeChoice;
use equiform::case::{CASE_FILE, CASE_VERSION, Case};
use serde_json::Value;

fn equiform(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform")).current_dir(folder).args(arguments).output().unwrap()
}

/// What a command printed, as JSON, and its exit code.
fn json(output: &Output) -> (Value, Option<i32>) {
    let said = String::from_utf8_lossy(&output.stderr);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    (value, output.status.code())
}

#[test]
fn joined_parts_have_the_cases_and_verdicts_of_the_whole_campaign() {
    let root = tempfile::tempdir().unwrap();
    fs::write(
        root.path().join("small.toml"),
        "engine = \"terraform@1.15.5\"\nsources = 3\nvariants = 1\nbatches = 1\nresources = 3\nedges = 2\n",
    )
    .unwrap();
    let run = |more: &[&str]| {
        let output = equiform(root.path(), &[&["run", "--settings=small.toml"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["--out=whole"]);
    run(&["--out=first", "--shard=1/2"]);
    let half = equiform(root.path(), &["merge", "first", "--out=joint"]);
    assert_eq!(half.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&half.stderr), "error: part 2/2 is missing: name its folder too\n");
    run(&["--out=second", "--shard=2/2"]);
    let merged =
        equiform(root.path(), &["merge", "first", "second", "--out=joint", "--format=json", "--junit=j.xml"]);
    let (report, code) = json(&merged);
    assert_eq!((code, &report["counts"]["passed"]), (Some(0), &3.into()));
    let text = fs::read_to_string(root.path().join("j.xml")).unwrap();
    assert_eq!(text.matches("<testcase ").count(), 3);
    for file in ["campaign.json", "case-0000/case.json", "case-0001/case.json", "case-0002/verdict.json"] {
        let read = |folder: &str| fs::read_to_string(root.path().join(folder).join(file)).unwrap();
        assert_eq!(read("joint"), read("whole"), "{file}");
    }
}

#[test]
fn a_run_tells_where_the_time_went_and_what_was_not_run_just_now_does_not() {
    let root = tempfile::tempdir().unwrap();
    let command = |more: &[&str]| {
        let small = ["--sources=1", "--variants=1", "--batches=1", "--resources=3", "--edges=2"];
        let output =
            equiform(root.path(), &[&["run", "--engine=terraform@1.15.5"], &small[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        output
    };
    let (report, _) = json(&command(&["--out=first", "--format=json"]));
    let milliseconds = |kind: &str| report["spent"][kind].as_u64().unwrap_or_else(|| panic!("{report:#}"));
    let ours: u64 = ["generating", "rendering", "keeping", "judging"].map(milliseconds).iter().sum();
    assert!(ours < milliseconds("engine") && milliseconds("provider") < milliseconds("engine"), "{report:#}");
    let text = String::from_utf8(command(&["--out=second"]).stdout).unwrap();
    assert!(text.contains("\n  time          engine "), "{text}");
    let text = String::from_utf8(command(&["--out=second"]).stdout).unwrap();
    assert!(!text.contains("time"), "nothing was left to run: {text}");
    let (report, _) = json(&equiform(root.path(), &["judge", "first", "--format=json"]));
    assert_eq!(report.get("spent"), None);
}

/// A case in which b, with create_before_destroy, is removed, and its dependency a is replaced.
fn case_with_a_known_cycle() -> Case {
    let edges = |seed| EdgeChoice { seed, pinned: 1.0, depends_on: 0.0, create_before_destroy: 0.3 };
    let fits = |choice: &EdgeChoice| {
        ["p", "a", "b"].map(|key| choice.creates_before_destroy(key)) == [false, false, true]
    };
    Case {
        version: CASE_VERSION,
        seed: 0,
        engine: Some("tofu@1.12.6".to_owned()),
        left_out: Default::default(),
        source: serde_json::from_str(r#"{"nodes":["a","p"],"edges":[]}"#).unwrap(),
        edges: (0..).map(edges).find(fits).unwrap(),
        variants: vec![
            "(rem b (disc a b (disc p a (cut (con a b (con p a (add b (add a (add p empty)))))))))"
                .to_owned(),
        ],
    }
}

#[test]
fn a_known_bug_is_reported_as_known_and_does_not_fail_a_replay() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("cycle")).unwrap();
    let text = serde_json::to_string(&case_with_a_known_cycle()).unwrap();
    fs::write(root.path().join("cycle").join(CASE_FILE), text).unwrap();
    let (report, code) = json(&equiform(root.path(), &["replay", "cycle", "--format=json"]));
    assert_eq!((code, &report["engine"]), (Some(0), &"tofu@1.12.6".into()), "{report:#}");
    assert_eq!(report["counts"]["known"], 1);
    assert_eq!(report["known"][0]["name"], "cycle-dependent-removed");
    let evidence = ".equiform/replay/cycle-tofu@1.12.6";
    let (report, code) = json(&equiform(root.path(), &["judge", evidence, "--format=json", "--no-known"]));
    assert_eq!((code, &report["counts"]["failed"]), (Some(1), &1.into()), "{report:#}");
    let again = equiform(root.path(), &["judge", evidence]);
    assert_eq!(again.status.code(), Some(0));
    assert!(
        String::from_utf8_lossy(&again.stdout)
            .contains("variant 0 batch-2: known: cycle-dependent-removed\n")
    );
}
