//! The examples in `docs/formats.md` are what the commands take, and files that are wrong are told what is expected.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use equiform::judge::known::KnownFindings;

fn page() -> String {
    let root: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join("docs/formats.md")).unwrap()
}

/// The example under a heading of the page.
fn example(heading: &str) -> String {
    let page = page();
    let (_, section) =
        page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let section = section.split("\n## ").next().unwrap();
    let (_, block) = section.split_once("\n```").unwrap_or_else(|| panic!("no example of {heading}"));
    let (_, block) = block.split_once('\n').unwrap();
    block.split_once("\n```").unwrap().0.to_owned() + "\n"
}

/// A command in a folder, without an engine, with something on its standard input.
fn equiform(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    command
        .current_dir(folder)
        .args(arguments)
        .env("PATH", folder)
        .env("EQUIFORM_CACHE", folder.join("cache"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, arguments: &[&str], input: &str) -> String {
    let output = equiform(folder, arguments, input);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refused(folder: &Path, arguments: &[&str], parts: &[&str]) {
    let output = equiform(folder, arguments, "");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in parts.iter().chain(&["docs/formats.md"]) {
        assert!(said.contains(part), "{part:?}: {said}");
    }
}

#[test]
fn every_example_on_the_page_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("settings.toml"), example("Campaign settings")).unwrap();
    let run = equiform(folder, &["run", "--settings=settings.toml"], "");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        said.contains("terraform@1.15.5 is neither on the PATH nor installed"),
        "all settings are taken, and then there is no engine: {said}"
    );

    fs::write(folder.join("graph.json"), example("Graph JSON")).unwrap();
    let generated =
        succeeds(folder, &["generate", "--source=graph.json", "--algebra=attributed", "--variants=3"], "");
    assert_eq!(generated.lines().count(), 4);

    fs::write(folder.join("known.toml"), example("Known findings")).unwrap();
    let known = KnownFindings::read(&folder.join("known.toml")).unwrap();
    assert_eq!(known.get("fork-loses-label").unwrap().oracle.name(), "attributes");

    assert!(!example("Faults").parse::<equiform_proto::faults::Faults>().unwrap().is_empty());
}

#[test]
fn a_file_that_is_wrong_is_told_what_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, text) in [
        ("settings.toml", "seed = 7\nsede = 8\n"),
        ("graph.json", r#"{"nodes":["a"],"arrows":[]}"#),
        ("known.toml", "version = 2\n[[finding]]\nname = \"x\"\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let settings = ["settings.toml: line 2: there is no setting `sede`", "Expected is TOML", "`seed = 7`"];
    refused(folder, &["run", "--settings=settings.toml"], &settings);
    let graph = ["it is not a graph: unknown field `arrows`", r#"{"nodes":["a","b"],"edges":[["a","b"]]}"#];
    refused(folder, &["run", "--source=graph.json"], &graph);
    refused(folder, &["generate", "--source=graph.json"], &graph);
    let known = ["known.toml is no file of known findings: ", "missing field `text`", "[[finding]]"];
    refused(folder, &["judge", ".", "--known=known.toml"], &known);
}
