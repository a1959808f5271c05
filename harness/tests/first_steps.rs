//! What somebody meets first: the help.

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
    assert_eq!(listed[..6], ["run", "show", "judge", "replay", "compare", "merge"]);
    let groups = between(&help, "Groups of commands:\n", "\n\n");
    let in_groups: Vec<&str> = groups.flat_map(|line| line[18..].split(", ")).chain(["help"]).collect();
    assert_eq!(in_groups, listed);
}
