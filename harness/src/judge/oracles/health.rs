//! A well-formed program that follows on a well-formed one is deployed, and the engine stays sane.

use super::{Finding, Trial};
use crate::case::stage::{Defect, JudgedAs, ProgramRef};
use crate::evidence::{
    BLAMES_THE_PROVIDER, HAS_A_BUG, Output, PANIC, Refusal, StageRecord, StateFile, Warning,
};
use crate::spec::{Action, Failure};

/// For people.
pub const ABOUT: &str = "every command succeeds and waits: no error, crash, hang, lock or broken file left";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("health", kind, trial, text));
    let (record, output) = (&trial.evidence.record, &trial.evidence.output);
    if record.timed_out {
        found("hang", format!("{} did not end", record.command));
    } else if let Some(refusal) = due_refusal(trial) {
        if trial.evidence.succeeded {
            let (kind, text) = match refusal {
                Refusal::Provider => ("swallows a failure", "the provider failed an operation"),
                _ => ("accepts what it has to refuse", refusal.text()),
            };
            found(kind, format!("{} succeeded: {text}", record.command));
        } else if !refuses_for(refusal, record, output) {
            let kind = failure(record, output);
            let exit = record.exit.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
            found(kind, format!("{} ended with {exit}: {}", record.command, output.errors.join("; ")));
        }
    } else if marks_nothing(trial) {
        // An earlier stage failed to make what is to be marked: the engine has to say so.
        if trial.evidence.succeeded {
            found("marks what is not there", format!("{} succeeded", record.command));
        }
    } else if !trial.evidence.succeeded {
        let kind = failure(record, output);
        let exit = record.exit.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        found(kind, format!("{} ended with {exit}: {}", record.command, output.errors.join("; ")));
    } else if !output.errors.is_empty() {
        found("reports an error", output.errors.join("; "));
    }
    if let StateFile::Bad(why) = &trial.evidence.state {
        found("writes a state that cannot be read", why.clone());
    }
    // Commands that mark something in the state know no messages.
    let prints_text =
        matches!(trial.stage.action, Action::Mark(_) | Action::Unmark(_) | Action::Drift { .. });
    if let Some(line) = output.stray.as_ref().filter(|_| trial.evidence.succeeded && !prints_text) {
        found("prints what is no message", format!("{line:?}"));
    }
    for late in &trial.evidence.late {
        found("does not wait", format!("after the command had ended: {late}"));
    }
    if record.lock_left {
        found("lock left", "the state is still locked".to_owned());
    }
    warnings(trial, &mut found);
    for alarm in &output.alarms {
        found(alarm.meaning, format!("the engine printed {:?}", alarm.words));
    }
    findings
}

/// Whether something is to be marked that is not deployed.
fn marks_nothing(trial: &Trial<'_>) -> bool {
    match &trial.stage.action {
        Action::Mark(key) | Action::Unmark(key) => !trial.deployed.has(key),
        _ => false,
    }
}

/// The engine warns of what is only a part of the program, and of nothing else.
fn warnings(trial: &Trial<'_>, found: &mut dyn FnMut(&str, String)) {
    let action = &trial.stage.action;
    let is_saved = matches!(action, Action::ApplySaved(_));
    if !trial.evidence.succeeded || !(action.plans() || is_saved) {
        return;
    }
    let of_part = !trial.options.target.is_empty();
    let warned = &trial.evidence.output.warnings;
    // The apply of a saved plan makes none.
    let due = [
        (Warning::Targeted, of_part && !is_saved),
        (Warning::MayBeIncomplete, of_part && action.changes_the_world()),
    ];
    for (warning, is_due) in due {
        match (is_due, warned.contains(&warning)) {
            (true, false) => found("does not warn", format!("it does not say that {}", warning.text())),
            (false, true) => found("warns for nothing", format!("it says that {}", warning.text())),
            _ => {}
        }
    }
}

/// Why the engine has to fail, if it has to.
fn due_refusal(trial: &Trial<'_>) -> Option<Refusal> {
    let stage = trial.stage;
    if stage.judged_as == JudgedAs::Refused && !stage.is_to_be_refused(&trial.plan.operations) {
        return None;
    }
    match (stage.judged_as, trial.program_ref) {
        // An engine by whose rules the operation is not due does not meet the failure.
        (JudgedAs::Failure, _) => {
            let changes = |failure: &Failure| failure.operation.kind().is_some();
            let is_due = !trial.stage.failures.iter().all(changes) || !trial.expectation.failing.is_empty();
            is_due.then_some(Refusal::Provider)
        }
        (JudgedAs::Refused, ProgramRef::Broken { defect, .. }) => Some(match defect {
            Defect::Cycle { .. } => Refusal::Cycle,
            Defect::Dangling { .. } => Refusal::Dangling,
            Defect::SelfReference { .. } => Refusal::SelfReference,
            Defect::UnknownArgument { .. } => Refusal::UnknownArgument,
            Defect::MissingArgument { .. } => Refusal::MissingArgument,
            Defect::WrongType { .. } => Refusal::WrongType,
            Defect::Twice { .. } => Refusal::Twice,
            Defect::EmptyKey { .. } => Refusal::EmptyKey,
            Defect::PreventDestroy { .. } => Refusal::PreventDestroy,
        }),
        (JudgedAs::Refused, _) => Some(Refusal::StalePlan),
        _ => None,
    }
}

/// Whether an engine failed as it should: with exit code 1, for this reason, and for no other.
fn refuses_for(refusal: Refusal, record: &StageRecord, output: &Output) -> bool {
    record.exit == Some(1)
        && !output.errors.is_empty()
        && output.refusals.iter().all(|reason| *reason == Some(refusal))
        && output.alarms.is_empty()
}

/// What the provider says to an engine that sent it what no engine may send.
const BROKE_THE_PROTOCOL: &str = "The engine broke the plugin protocol";

/// What kind of failure it is: the first that fits, as one often comes with another.
fn failure(record: &StageRecord, output: &Output) -> &'static str {
    let alarmed = |meaning: &str| output.alarms.iter().any(|alarm| alarm.meaning == meaning);
    if record.exit.is_none() || alarmed(PANIC) {
        "crashes"
    } else if output.reports_a_cycle {
        "reports a cycle"
    } else if alarmed(BLAMES_THE_PROVIDER) {
        "finds a plan or a result inconsistent"
    } else if output.errors.iter().any(|error| error.contains(BROKE_THE_PROTOCOL)) {
        "breaks the protocol"
    } else if alarmed(HAS_A_BUG) {
        "says it has a bug"
    } else {
        "fails"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Alarm;

    fn kind(exit: Option<i32>, alarms: &[&'static Alarm], errors: &[&str], cycle: bool) -> &'static str {
        let record = StageRecord {
            stage: "batch-1".to_owned(),
            command: "apply".to_owned(),
            exit,
            timed_out: false,
            lock_left: false,
            milliseconds: 1,
            ledger_bytes: 0,
            warm: false,
        };
        let output = Output {
            alarms: alarms.iter().copied().collect(),
            errors: errors.iter().map(|&error| error.to_owned()).collect(),
            reports_a_cycle: cycle,
            ..Output::default()
        };
        failure(&record, &output)
    }

    #[test]
    fn kinds_of_failures_are_told_apart_and_the_graver_one_counts() {
        static CRASH: Alarm = Alarm { words: "panic: ", meaning: PANIC };
        static BUG: Alarm = Alarm { words: "This is a bug in", meaning: HAS_A_BUG };
        static BLAME: Alarm = Alarm { words: "Provider produced in", meaning: BLAMES_THE_PROVIDER };
        let protocol = ["Error: The engine broke the plugin protocol"];
        assert_eq!(kind(Some(1), &[], &["Error: something"], false), "fails");
        assert_eq!(kind(None, &[], &[], false), "crashes");
        assert_eq!(kind(Some(11), &[&CRASH, &BUG], &[], false), "crashes");
        assert_eq!(kind(Some(1), &[], &["Error: Cycle: a, b"], true), "reports a cycle");
        assert_eq!(kind(Some(1), &[&BLAME, &BUG], &[], false), "finds a plan or a result inconsistent");
        assert_eq!(kind(Some(1), &[&BUG], &protocol, false), "breaks the protocol");
        assert_eq!(kind(Some(1), &[&BUG], &[], false), "says it has a bug");
    }
}
