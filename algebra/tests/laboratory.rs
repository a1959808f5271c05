//! The commands of the laboratory as people use them: in pipes, with errors that say where.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn lab(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_equiform-lab"))
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
    let output = lab(folder, args, input);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(code: i32, args: &[&str], input: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = lab(folder.path(), args, input);
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
    let output = lab(folder.path(), &build, "");
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
    assert!(fails(2, &["egraph", "draw", "--resources", "5"], "").contains("give fewer resources"));
}

const ATTRIBUTED: [&str; 2] = ["--algebra", "attributed"];

#[test]
fn programs_with_attributes_and_kinds_mean_their_source() {
    let folder = tempfile::tempdir().unwrap();
    for (generator, more) in [
        ("implicit", &[][..]),
        ("implicit", &["--length", "60"]),
        ("rewrite", &[]),
        ("egraph", &["--max-classes", "400"]),
    ] {
        let args =
            ["generate", "--resources", "4", "--edges", "3", "--variants", "50", "--generator", generator];
        let programs = succeeds(folder.path(), &[&args[..], &ATTRIBUTED, more].concat(), "");
        assert!(programs.contains("(set r0 "), "{programs}");
        assert!(programs.contains(" triggered_by "), "{programs}");
        let graphs = succeeds(folder.path(), &["eval"], &programs);
        assert_eq!(graphs.lines().count(), 51);
        assert!(graphs.lines().all(|graph| Some(graph) == graphs.lines().next()), "{generator}");
        assert!(graphs.contains("\"attributes\":{\"r0\":{"), "{graphs}");
    }
}

#[test]
fn a_source_may_have_attributes_and_kinds_if_the_algebra_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let graph = concat!(
        r#"{"nodes":["app","vpc"],"edges":[["vpc","app"]],"#,
        r#""attributes":{"app":{"label":"a"}},"kinds":[["vpc","app","triggered_by"]]}"#
    );
    let args = ["generate", "--source", "-", "--variants", "20"];
    let programs = succeeds(folder.path(), &[&args[..], &ATTRIBUTED].concat(), graph);
    let graphs = succeeds(folder.path(), &["eval"], &programs);
    assert!(graphs.lines().all(|line| line == graph), "{graphs}");
    assert!(fails(2, &args, graph).contains("it has attributes or kinds; give --algebra attributed"));
    let unknown = graph.replace("triggered_by", "loose");
    let message = fails(2, &[&args[..], &ATTRIBUTED].concat(), &unknown);
    assert!(message.contains("`loose` is not a kind of edges; there are refs, "), "{message}");
}

#[test]
fn eval_and_equiv_know_attributes_and_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let (left, right) = ("(set a pin b (set a pin a (add a empty)))", "(set a pin b (add a empty))");
    succeeds(folder.path(), &["equiv", left, right], "");
    let plain = "(con a b (add b (add a empty)))";
    let dressed = "(set b label c (con a b depends_on (add b (add a empty))))";
    assert_eq!(
        fails(1, &["equiv", plain, dressed], ""),
        "A and B differ; from A to B:\n~ node b: label none → c\n~ edge a → b: refs → depends_on\n"
    );
    assert_eq!(
        succeeds(folder.path(), &["eval"], dressed),
        concat!(
            r#"{"nodes":["a","b"],"edges":[["a","b"]],"#,
            r#""attributes":{"b":{"label":"c"}},"kinds":[["a","b","depends_on"]]}"#,
            "\n"
        )
    );
    let message = fails(2, &["eval"], "(set a\n  size 3 (add a empty))");
    assert!(message.contains("line 2, column 3: `size` is not an attribute; there are label, "), "{message}");
    let message = fails(2, &["equiv", "(set a pin c (add a empty))", "empty"], "");
    assert!(message.contains("A, line 1, column 12: `c` is not a value of pin; there are none, a and b"));
}

#[test]
fn rules_with_attributes_are_listed_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let rules = |action: &str| succeeds(folder.path(), &[&["rules", action][..], &ATTRIBUTED].concat(), "");
    assert_eq!(rules("list").lines().count(), 34);
    assert!(rules("check").ends_with("34 rules, 0 unsound\n"));
    let file = folder.path().join("mine.rules");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "mine first (set a x v (set a x w g)) = (set a x w g)\n").unwrap();
    let message = fails(1, &["rules", "check", "--file", path], "");
    assert!(message.starts_with("UNSOUND  first: with a = r0, x = label, v = a, w = none on"), "{message}");
    std::fs::write(&file, "mine last (set a x v (set a x w g)) = (set a x v g)\n").unwrap();
    let args = ["generate", "--generator", "rewrite", "--rules", path];
    assert!(fails(2, &args, "").contains("which the bare algebra does not have; give --algebra attributed"));
    succeeds(folder.path(), &[&args[..], &ATTRIBUTED].concat(), "");
    for (rule, problem) in [
        ("(set a :size v g) = g", "line 1, column 18: `size` is not an attribute; there are label, "),
        ("(set a :pin :c g) = g", "line 1, column 23: `c` is not a value of pin; there are none, a and b"),
        ("(con a b :weak g) = g", "line 1, column 20: `weak` is not a kind of edges; there are refs, "),
    ] {
        std::fs::write(&file, format!("mine name {rule}\n")).unwrap();
        for args in [&["rules", "check", "--file", path][..], &[&args[..], &ATTRIBUTED].concat()] {
            let message = fails(2, args, "");
            assert!(message.contains(problem), "{message}");
        }
    }
}

#[test]
fn an_e_graph_with_attributes_has_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let build = ["egraph", "build", "--resources", "1"];
    assert!(succeeds(folder.path(), &build, "").starts_with("2 classes, "));
    let attributed = [&build[..], &ATTRIBUTED].concat();
    let built = succeeds(folder.path(), &attributed, "");
    assert!(built.starts_with("49 classes, ") && built.ends_with("; built\n"), "{built}");
    assert!(succeeds(folder.path(), &attributed, "").ends_with("; read from the cache\n"));
    let many = [&["egraph", "build", "--resources", "3"][..], &ATTRIBUTED].concat();
    assert!(fails(2, &many, "").contains("give --timeout or --max-classes"));
    let draw = ["egraph", "draw", "--program", "(set a label b (add a empty))", "--format", "dot"];
    assert!(fails(2, &draw, "").contains("has attributes or kinds; give --algebra attributed"));
    let dot = succeeds(folder.path(), &[&draw[..], &ATTRIBUTED].concat(), "");
    assert!(dot.contains("a · a.label=b") && dot.contains("set a label b"), "{dot}");
}

#[test]
fn programs_and_studies_of_nothing_are_refused() {
    let from_one = "`0` is not a whole number of at least 1";
    assert!(fails(2, &["generate", "--batches=0"], "").contains(from_one));
    for option in ["--resources=0", "--resources=5,0", "--tests=0", "--sources=0", "--timeouts=0"] {
        let message = fails(2, &["study", "diversity", "--quick", option], "");
        assert!(message.contains(from_one), "{option}: {message}");
    }
}

#[test]
fn what_would_take_all_memory_is_refused_with_an_estimate() {
    for arguments in
        [&["generate", "--length=1000000000000"][..], &["study", "diversity", "--resources=100000000"]]
    {
        let message = fails(2, arguments, "");
        assert!(message.contains("; make it smaller, or give --allow-large"), "{message}");
    }
}

#[test]
fn options_that_have_no_effect_together_are_refused() {
    let idle = |arguments: &[&str], option: &str, because: &str| {
        let message = fails(2, arguments, "");
        let expected = format!("error: {option} has no effect {because}");
        assert!(message.contains(&expected), "{arguments:?}: {message}");
    };
    for (option, generators) in [
        ("--rules=x", "egraph or rewrite"),
        ("--timeout=1", "egraph"),
        ("--max-classes=9", "egraph"),
        ("--cache-dir=x", "egraph"),
        ("--rewrites=9", "rewrite"),
        ("--rewrite-time=9", "rewrite"),
    ] {
        let name = option.split('=').next().unwrap();
        idle(&["generate", option], name, &format!("except with --generator {generators}: leave it out"));
    }
    idle(
        &["generate", "--generator=rewrite", "--epsilon=0.5"],
        "--epsilon",
        "except with --generator implicit or egraph",
    );
    for option in ["--length=9", "--leave=0.5"] {
        let name = option.split('=').next().unwrap();
        idle(&["generate", "--generator=egraph", option], name, "except with --generator implicit");
    }
    idle(&["generate", "--cuts=even"], "--cuts", "with one batch");
    idle(&["generate", "--shape=real", "--resources=4"], "--resources", "with --shape real");
    let message = fails(2, &["rules", "list", "--file=x", "--algebra=bare"], "");
    assert!(message.contains("'--file <FILE>' cannot be used with '--algebra"), "{message}");
}

/// The example under a heading of the page about formats.
fn example(heading: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let (_, block) = section.split_once("\n```").unwrap();
    let (_, block) = block.split_once('\n').unwrap();
    block.split_once("\n```").unwrap().0.to_owned() + "\n"
}

#[test]
fn the_examples_of_rules_and_terms_in_the_docs_are_taken() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("own.rules"), example("Rules")).unwrap();
    let checked = succeeds(folder.path(), &["rules", "check", "--file=own.rules"], "");
    assert!(checked.ends_with("2 rules, 0 unsound\n"), "{checked}");
    let graph = succeeds(folder.path(), &["eval"], &example("Programs as terms"));
    assert_eq!(graph, "{\"nodes\":[\"network\",\"server\"],\"edges\":[[\"network\",\"server\"]]}\n");
}

#[test]
fn a_rule_file_that_is_wrong_is_refused_with_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.rules");
    std::fs::write(&file, "commute add-past-rem (add a\n").unwrap();
    let file = format!("={}", file.display());
    let option = |name: &str| format!("--{name}{file}");
    for arguments in
        [&["rules", "check", &option("file")][..], &["generate", "--generator=rewrite", &option("rules")]]
    {
        let message = fails(2, arguments, "");
        for part in ["own.rules: line 1, column ", "`family name left = right if guard`", "docs/formats.md"] {
            assert!(message.contains(part), "{part:?}: {message}");
        }
    }
}
