//! `equiform generate` as people use it: in pipes, and for other tools.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use equiform::algebra::graph::NamedGraph;
use equiform::algebra::program::TermReader;

fn equiform(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform")).args(args).current_dir(folder).output().unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, args: &[&str]) -> String {
    let output = equiform(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn all_programs_that_are_printed_mean_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["sexpr", "json"] {
        let args =
            ["generate", "--resources=4", "--edges=3", "--variants=50", "--batches=3", "--format", format];
        let programs = succeeds(folder.path(), &args);
        let parsed: Vec<_> = TermReader::new(programs.as_bytes()).map(|program| program.unwrap()).collect();
        assert_eq!(parsed.len(), 51);
        assert!(parsed.iter().all(|program| program.cuts.len() == 2), "{programs}");
        let graph = |number: usize| NamedGraph::new(&parsed[number].eval().unwrap(), &parsed[number].names);
        assert!((1..51).all(|number| graph(number) == graph(0)), "{programs}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(["generate", "--variants", "100000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn programs_are_written_for_other_tools_a_folder_for_each_variant_and_batch() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["generate", "--resources=4", "--edges=3", "--variants=3", "--batches=2", "--seed=3"];
    let printed = succeeds(folder.path(), &[&options[..], &["--out=new/programs", "--format=hcl"]].concat());
    assert_eq!(printed, "");
    let out = folder.path().join("new/programs");
    let names = |folder: &Path| {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&folder.path().join("new")), ["programs"], "nothing else is left");
    assert_eq!(names(&out), ["source", "variant-0000", "variant-0001", "variant-0002"]);
    for variant in names(&out) {
        assert_eq!(names(&out.join(&variant)), ["batch-1", "batch-2"]);
        let text = std::fs::read_to_string(out.join(&variant).join("batch-2/main.tf")).unwrap();
        // All of them end in the source: its resources, and an edge for each id that is referred to.
        assert_eq!(text.matches("resource \"mock_node\" \"r").count(), 4, "{text}");
        assert_eq!((text.matches(".id").count(), text.matches("\"x").count()), (3, 0), "{text}");
        assert!(text.contains("source = \"equiform.test/equiform/mock\""), "{text}");
    }
    // The programs are those that are printed as terms.
    let terms = succeeds(folder.path(), &options);
    let first = |term: &str| term.split("(cut ").nth(1).unwrap().matches("(add ").count();
    for (term, variant) in terms.lines().zip(names(&out)) {
        let text = std::fs::read_to_string(out.join(variant).join("batch-1/main.tf")).unwrap();
        assert!(text.matches("resource ").count() <= first(term), "{term}: {text}");
    }
    let again = equiform(folder.path(), &[&options[..], &["--out=new/programs", "--format=hcl"]].concat());
    assert_eq!(again.status.code(), Some(2));
    let said = String::from_utf8_lossy(&again.stderr);
    assert!(said.contains("new/programs is not empty: name a new folder with --out"), "{said}");
}
