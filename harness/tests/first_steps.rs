//! What somebody meets first: the help, what the doctor says, completions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn equiform(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    command.args(arguments);
    command
}

/// What a command prints, which must succeed.
#[track_caller]
fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The lines between two others.
fn between<'a>(text: &'a str, from: &str, to: &str) -> impl Iterator<Item = &'a str> {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0.lines().filter(|line| !line.is_empty())
}

#[test]
fn the_help_lists_commands_in_the_order_of_use_and_names_them_all_in_groups() {
    let help = printed(&mut equiform(&["--help"]));
    // A line that goes on with a sentence begins with more blanks.
    let own = between(&help, "Commands:\n", "\nOptions:").filter(|line| !line.starts_with("   "));
    let listed: Vec<&str> = own.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(listed[..7], ["run", "show", "judge", "report", "replay", "compare", "merge"]);
    let groups = between(&help, "Groups of commands:\n", "\n\n");
    let in_groups: Vec<&str> = groups.flat_map(|line| line[18..].split(", ")).chain(["help"]).collect();
    assert_eq!(in_groups, listed);
}

/// What the doctor says in a folder, with nothing but it on the PATH and in the cache.
fn doctor_in(folder: &Path) -> (Option<i32>, String, String) {
    let output = equiform(&["doctor"])
        .current_dir(folder)
        .env("PATH", folder)
        .env("EQUIFORM_CACHE", folder.join("cache"))
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The lines that begin with a word.
fn beginning<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.starts_with(word)).collect()
}

#[test]
fn a_machine_that_can_run_a_campaign_is_told_so() {
    let said = printed(&mut equiform(&["doctor"]));
    let found = beginning(&said, "ok ");
    for what in ["equiform: ", "provider: ", "room for campaigns: ", "terraform: ", "room for engines: "] {
        assert!(found.iter().any(|line| line[9..].starts_with(what)), "{what}: {said}");
    }
    assert!(said.ends_with("a campaign can be run: `equiform run`\n"), "{said}");
}

#[test]
fn a_machine_without_an_engine_is_told_what_to_type_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let (code, said, error) = doctor_in(folder.path());
    assert_eq!(code, Some(2), "{said}{error}");
    assert_eq!(error, "error: no campaign can be run here: see what is missing above\n");
    let missing = beginning(&said, "missing ");
    for (what, help) in [
        ("terraform: ", "`equiform engines install terraform`"),
        ("tofu: ", "`equiform engines install tofu`"),
        ("python3: ", "install Python 3 with pip"),
        ("go: ", "install Go"),
    ] {
        assert!(missing.iter().any(|it| it[9..].starts_with(what) && it.contains(help)), "{what}: {said}");
    }
    assert_eq!(missing.len(), 4, "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_engine_that_does_not_answer_is_told_and_another_name_will_do() {
    let folder = tempfile::tempdir().unwrap();
    for (name, answer) in [("terraform", "hello"), ("tofu", r#"{"terraform_version":"1.12.6"}"#)] {
        let path = folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\necho '{answer}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (code, said, error) = doctor_in(folder.path());
    assert_eq!(code, Some(0), "{said}{error}");
    assert!(said.contains("/terraform does not answer `version -json` as an engine does"), "{said}");
    assert!(said.contains(&format!("tofu: 1.12.6, on the PATH at {}", folder.path().display())), "{said}");
    assert!(said.ends_with("a campaign can be run: `equiform run --engine tofu`\n"), "{said}");
}

#[test]
fn a_provider_that_is_missing_or_does_not_start_is_told() {
    for (provider, help) in [("/nowhere", "build it with `make build`"), ("/bin/true", "is another program")]
    {
        let output = equiform(&["doctor"]).env("EQUIFORM_PROVIDER", provider).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(beginning(&said, "missing  provider: ").iter().any(|line| line.contains(help)), "{said}");
    }
}

#[test]
fn every_shell_has_completions_that_name_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&mut equiform(&["completions", shell]));
        for word in ["replay", "doctor", "create-before-destroy"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn bash_completes_a_command_and_its_options() {
    let script = printed(&mut equiform(&["completions", "bash"]));
    let asked =
        "COMP_WORDS=(equiform run --sou); COMP_CWORD=2; _equiform equiform --sou run; echo ${COMPREPLY[@]}";
    let completed = printed(Command::new("bash").args(["-c", &format!("{script}\n{asked}")]));
    assert_eq!(completed, "--sources --source\n");
}

#[test]
fn a_shell_that_is_unknown_is_told_with_those_there_are() {
    let output = equiform(&["completions", "tcsh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("possible values: bash, elvish, fish, powershell, zsh"), "{error}");
}
