//! A well-formed program that follows on a well-formed one is deployed, and the engine stays sane.

use super::{Finding, Trial};

/// For people.
pub const ABOUT: &str = "every command succeeds: no error, crash, hang or lock left";

/// Words that an engine prints only when it has caught itself in a mistake.
const WORDS: &[(&str, &str)] = &[
    ("panic: ", "panic"),
    ("This is a bug in", "says it has a bug"),
    ("Provider produced in", "blames the provider"),
    ("crash.log", "panic"),
];

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stage in trial.stages {
        let record = &stage.record;
        let may_differ = record.command.contains("-detailed-exitcode");
        if record.timed_out {
            let text = format!("{} did not end", record.command);
            findings.push(Finding::new("health", "hang", stage, text));
        } else if record.exit != Some(0) && !(may_differ && record.exit == Some(2)) {
            let cycle = stage.errors.iter().any(|error| error.contains("Cycle"));
            let kind = if cycle { "reports a cycle" } else { "fails" };
            let exit = record.exit.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
            let text = format!("{} ended with {exit}: {}", record.command, stage.errors.join("; "));
            findings.push(Finding::new("health", kind, stage, text));
        } else if !stage.errors.is_empty() {
            findings.push(Finding::new("health", "reports an error", stage, stage.errors.join("; ")));
        }
        if record.lock_left {
            findings.push(Finding::new("health", "lock left", stage, "the state is still locked"));
        }
        for (word, kind) in WORDS {
            if stage.text.contains(word) {
                findings.push(Finding::new("health", kind, stage, format!("the engine printed {word:?}")));
            }
        }
    }
    findings
}
