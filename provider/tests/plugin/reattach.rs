//! A provider that is up for any engine: how long it stays.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use crate::support::command;

/// A provider that has said where it is.
fn started(folder: &Path, options: &[&str], stdin: Stdio) -> Child {
    announced(folder, options, stdin).0
}

/// The same, and how it said so.
fn announced(folder: &Path, options: &[&str], stdin: Stdio) -> (Child, String) {
    let mut child =
        command(folder).arg("reattach").args(options).stdin(stdin).spawn().expect("the provider starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("export TF_REATTACH_PROVIDERS="), "{line}");
    (child, line)
}

#[test]
fn it_ends_and_removes_its_socket_when_its_starter_is_gone_if_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(folder.path(), &["--until-stdin-closes"], Stdio::piped());
    assert!(child.try_wait().unwrap().is_none());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn it_stays_without_an_input_if_nothing_is_said_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = started(folder.path(), &[], Stdio::null());
    // Long enough for the one above to have ended many times.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn it_tells_engines_to_speak_the_protocol_that_is_asked_for() {
    for (options, version) in [(&[][..], 6), (&["--protocol", "5"], 5), (&["--protocol=6"], 6)] {
        let folder = tempfile::tempdir().unwrap();
        let (mut child, line) = announced(folder.path(), options, Stdio::null());
        assert!(line.contains(&format!(r#""ProtocolVersion":{version}"#)), "{line}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let refused = command(tempfile::tempdir().unwrap().path()).args(["reattach", "--protocol=4"]).output();
    let stderr = String::from_utf8(refused.unwrap().stderr).unwrap();
    assert!(stderr.contains("5 and 6"), "{stderr}");
}

#[test]
fn the_line_to_export_is_one_word_of_a_shell_whatever_the_folder_is_called() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("it's here");
    std::fs::create_dir(&folder).unwrap();
    let (mut child, line) = announced(&folder, &[], Stdio::null());
    let script = format!("{line}printf %s \"$TF_REATTACH_PROVIDERS\"");
    let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let value: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("a shell reads the JSON back");
    let socket = value["equiform.test/equiform/mock"]["Addr"]["String"].as_str().unwrap();
    assert!(socket.starts_with(folder.to_str().unwrap()), "{socket}");
}
