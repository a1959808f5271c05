//! What a script said when it was run on an engine, and the parts of it that are worth quoting.

use serde_json::Value as Json;

/// What a script said on an engine.
pub struct Observed {
    /// Its exit code; none if it was ended.
    pub exit: Option<i32>,
    /// What it printed.
    pub text: String,
    /// What it printed as an error.
    pub errors: String,
}

impl Observed {
    /// What the engine calls itself.
    pub fn version(&self) -> String {
        let after = self.text.split_once(" version\n").map_or("", |(_, after)| after);
        let lines = after.lines().take_while(|line| !line.starts_with("== ") && !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The last sentence, by which it tells what it found or why it could not be run.
    pub fn last_line(&self) -> String {
        let text = if self.errors.trim().is_empty() { &self.text } else { &self.errors };
        text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing").to_owned()
    }

    /// All commands, with what they said of operations, counts and errors: no plan in full, no hints.
    pub fn in_short(&self) -> String {
        let commands = self.commands().into_iter().map(|command| short(&command));
        commands.collect::<Vec<_>>().join("\n") + "\n"
    }

    /// The last command, in short, and what follows it.
    pub fn excerpt(&self) -> String {
        let commands = self.commands();
        let is_engine = |lines: &Vec<&str>| lines.first().is_some_and(|line| is_command(line));
        let last = commands.iter().rposition(is_engine).unwrap_or(0);
        commands[last..].iter().map(|command| short(command)).collect::<Vec<_>>().join("\n")
    }

    /// The lines, a list for each heading; of several tries the last, which shows the bug.
    fn commands(&self) -> Vec<Vec<&str>> {
        let mut commands: Vec<Vec<&str>> = Vec::new();
        for line in self.text.lines() {
            if line.starts_with(TRY) {
                commands.clear();
                continue;
            }
            if line.starts_with("== ") || commands.is_empty() {
                commands.push(Vec::new());
            }
            commands.last_mut().expect("there is one").push(line);
        }
        commands
    }
}

/// With what a script begins to try once more.
const TRY: &str = "== try ";

/// Whether a heading tells of a command of the engine: not of a program, and not of what is found in the end.
fn is_command(heading: &str) -> bool {
    let told = heading.strip_prefix("== ").unwrap_or_default();
    !told.contains("/main.tf") && !told.starts_with("the bug") && !told.starts_with("what the ledger")
}

/// A heading with what matters below it.
fn short(lines: &[&str]) -> String {
    let Some((heading, rest)) = lines.split_first() else { return String::new() };
    if !is_command(heading) || heading.ends_with(" version") {
        return lines.join("\n").trim_end().to_owned();
    }
    let mut told = vec![(*heading).to_owned()];
    let mut in_error = false;
    for line in rest {
        if line.starts_with('{') {
            told.extend(message(line));
            continue;
        }
        let tells = ["Plan: ", "Apply complete!", "Destroy complete!", "No changes."].iter();
        // An error goes on up to something else.
        in_error = match line.split([':', ' ']).next().unwrap_or_default() {
            "Error" => true,
            "Warning" | "Plan" | "Apply" | "Destroy" => false,
            _ => in_error,
        };
        let is_operation =
            line.contains(": ") && line.split_once(": ").is_some_and(|(_, what)| operates(what));
        if in_error || is_operation || tells.clone().any(|words| line.starts_with(words)) {
            told.push((*line).to_owned());
        }
    }
    told.join("\n").trim_end().to_owned()
}

/// A message of an engine that tells of an operation or an error, without all that is the same in each.
fn message(line: &str) -> Option<String> {
    let message: Json = serde_json::from_str(line).ok()?;
    let (kind, text) = (message["type"].as_str()?, message["@message"].as_str()?);
    (kind.starts_with("apply_") || message["@level"] == "error").then(|| format!("{kind}: {text}"))
}

/// Whether words of an engine about a resource tell of an operation.
fn operates(what: &str) -> bool {
    ["Creating", "Creation", "Modifying", "Modifications", "Destroying", "Destruction"]
        .iter()
        .any(|words| what.starts_with(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "\
== terraform version
Terraform v1.15.5
on linux_amd64
== 1/main.tf
== terraform init -no-color
Initializing the backend...
== terraform apply -no-color
a.b: Refreshing state... [id=x]

Terraform will perform the following actions:

  # a.b will be created

Plan: 1 to add, 0 to change, 0 to destroy.
a.b: Creating...

Warning: Resource targeting is in effect

You are creating a plan with the -target option
╷
Error: Cycle: a.b, a.c

more of it
== the bug shows: a cycle is reported
";

    #[test]
    fn what_matters_of_a_script_is_quoted_and_the_rest_is_not() {
        let observed = Observed { exit: Some(0), text: SAID.to_owned(), errors: String::new() };
        assert_eq!(observed.version(), "Terraform v1.15.5\non linux_amd64");
        assert_eq!(observed.last_line(), "== the bug shows: a cycle is reported");
        insta::assert_snapshot!(observed.in_short());
        insta::assert_snapshot!(observed.excerpt());
    }

    #[test]
    fn of_messages_what_matters_is_quoted_and_of_several_tries_the_last() {
        let line = |kind: &str, text: &str| {
            serde_json::json!({ "@level": "info", "@message": text, "type": kind, "hook": {} }).to_string()
        };
        let once = |end: &str| {
            format!(
                "== terraform version\nTerraform v1.15.5\n== terraform apply -json\n{}\n{}\n== the bug {end}\n",
                line("version", "Terraform 1.15.5"),
                line("apply_start", "a: Creating..."),
            )
        };
        let text = format!("== try 1\n{}== try 2\n{}", once("does not show"), once("shows"));
        let observed = Observed { exit: Some(0), text, errors: String::new() };
        assert_eq!(observed.version(), "Terraform v1.15.5");
        assert_eq!(
            observed.excerpt(),
            "== terraform apply -json\napply_start: a: Creating...\n== the bug shows"
        );
        assert!(!observed.in_short().contains("does not show"));
    }
}
