//! Options that make no sense, or far too much work, are refused with a sentence before anything is made or
//! started.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn equiform(folder: &Path, arguments: &[&str]) -> Output {
    // An engine that is not there: if it were looked for, that would be told instead.
    Command::new(env!("CARGO_BIN_EXE_equiform"))
        .current_dir(folder)
        .args(arguments)
        .env("PATH", folder)
        .env("EQUIFORM_CACHE", folder.join("cache"))
        .output()
        .unwrap()
}

/// Demands that a command is refused with a sentence, and that it leaves nothing.
#[track_caller]
fn refused(arguments: &[&str], sentence: &str) {
    let folder = tempfile::tempdir().unwrap();
    let output = equiform(folder.path(), arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(stderr.contains(sentence), "{arguments:?}: {stderr}");
    assert_eq!(output.stdout, b"", "{arguments:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{arguments:?}");
}

const FROM_ONE: &str = "`0` is not a whole number of at least 1";
const NO_DURATION: &str = "is not a duration; give one such as 90s, 2m or 1h";

#[test]
fn a_campaign_of_nothing_is_refused() {
    for command in [&["run"][..], &["compare", "--engine=terraform", "--engine=tofu"]] {
        for option in ["--sources=0", "--variants=0", "--batches=0"] {
            refused(&[command, &[option]].concat(), FROM_ONE);
        }
        refused(&[command, &["--timeout=0"]].concat(), NO_DURATION);
        for option in ["--resources=0", "--resources=0..2"] {
            refused(&[command, &[option]].concat(), "it must be at least 1, or there is nothing to test");
        }
        refused(&[command, &["--jobs=0"]].concat(), "0 is not in 1..=1024");
    }
    for option in ["--timeout=0", "--jobs=0"] {
        refused(&["replay", "case-0000", option], option.trim_start_matches('-').split('=').next().unwrap());
    }
}

#[test]
fn workflows_that_make_no_sense_are_refused() {
    refused(&["run", "--workflows=plane"], "there is no workflow `plane`; `equiform workflows` lists them");
    refused(&["run", "--workflows=plain=60%,drift=60%"], "the shares add up to 120 %");
    refused(&["run", "--workflows=plain=0"], "`plain=0` is not a share");
    refused(&["run", "--algebra=rich"], "invalid value 'rich'");
}

#[test]
fn a_limit_that_lets_nothing_be_run_is_refused() {
    refused(&["run", "--max-findings=0"], FROM_ONE);
    for time in ["--for=0", "--for=0s", "--for=soon"] {
        refused(&["run", time], NO_DURATION);
    }
}

#[test]
fn a_campaign_that_is_given_a_time_may_be_as_long_as_it_likes() {
    let folder = tempfile::tempdir().unwrap();
    let output = equiform(folder.path(), &["run", "--sources=10000000", "--for=1h"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("terraform is neither on the PATH nor installed"), "{stderr}");
    refused(&["run", "--sources=10000000", "--for=10days"], "make it smaller, or give --allow-large");
}

#[test]
fn programs_of_nothing_are_refused() {
    refused(&["generate", "--batches=0"], FROM_ONE);
    refused(&["generate", "--threads=0"], "0 is not in 1..=1024");
}

#[test]
fn options_that_have_no_effect_together_are_refused() {
    let idle = |arguments: &[&str], option: &str, because: &str| {
        refused(arguments, &format!("error: {option} has no effect {because}"));
    };
    idle(&["generate", "--length=9", "--max-length=9"], "--max-length", "with --length");
    idle(&["generate", "--cuts=even"], "--cuts", "with one batch");
    idle(&["generate", "--out=x"], "--out", "except with --format hcl");
    refused(&["generate", "--format=hcl"], "--format hcl writes files: name a folder with --out");
    for option in ["--resources=4", "--edges=3"] {
        let name = option.split('=').next().unwrap();
        for command in [&["run"][..], &["compare", "--engine=terraform", "--engine=tofu"], &["generate"]] {
            idle(&[command, &["--shape=real", option]].concat(), name, "with --shape real");
        }
        let source = r#"--source={"nodes":["a"],"edges":[]}"#;
        for command in [&["run"][..], &["compare", "--engine=terraform", "--engine=tofu"]] {
            idle(&[command, &[source, option]].concat(), name, "with --source");
            idle(&[command, &[source, "--shape=real"]].concat(), "--shape", "with --source");
        }
    }
    let dressed = r#"--source={"nodes":["a"],"edges":[],"attributes":{"a":{"label":"a"}}}"#;
    refused(&["run", "--algebra=bare", dressed], "which --algebra bare does not have: leave one of them out");
    idle(&["run", "--cold", "--provider-mode=init"], "--cold", "with --provider-mode init");
    for command in [&["run"][..], &["judge", "."], &["merge", "a", "--out=b"]] {
        idle(&[command, &["-v", "--format=json"]].concat(), "--verbose", "with --format json");
    }
    idle(&["show", ".", "--all", "--format=json"], "--all", "with --format json");
    idle(&["show", ".", "--graph", "--format=json"], "--graph", "with --format json");
    refused(&["ledger", "show", "x", "--all", "--op=create"], "'--all' cannot be used with '--op");
    refused(&["ledger", "tail", "x", "--all", "--seq=1"], "'--all' cannot be used with '--seq");
}

#[test]
fn more_edges_than_there_are_pairs_are_refused() {
    let sentence = "3 resources allow at most 3 edges, not 4";
    for command in ["run", "generate"] {
        refused(&[command, "--resources=3", "--edges=4"], sentence);
        refused(&[command, "--resources=2..3", "--edges=4..9"], sentence);
    }
    refused(&["compare", "--engine=terraform", "--engine=tofu", "--resources=3", "--edges=4"], sentence);
}

#[test]
fn a_case_that_the_campaign_or_its_part_does_not_have_is_refused() {
    refused(&["run", "--sources=5", "--case=5"], "there is no case 5: the campaign has the cases 0 to 4");
    refused(&["run", "--case=2", "--shard=1/4"], "case 2 is not in part 1/4, but in part 3/4");
}

#[test]
fn a_settings_file_counts_where_options_have_no_effect_together() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("real.toml"), "shape = \"real\"\nresources = 4\n").unwrap();
    let output = equiform(folder.path(), &["run", "--settings=real.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.starts_with("error: --resources has no effect with --shape real"), "{stderr}");
}

#[test]
fn a_settings_file_that_asks_for_nothing_is_refused_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    for (setting, sentence) in [("sources = 0", FROM_ONE), ("resources = \"0..2\"", "it must be at least 1")]
    {
        fs::write(folder.path().join("none.toml"), format!("seed = 1\n{setting}\n")).unwrap();
        let output = equiform(folder.path(), &["run", "--settings=none.toml"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with("error: none.toml: line 2: ") && stderr.contains(sentence), "{stderr}");
    }
}

#[test]
fn a_case_without_variants_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let case = r#"{"version":5,"seed":0,"source":{"nodes":[],"edges":[]},"variants":[]}"#;
    fs::write(folder.path().join("case.json"), case).unwrap();
    for command in ["replay", "judge"] {
        let output = equiform(folder.path(), &[command, "."]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains("case.json has no variants: there is nothing to run or to judge"),
            "{stderr}"
        );
    }
}

#[test]
fn what_would_take_all_memory_or_weeks_is_refused_with_an_estimate() {
    let advice = "; make it smaller, or give --allow-large";
    refused(&["run", "--resources=100000000"], "resources and 16 edges take an estimated ");
    for option in ["--resources=3..100000000", "--variants=1000000000000", "--sources=1000000000000"] {
        refused(&["run", option], advice);
        refused(&["run", option], " days");
    }
    for option in ["--resources=100000000", "--length=1000000000000", "--foreign=4000000000"] {
        refused(&["generate", option], advice);
    }
    refused(&["generate", "--max-length=1000000000000"], advice);
}
