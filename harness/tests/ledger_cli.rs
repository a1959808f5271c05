//! `equiform ledger` as people run it, on the golden ledgers.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;

const GOOD: &str = "fixtures/ledgers/good.jsonl";
const TORN: &str = "fixtures/ledgers/torn.jsonl";
const TAMPERED: &str = "fixtures/ledgers/tampered.jsonl";
const OTHER_ROAD: &str = "fixtures/ledgers/other-road.jsonl";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn equiform(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    command.current_dir(root()).arg("ledger").args(args).env_remove("CLICOLOR_FORCE");
    command
}

struct Run {
    stdout: String,
    stderr: String,
    code: Option<i32>,
}

fn run(args: &[&str]) -> Run {
    let output = equiform(args).output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code(),
    }
}

/// All that a user sees of a command.
fn seen(args: &[&str]) -> String {
    let Run { stdout, stderr, code } = run(args);
    let mut text = format!("$ equiform ledger {}\n{stdout}", args.join(" "));
    if !stderr.is_empty() {
        text += &format!("--- stderr\n{stderr}");
    }
    text + &format!("--- exit code {}", code.unwrap())
}

fn entries(path: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(path)).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn show_gives_a_line_for_each_entry() {
    assert_snapshot!(seen(&["show", GOOD]));
}

#[test]
fn show_tells_of_torn_lines_and_of_an_unfinished_end() {
    assert_snapshot!(seen(&["show", TORN]));
}

#[test]
fn show_stops_at_the_first_bad_line() {
    assert_snapshot!(seen(&["show", TAMPERED]));
}

#[test]
fn filters_narrow_what_is_shown() {
    assert_snapshot!(seen(&["show", GOOD, "--key", "r1", "--op", "create,delete", "--phase", "commit"]));
    assert_snapshot!(seen(&["show", GOOD, "--run", "destroy", "--seq", "..18"]));
    assert_snapshot!(seen(&["show", GOOD, "--id", "node-c6h2n5jw\u{2026}"]));
}

#[test]
fn what_an_update_or_a_drift_changed_is_told() {
    let shown = run(&["show", GOOD, "--op", "update", "--phase", "commit"]).stdout;
    assert!(shown.contains("  label: null → \"blue\"  (began 7)\n"), "{shown}");
}

#[test]
fn it_is_told_if_no_entry_matches() {
    assert_snapshot!(seen(&["show", GOOD, "--key", "nobody"]));
    assert_snapshot!(seen(&["tail", GOOD, "--run", "nobody", "--op", "plan"]));
}

#[test]
fn json_is_the_ledgers_own_lines() {
    let good = entries(GOOD);
    assert_eq!(run(&["show", GOOD, "--format", "json"]).stdout.lines().collect::<Vec<_>>(), good);
    let range = run(&["show", GOOD, "--format", "json", "--seq", "5..7"]);
    assert_eq!(range.stdout.lines().collect::<Vec<_>>(), good[4..7]);
    let tail = run(&["tail", GOOD, "--format", "json", "-n", "3"]);
    assert_eq!(tail.stdout.lines().collect::<Vec<_>>(), good[good.len() - 3..]);
}

#[test]
fn a_range_that_ends_before_the_bad_line_is_shown() {
    assert_eq!(run(&["show", TAMPERED, "--seq", "..7"]).code, Some(0));
    assert_eq!(run(&["show", TAMPERED, "--seq", "..8"]).code, Some(1));
}

#[test]
fn tail_shows_the_last_entries() {
    assert_snapshot!(seen(&["tail", TORN, "-n", "2"]));
}

#[test]
fn verify_sums_up_a_ledger_that_is_whole() {
    assert_snapshot!(seen(&["verify", GOOD]));
    assert_snapshot!(seen(&["verify", TORN]));
    assert_snapshot!(seen(&["verify", TORN, "--format", "json"]));
}

#[test]
fn verify_names_the_first_bad_line() {
    assert_snapshot!(seen(&["verify", TAMPERED]));
    assert_snapshot!(seen(&["verify", TAMPERED, "--format", "json"]));
}

#[test]
fn world_lists_what_is_there() {
    assert_snapshot!(seen(&["world", GOOD, "--at", "14"]));
    assert_snapshot!(seen(&["world", TORN]));
    assert_snapshot!(seen(&["world", GOOD, "--format", "json"]));
    assert_snapshot!(seen(&["world", GOOD, "--at", "0"]));
    assert_snapshot!(seen(&["world", GOOD, "--at", "21"]));
    assert_snapshot!(seen(&["world", TAMPERED]));
}

#[test]
fn graph_json_is_exactly_the_graph_on_one_line() {
    let json = run(&["graph", GOOD, "--at", "6", "--format", "json"]);
    assert_eq!(
        json.stdout,
        "{\"nodes\":[\"r0\",\"r1\",\"r2\"],\"edges\":[[\"r0\",\"r1\"],[\"r0\",\"r2\"]]}\n"
    );
    assert_eq!((json.stderr.as_str(), json.code), ("", Some(0)));
}

#[test]
fn graph_merges_the_two_objects_of_a_replacement_under_way() {
    let json = run(&["graph", GOOD, "--at", "14", "--format", "json"]);
    assert_eq!(
        json.stdout,
        "{\"nodes\":[\"r0\",\"r1\",\"r2\"],\"edges\":[[\"r0\",\"r1\"],[\"r0\",\"r2\"],[\"r1\",\"r2\"]]}\n"
    );
}

#[test]
fn graph_tells_of_objects_that_share_a_key_and_so_are_one_node() {
    assert_snapshot!(seen(&["graph", GOOD, "--at", "14", "--format", "json"]));
    assert_snapshot!(seen(&["graph", GOOD, "--at", "14"]));
}

#[test]
fn graph_tells_of_references_that_lead_nowhere() {
    assert_snapshot!(seen(&["graph", TORN]));
    assert_snapshot!(seen(&["graph", TORN, "--format", "dot"]));
}

#[test]
fn diff_compares_two_points_of_a_ledger() {
    assert_snapshot!(seen(&["diff", GOOD]));
    assert_snapshot!(seen(&["diff", GOOD, "--from", "6", "--to", "16"]));
    assert_snapshot!(seen(&["diff", GOOD, "--from", "6", "--to", "16", "--format", "json"]));
    assert_snapshot!(seen(&["diff", GOOD, "--from", "6", "--to", "7"]));
}

#[test]
fn diff_compares_two_ledgers_by_key() {
    assert_snapshot!(seen(&["diff", GOOD, OTHER_ROAD]));
    assert_snapshot!(seen(&["diff", TORN, OTHER_ROAD]));
}

#[test]
fn what_is_no_ledger_gives_a_sentence_and_exit_code_2() {
    assert_snapshot!(seen(&["show", "fixtures/ledgers/missing.jsonl"]));
    assert_snapshot!(seen(&["world", "fixtures/ledgers"]));
    assert_snapshot!(seen(&["verify", "Cargo.toml"]));
    assert_snapshot!(seen(&["tail", "Cargo.toml"]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let told = |content: &str| {
        fs::write(&path, content).unwrap();
        let run = run(&["verify", path.to_str().unwrap()]);
        assert_eq!((run.stdout.as_str(), run.code), ("", Some(2)));
        run.stderr.replace(folder.path().to_str().unwrap(), "DIR")
    };
    assert_snapshot!(told(""));
    assert_snapshot!(told("{\"equiform_led"));
    assert_snapshot!(told("{\"equiform_ledger\":9,\"ident\":\"x\"}\n"));
}

#[test]
fn a_state_file_or_other_json_is_called_no_ledger_and_nobody_is_told_to_remove_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("terraform.tfstate");
    let name = path.to_str().unwrap();
    let state = "{\n  \"version\": 4,\n  \"terraform_version\": \"1.15.5\",\n  \"serial\": 1\n}\n";
    for content in [state, "{}", "{", "[1]\n", "{\"version\":4}\n", "{\"equiform_ledger\":\n 1}\n"] {
        fs::write(&path, content).unwrap();
        for command in ["show", "tail", "verify", "world", "graph", "diff"] {
            let Run { stdout, stderr, code } = run(&[command, name]);
            assert_eq!((stdout.as_str(), code), ("", Some(2)), "{command} on {content:?}: {stderr}");
            assert_eq!(
                stderr,
                format!(
                    "error: {name}: this is not an equiform ledger: its first line is not a ledger's header. \
                     Check that this is the path the provider was given\n"
                ),
                "{command} on {content:?}"
            );
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn an_operation_that_does_not_exist_is_refused_with_those_that_do() {
    let run = run(&["show", GOOD, "--op", "destroy"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr
            .contains("create, update, delete, read, import, plan, configure, stop, release, drift, mark"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_whole_ledger_whose_operations_contradict_each_other_does_not_verify() {
    // The chain is right; what the entry says cannot be.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let header = fs::read_to_string(root().join(GOOD)).unwrap().lines().next().unwrap().to_owned();
    let hash = equiform_proto::ledger::LineHash::of(header.as_bytes());
    let drift = format!(
        "{{\"seq\":1,\"time\":\"2026-03-01T09:00:00Z\",\"op\":\"drift\",\"phase\":\"commit\",\"id\":\"node-gone\",\
         \"provider_pid\":1,\"prev\":\"{hash}\"}}"
    );
    fs::write(&path, format!("{header}\n{drift}\n")).unwrap();
    let run = run(&["verify", path.to_str().unwrap()]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("line 2: seq 1: drift of node-gone, which does not exist"), "{}", run.stderr);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    fs::write(&path, long_ledger(3000)).unwrap();
    for command in ["show", "world"] {
        let mut child = equiform(&[command, path.to_str().unwrap(), "--format", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 1];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn follow_waits_for_the_ledger_and_shows_entries_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    let mut child = equiform(&["tail", "--follow", "--format", "json", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut waiting = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut waiting).unwrap();
    assert!(waiting.starts_with("note: waiting for a ledger at "), "{waiting}");

    let good = fs::read_to_string(root().join(GOOD)).unwrap();
    let good: Vec<&str> = good.lines().collect();
    let mut shown = BufReader::new(child.stdout.take().unwrap()).lines();
    File::create(&path).unwrap();
    let mut ledger = OpenOptions::new().append(true).open(&path).unwrap();
    writeln!(ledger, "{}\n{}", good[0], good[1]).unwrap();
    assert_eq!(shown.next().unwrap().unwrap(), good[1]);
    let (start, end) = good[2].split_at(30);
    write!(ledger, "{start}").unwrap();
    writeln!(ledger, "{end}\n{}", good[3]).unwrap();
    assert_eq!(shown.next().unwrap().unwrap(), good[2]);
    assert_eq!(shown.next().unwrap().unwrap(), good[3]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A ledger of objects that are created and stay.
fn long_ledger(objects: u64) -> Vec<u8> {
    use equiform_proto::ledger::{Attributes, Entry, LineHash, Operation, Phase};
    let header = fs::read_to_string(root().join(GOOD)).unwrap().lines().next().unwrap().to_owned();
    let mut prev = LineHash::of(header.as_bytes());
    let mut bytes = header.into_bytes();
    for seq in 1..=2 * objects {
        let phase = if seq % 2 == 1 { Phase::Begin } else { Phase::Commit };
        let mut entry = Entry::new(seq, Operation::Create, phase, 1, prev);
        entry.begin = (phase == Phase::Commit).then(|| seq - 1);
        entry.id = Some(format!("node-{:020}", seq.div_ceil(2)));
        entry.after = Some(Attributes::from_iter([("label".to_owned(), "x".repeat(100).into())]));
        let line = serde_json::to_vec(&entry).unwrap();
        prev = LineHash::of(&line);
        bytes.push(b'\n');
        bytes.extend(line);
    }
    bytes
}
