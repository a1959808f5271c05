//! Running the package tools that fetch and build engines.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};

use super::Progress;

/// How many of a failed tool's last lines are shown.
const LINES_KEPT: usize = 15;

/// Runs `command` to its end and passes each line of its standard error on as progress.
pub(super) fn run(command: &mut Command, progress: &dyn Progress) -> Result<(), ToolFailed> {
    let mut last_lines = VecDeque::new();
    let ended = follow(command, |line| {
        progress.detail(&line);
        if last_lines.len() == LINES_KEPT {
            last_lines.pop_front();
        }
        last_lines.push_back(line);
    });
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let said = Vec::from(last_lines).join("\n");
            Err(ToolFailed { command: shown(command), why: status.to_string(), said })
        }
        Err(error) => {
            Err(ToolFailed { command: shown(command), why: error.to_string(), said: String::new() })
        }
    }
}

fn follow(command: &mut Command, mut line: impl FnMut(String)) -> io::Result<std::process::ExitStatus> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    if let Some(stderr) = child.stderr.take() {
        for bytes in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
            line(String::from_utf8_lossy(&bytes).trim_end().to_owned());
        }
    }
    child.wait()
}

/// The command as one would type it, short of the folders it runs in.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// A tool that did not do what it was called for.
#[derive(Debug, thiserror::Error)]
#[error("`{command}` failed ({why}){}{said}", if said.is_empty() { "" } else { ":\n" })]
pub struct ToolFailed {
    command: String,
    why: String,
    said: String,
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::Stage;
    use super::*;

    #[derive(Default)]
    struct Heard(RefCell<Vec<String>>);

    impl Progress for Heard {
        fn stage(&self, _: Stage) {}
        fn detail(&self, text: &str) {
            self.0.borrow_mut().push(text.to_owned());
        }
    }

    #[test]
    fn what_the_tool_says_is_passed_on_line_by_line() {
        let heard = Heard::default();
        run(Command::new("sh").args(["-c", "echo one >&2; echo unheard; printf two >&2"]), &heard).unwrap();
        assert_eq!(heard.0.into_inner(), ["one", "two"]);
    }

    #[test]
    fn a_failed_tool_is_told_with_its_command_and_its_last_lines() {
        let script = "for i in $(seq 100); do echo line $i >&2; done; exit 3";
        let error = run(Command::new("sh").args(["-c", script]), &Heard::default()).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("`sh -c {script}` failed (exit status: 3):\nline 86\n")),
            "{error}"
        );
        assert!(error.ends_with("line 100"), "{error}");
    }

    #[test]
    fn a_tool_that_is_not_there_is_told_too() {
        let error = run(&mut Command::new("/nowhere/tool"), &Heard::default()).unwrap_err().to_string();
        assert!(error.starts_with("`/nowhere/tool` failed (No such file"), "{error}");
    }
}
