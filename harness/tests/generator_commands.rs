//! The commands of the generator as people use them: in pipes, with errors that say where.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn equiform(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_equiform"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early does not read its input to the end.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, args: &[&str], input: &str) -> String {
    let output = equiform(folder, args, input);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(code: i32, args: &[&str], input: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = equiform(folder.path(), args, input);
    assert_eq!(output.status.code(), Some(code), "{args:?}");
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn what_generate_prints_eval_reads_and_finds_equal() {
    let folder = tempfile::tempdir().unwrap();
    for generator in ["implicit", "egraph", "rewrite"] {
        for format in ["sexpr", "json"] {
            let args = [
                "generate",
                "--resources",
                "4",
                "--edges",
                "3",
                "--variants",
                "50",
                "--batches",
                "3",
                "--seed",
                "4",
            ];
            let args = [&args[..], &["--generator", generator, "--format", format]].concat();
            let programs = succeeds(folder.path(), &args, "");
            assert_eq!(programs.lines().count(), 51);
            let graphs = succeeds(folder.path(), &["eval"], &programs);
            assert_eq!(graphs.lines().count(), 51);
            assert!(graphs.lines().all(|graph| Some(graph) == graphs.lines().next()), "{generator}");
            let batches = succeeds(folder.path(), &["eval", "--each-batch"], &programs);
            assert_eq!(batches.lines().count(), 3 * 51);
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let run = |threads: &str| {
        succeeds(
            folder.path(),
            &["generate", "--shape", "real", "--seed", "9", "--variants", "3000", "--threads", threads],
            "",
        )
    };
    assert_eq!(run("1"), run("4"));
}

#[test]
fn a_source_may_be_any_graph() {
    let folder = tempfile::tempdir().unwrap();
    let graph = r#"{"nodes":["a b","app","vpc"],"edges":[["vpc","app"]]}"#;
    let programs = succeeds(folder.path(), &["generate", "--source", "-", "--variants", "20"], graph);
    let graphs = succeeds(folder.path(), &["eval"], &programs);
    assert!(graphs.lines().all(|line| line == graph), "{graphs}");
}

#[test]
fn variants_have_the_length_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let programs =
        succeeds(folder.path(), &["generate", "--length", "30", "--variants", "40", "--format", "json"], "");
    assert!(programs.lines().skip(1).all(|line| line.contains("\"steps\":30,")), "{programs}");
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
fn equal_programs_exit_with_0_and_different_ones_with_1() {
    let folder = tempfile::tempdir().unwrap();
    succeeds(folder.path(), &["equiv", "(rem a (add b (add a empty)))", "(add b empty)"], "");
    let difference = fails(1, &["equiv", "(con a b (add b (add a empty)))", "(add a (add c empty))"], "");
    assert_eq!(difference, "A and B differ; from A to B:\n- node b\n+ node c\n- edge a → b\n");
    assert!(fails(2, &["equiv", "(rem a empty)", "empty"], "").contains("A, line 1, column 2"));
}

#[test]
fn eval_says_line_and_column() {
    let message = fails(2, &["eval"], "(add a empty)\n(add b\n  (rem c empty))\n");
    assert_eq!(
        message,
        "{\"nodes\":[\"a\"],\"edges\":[]}\n\
         error: standard input, line 3, column 4: (rem c …): c is not in the graph at this point; add it first\n"
    );
}

#[test]
fn rules_are_checked_and_unsound_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(succeeds(folder.path(), &["rules", "list"], "").lines().count(), 25);
    assert!(succeeds(folder.path(), &["rules", "check"], "").ends_with("25 rules, 0 unsound\n"));
    let file = folder.path().join("mine.rules");
    std::fs::write(&file, "mine swallow (rem a (con a b g)) = (rem a g)\n").unwrap();
    let file = file.to_str().unwrap();
    assert!(
        fails(1, &["rules", "check", "--file", file], "")
            .starts_with("UNSOUND  swallow: with a = r0, b = r1")
    );
    assert!(
        fails(2, &["egraph", "build", "--resources", "2", "--rules", file], "")
            .contains("is unsound and is refused")
    );
    assert!(
        fails(2, &["generate", "--generator", "rewrite", "--rules", file], "")
            .contains("is unsound and is refused")
    );
}

#[test]
fn an_e_graph_is_built_once_and_a_damaged_file_is_built_again() {
    let folder = tempfile::tempdir().unwrap();
    let build = ["egraph", "build", "--resources", "3"];
    assert_eq!(succeeds(folder.path(), &build, ""), "18 classes, 154 e-nodes, saturated; built\n");
    assert_eq!(
        succeeds(folder.path(), &build, ""),
        "18 classes, 154 e-nodes, saturated; read from the cache\n"
    );
    let cache = folder.path().join(".equiform/cache");
    let file = std::fs::read_dir(cache).unwrap().next().unwrap().unwrap().path();
    std::fs::write(file, "rubbish").unwrap();
    let output = equiform(folder.path(), &build, "");
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("it is not a stored e-graph; the e-graph was built again")
    );
    let stats = succeeds(folder.path(), &["egraph", "stats", "--resources", "3", "--format", "json"], "");
    assert!(stats.contains("\"classes\":18") && stats.contains("\"ending\":\"saturated\""), "{stats}");
}

#[test]
fn an_e_graph_of_a_program_is_drawn_under_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["egraph", "draw", "--program", "(rem a (add b (add a empty)))"];
    assert!(succeeds(folder.path(), &args, "").contains("<svg"));
    let dot = succeeds(folder.path(), &[&args[..], &["--format", "dot"]].concat(), "");
    assert!(dot.contains("label=\"a b · a→b\""), "{dot}");
    assert!(fails(2, &["egraph", "draw", "--resources", "5"], "").contains("take fewer resources"));
}
