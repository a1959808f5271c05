//! `equiform run`, `merge`, `replay` and `judge` as people use them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use equiform::case::{CASE_FILE, Case};
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
    assert!(root.path().join("joint/report.html").exists());
    for file in ["campaign.json", "case-0000/case.json", "case-0001/case.json"] {
        let read = |folder: &str| fs::read_to_string(root.path().join(folder).join(file)).unwrap();
        assert_eq!(read("joint"), read("whole"), "{file}");
    }
    // When operations overlapped differs from run to run; what was exercised does not.
    let (whole, _) = json(&equiform(root.path(), &["judge", "whole", "--format=json"]));
    for rule in ["dependency-made-first", "dependent-deleted-first", "created", "left-alone", "unordered"] {
        let times = |report: &Value| report["exercised"]["rules"][rule]["exercised"].as_u64();
        assert!(times(&report) > Some(0), "{rule} was not exercised: {report:#}");
        assert_eq!(times(&report), times(&whole), "{rule}");
    }
    assert!(report["exercised"]["checks"]["batches"].as_u64() >= Some(3), "{report:#}");
    let never = report["exercised"]["not_exercised"].to_string();
    assert!(never.contains("rule 6 (removed-dependency-first)") && !never.contains("rule 1 "), "{never}");
}

#[test]
fn a_campaign_remembers_which_rules_it_leaves_out_and_all_commands_judge_without_them() {
    let root = tempfile::tempdir().unwrap();
    fs::write(
        root.path().join("small.toml"),
        "engine = \"terraform@1.15.5\"\nsources = 1\nvariants = 1\nbatches = 1\nresources = 3\nedges = 2\n\
         leave-out-rules = \"contested\"\n",
    )
    .unwrap();
    let left_out = |arguments: &[&str]| {
        let (report, code) = json(&equiform(root.path(), &[arguments, &["--format=json"]].concat()));
        assert_eq!(code, Some(0), "{report:#}");
        report["exercised"].get("left_out").map(Value::to_string)
    };
    let contested = Some(r#"["removed-dependency-first"]"#.to_owned());
    assert_eq!(left_out(&["run", "--settings=small.toml", "--out=out"]), contested);
    assert_eq!(left_out(&["run", "--resume=out"]), contested);
    assert_eq!(left_out(&["judge", "out"]), contested);
    assert_eq!(left_out(&["judge", "out", "--leave-out-rules=none"]), None);
    assert_eq!(
        left_out(&["replay", "out/case-0000", "--leave-out-rules=1"]),
        Some(r#"["dependency-made-first"]"#.to_owned())
    );
    let other = equiform(root.path(), &["run", "--resume=out", "--leave-out-rules=none"]);
    assert_eq!(other.status.code(), Some(2));
    let wrong = equiform(root.path(), &["run", "--leave-out-rules=created"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("cannot be left out"));
    let text = String::from_utf8(equiform(root.path(), &["judge", "out"]).stdout).unwrap();
    assert!(text.contains("\n  left out      rule 6 (removed-dependency-first)\n"), "{text}");
    assert!(text.contains("\n  not exercised rule "), "{text}");
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
    assert!(!text.contains("\n  time "), "it is for those who ask: {text}");
    let text = String::from_utf8(command(&["--out=third", "--verbose"]).stdout).unwrap();
    assert!(text.contains("\n  time          engine "), "{text}");
    let text = String::from_utf8(command(&["--out=third", "-v"]).stdout).unwrap();
    assert!(!text.contains("\n  time "), "nothing was left to run: {text}");
    let (report, _) = json(&equiform(root.path(), &["judge", "first", "--format=json"]));
    assert_eq!(report.get("spent"), None);
}

/// A case in which b, with create_before_destroy, is removed, and its dependency a is replaced.
pub fn case_with_a_known_cycle() -> Case {
    let added = "(set b create_before_destroy true (add b (add a (add p empty))))";
    let first = format!("(con a b pinned_refs (con p a pinned_refs {added}))");
    let program = format!("(rem b (disc a b (disc p a (cut {first}))))");
    let source = serde_json::from_str(r#"{"nodes":["a","p"],"edges":[]}"#).unwrap();
    let case = Case::new(0, source, vec![program]).unwrap();
    case.on(super::support::id("tofu@1.12.6"))
}

#[test]
fn a_case_keeps_its_number_wherever_it_is_judged_or_replayed() {
    let root = tempfile::tempdir().unwrap();
    let run = equiform(
        root.path(),
        &["run", "--engine=terraform@1.15.5", "--sources=2", "--variants=1", "--batches=1", "--resources=3"],
    );
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let case = ".equiform/campaign/case-0001";
    fs::write(root.path().join(case).join("variant-0000/batch-1/state.json"), "{\"resources\":[]}").unwrap();
    let number = |arguments: &[&str]| json(&equiform(root.path(), arguments)).0["cases"][0]["case"].clone();
    assert_eq!(number(&["judge", case, "--format=json"]), 1);
    assert_eq!(number(&["judge", ".equiform/campaign", "--format=json"]), 1);
    fs::rename(root.path().join(case), root.path().join("case-0024")).unwrap();
    assert_eq!(number(&["judge", "case-0024", "--format=json"]), 24);
    let replayed = equiform(root.path(), &["replay", "case-0024", "--out=elsewhere", "--junit=j.xml"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stderr));
    assert!(root.path().join("elsewhere/variant-0000/verdict.json").exists());
    let junit = fs::read_to_string(root.path().join("j.xml")).unwrap();
    assert!(junit.contains("classname=\"terraform@1.15.5.case-0024\""), "{junit}");
    // The folder's name does not tell it any more; the case does.
    let stored = fs::read_to_string(root.path().join("elsewhere/case.json")).unwrap();
    assert!(stored.contains("\"number\": 24"), "{stored}");
    fs::write(root.path().join("elsewhere/variant-0000/batch-1/state.json"), "{\"resources\":[]}").unwrap();
    assert_eq!(number(&["judge", "elsewhere", "--format=json"]), 24);
    let shown = json(&equiform(root.path(), &["show", "elsewhere/variant-0000", "--format=json"])).0;
    assert_eq!(shown["case"], 24);
}

#[test]
fn one_case_of_a_campaign_can_be_run_alone_and_the_others_later() {
    let root = tempfile::tempdir().unwrap();
    let run = |more: &[&str]| {
        let small =
            ["--sources=3", "--variants=2", "--batches=1", "--resources=3", "--edges=2", "--format=json"];
        json(&equiform(root.path(), &[&["run", "--engine=terraform@1.15.5"], &small[..], more].concat()))
    };
    let cases = || {
        let there = |number: &usize| root.path().join(format!("out/case-{number:04}")).exists();
        (0..3).filter(there).collect::<Vec<_>>()
    };
    let (report, code) = run(&["--out=out", "--case=1"]);
    assert_eq!((code, &report["counts"]["passed"], &report["only_case"]), (Some(0), &2.into(), &1.into()));
    assert_eq!((&report["complete"], &report["not_run"]), (&true.into(), &0.into()), "{report:#}");
    assert_eq!(cases(), [1]);
    let (report, _) = json(&equiform(root.path(), &["run", "--resume=out", "--case=2", "--format=json"]));
    assert_eq!((&report["counts"]["passed"], &report["from_earlier_run"]), (&2.into(), &0.into()));
    assert_eq!(cases(), [1, 2]);
    let (report, _) = run(&["--out=out"]);
    assert_eq!((&report["counts"]["passed"], &report["from_earlier_run"]), (&6.into(), &4.into()));
    assert!(report["repeat"].as_str().unwrap().ends_with(" --out out-again"), "{report:#}");
    // Only a case of the part, if it is a part.
    let (report, _) = run(&["--out=part", "--shard=2/2", "--case=1"]);
    assert_eq!(report["counts"]["passed"], 2);
}

#[test]
fn a_variant_is_replayed_by_its_folder_and_the_command_to_repeat_it_is_told() {
    let root = tempfile::tempdir().unwrap();
    let small = ["--sources=1", "--variants=3", "--batches=1", "--resources=3", "--edges=2"];
    let run =
        equiform(root.path(), &[&["run", "--engine=terraform@1.15.5", "--out=out"], &small[..]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let variant = "out/case-0000/variant-0002";
    let (report, code) = json(&equiform(root.path(), &["replay", variant, "--format=json"]));
    assert_eq!((code, &report["counts"]["passed"]), (Some(0), &1.into()), "{report:#}");
    assert_eq!(report["repeat"], format!("equiform replay {variant} --engine terraform@1.15.5"));
    let evidence = root.path().join(".equiform/replay/case-0000-terraform@1.15.5");
    assert!(evidence.join("variant-0002/verdict.json").exists() && !evidence.join("variant-0000").exists());
    let twice = equiform(root.path(), &["replay", variant, "--variant=1"]);
    assert_eq!(twice.status.code(), Some(2));
    let said = String::from_utf8_lossy(&twice.stderr);
    assert!(said.contains("--variant has no effect with the folder of a variant: leave it out"), "{said}");
    // What the replay left is a case with one variant, and is shown as such.
    let shown = equiform(root.path(), &["show", ".equiform/replay/case-0000-terraform@1.15.5"]);
    assert_eq!(String::from_utf8_lossy(&shown.stdout), "case 0: 1 variants passed, 0 did not\n");
}

#[test]
fn a_known_bug_is_reported_as_known_and_does_not_fail_a_replay() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("cycle")).unwrap();
    let text = serde_json::to_string(&case_with_a_known_cycle()).unwrap();
    fs::write(root.path().join("cycle").join(CASE_FILE), text).unwrap();
    let (report, code) = json(&equiform(root.path(), &["replay", "cycle", "--format=json"]));
    assert_eq!((code, &report["engine"]["name"]), (Some(0), &"tofu".into()), "{report:#}");
    assert_eq!(report["counts"]["known"], 1);
    assert_eq!(report["known"][0]["name"], "cycle-dependent-removed");
    assert_eq!(report["stages_not_reached"], 0, "a failure that leaves everything in order ends nothing");
    let evidence = ".equiform/replay/cycle-tofu@1.12.6";
    let (report, code) = json(&equiform(root.path(), &["judge", evidence, "--format=json", "--no-known"]));
    assert_eq!((code, &report["counts"]["failed"]), (Some(1), &1.into()), "{report:#}");
    let again = equiform(root.path(), &["judge", evidence]);
    assert_eq!(again.status.code(), Some(0));
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(said.contains("variant 0 batch-2: known: cycle-dependent-removed\n"), "{said}");
    let summary = String::from_utf8_lossy(&again.stdout);
    assert!(summary.contains("\n  known         1 × cycle-dependent-removed, such as "), "{summary}");
    let shown = |more: &[&str]| {
        let variant = format!("{evidence}/variant-0000");
        let output = equiform(root.path(), &[&["show", variant.as_str()], more].concat());
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = shown(&[]);
    assert_eq!(code, Some(0), "it exits as `judge` does: {text}");
    assert!(text.contains("  known     cycle-dependent-removed: a cycle is reported when "), "{text}");
    assert!(text.contains(": known\n"), "{text}");
    let (code, text) = shown(&["--no-known"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("  found     health: ") && !text.contains("  known "), "{text}");
}

/// A script around OpenTofu that puts other words into the cycles that it reports.
fn engine_that_reports(root: &Path, cycle: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let real = super::support::engine("tofu@1.12.6");
    let path = root.join("engine");
    let text = format!(
        "#!/bin/sh\nout=$({} \"$@\"); code=$?\nprintf '%s\\n' \"$out\" | \
         sed 's/Error: Cycle:[^\"]*/{cycle}/'\nexit $code\n",
        real.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("--engine={}", path.display())
}

#[test]
fn a_false_cycle_where_a_known_one_is_due_is_a_new_finding() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("cycle")).unwrap();
    let text = serde_json::to_string(&case_with_a_known_cycle()).unwrap();
    fs::write(root.path().join("cycle").join(CASE_FILE), text).unwrap();
    let replayed = |cycle: &str, out: &str| {
        let engine = engine_that_reports(root.path(), cycle);
        json(&equiform(root.path(), &["replay", "cycle", &engine, &format!("--out={out}"), "--format=json"]))
    };
    let (report, code) = replayed("&", "real");
    assert_eq!((code, &report["counts"]["known"]), (Some(0), &1.into()), "{report:#}");
    for (cycle, out) in [
        ("Error: Cycle: no resource at all", "nothing"),
        ("Error: Cycle: mock_node.p, mock_node.p (destroy)", "others"),
        ("&, mock_node.unheard_of", "more"),
    ] {
        let (report, code) = replayed(cycle, out);
        assert_eq!((code, &report["counts"]["failed"]), (Some(1), &1.into()), "{cycle}: {report:#}");
    }
}
