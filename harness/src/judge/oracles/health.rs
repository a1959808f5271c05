//! A well-formed program that follows on a well-formed one is deployed, and the engine stays sane.

use super::{Finding, Trial};
use crate::evidence::StateFile;

/// For people.
pub const ABOUT: &str = "every command succeeds and waits: no error, crash, hang, lock or broken file left";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("health", kind, trial, text));
    let (record, output) = (&trial.evidence.record, &trial.evidence.output);
    if record.timed_out {
        found("hang", format!("{} did not end", record.command));
    } else if !trial.evidence.succeeded {
        let kind = if output.reports_a_cycle { "reports a cycle" } else { "fails" };
        let exit = record.exit.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        found(kind, format!("{} ended with {exit}: {}", record.command, output.errors.join("; ")));
    } else if !output.errors.is_empty() {
        found("reports an error", output.errors.join("; "));
    }
    if let StateFile::Bad(why) = &trial.evidence.state {
        found("writes a state that cannot be read", why.clone());
    }
    if let Some(line) = output.stray.as_ref().filter(|_| trial.evidence.succeeded) {
        found("prints what is no message", format!("{line:?}"));
    }
    for late in &trial.evidence.late {
        found("does not wait", format!("after the command had ended: {late}"));
    }
    if record.lock_left {
        found("lock left", "the state is still locked".to_owned());
    }
    for alarm in &output.alarms {
        found(alarm.meaning, format!("the engine printed {:?}", alarm.words));
    }
    findings
}
