//! A well-formed program that follows on a well-formed one is deployed, and the engine stays sane.

mod blame;

use equiform_proto::faults::{Breach, Fault};

use super::{Trial, left_behind};
use crate::case::stage::{Defect, JudgedAs, ProgramRef};
use crate::evidence::{
    Alarm, AlarmMeaning, EngineError, LateEntry, Output, Refusal, StageRecord, StateFile, Warning,
};
use crate::judge::finding::detail::CommandEnd;
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::{Action, OperationKind};

/// What it looks at.
pub const ABOUT: &str =
    "every command succeeds, waits and leaves nothing behind: no error, crash, hang, lock or stray file";

/// Looks at how a command ended, what it printed and what it left.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = end(trial).into_iter().collect();
    let mut found = |kind, subjects: Vec<Subject>, detail| {
        findings.push(trial.finding(kind).about(subjects).with(detail));
    };
    let (record, output) = (&trial.evidence.record, &trial.evidence.output);
    if let StateFile::Bad(why) = &trial.evidence.state {
        found(FindingKind::StateUnreadable, Vec::new(), Detail::Quote { words: why.clone() });
    }
    // What was cut off is no message; a crash prints what it likes, and is reported as a crash.
    let is_whole = record.exit.is_some()
        && !record.timed_out
        && record.exceeded.is_none()
        && record.provider_killed.is_none();
    let crashes = output.alarms.iter().any(|alarm| alarm.meaning == AlarmMeaning::Panic);
    if let Some(line) = output.stray.as_ref().filter(|_| is_whole && trial.speaks() && !crashes) {
        found(FindingKind::StrayOutput, Vec::new(), Detail::Quote { words: line.clone() });
    }
    // A command that marks something says there why it cannot.
    let may_complain = !trial.speaks() && !trial.evidence.succeeded;
    let is_known = |line: &&String| trial.known_stderr.iter().any(|known| line.starts_with(known));
    let unknown = output.on_stderr.iter().find(|line| !is_known(line));
    if let Some(line) = unknown.filter(|_| is_whole && !may_complain && !crashes) {
        found(FindingKind::StderrOutput, Vec::new(), Detail::Quote { words: line.clone() });
    }
    for LateEntry { request, phase, key, seq, stage } in &trial.evidence.late {
        let resource = key.as_deref().map(Subject::resource);
        let subjects = resource.into_iter().chain([Subject::Entry { seq: *seq }]).collect();
        let detail = Detail::Late { request: *request, phase: *phase, stage: stage.clone() };
        found(FindingKind::DoesNotWait, subjects, detail);
    }
    if !record.left_running.is_empty() {
        let programs = record.left_running.clone();
        found(FindingKind::ProcessesLeft, Vec::new(), Detail::LeftRunning { programs });
    }
    if record.lock_left {
        found(FindingKind::LockLeft, Vec::new(), Detail::None);
    }
    if record.lock_broken {
        found(FindingKind::LockBroken, Vec::new(), Detail::None);
    }
    for (kind, warning) in warnings(trial) {
        found(kind, Vec::new(), Detail::Warning { warning });
    }
    // A program that nobody has a model of may be one to warn of.
    let unknown = output.diagnostics().filter(|it| !it.is_error && it.warning.is_none());
    for diagnostic in unknown.filter(|_| trial.model.is_some()) {
        let subjects = diagnostic.address.as_deref().map(Subject::address).into_iter().collect();
        found(FindingKind::WarningUnexpected, subjects, Detail::Quote { words: diagnostic.summary.clone() });
    }
    let is_to_blame = due_refusal(trial).is_some_and(Refusal::is_breach);
    for alarm in output.alarms.iter().filter(|alarm| !(is_to_blame && blames(alarm))) {
        let kind = match alarm.meaning {
            AlarmMeaning::Panic => FindingKind::Panic,
            AlarmMeaning::OwnBug => FindingKind::ReportsOwnBug,
            AlarmMeaning::BlamesProvider => FindingKind::BlamesProvider,
        };
        found(kind, Vec::new(), Detail::Quote { words: alarm.words.to_owned() });
    }
    findings.extend(blame::judge(trial));
    findings.extend(left_behind::files(trial));
    findings
}

/// What is wrong with how the command ended.
fn end(trial: &Trial<'_>) -> Option<Finding> {
    let (record, output) = (&trial.evidence.record, &trial.evidence.output);
    let succeeded = trial.evidence.succeeded;
    let found = |kind, end: CommandEnd| {
        let errors = match end {
            CommandEnd::Exit { .. } | CommandEnd::Signal => output.errors.clone(),
            CommandEnd::TimedOut
            | CommandEnd::Exceeded { .. }
            | CommandEnd::ProviderKilled { .. }
            | CommandEnd::Success { .. } => Vec::new(),
        };
        let nodes = errors.iter().flat_map(|error| error.cycle.iter().flatten());
        let mut addresses: Vec<&str> = nodes.map(|node| node.address.as_str()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        let subjects: Vec<Subject> = addresses.into_iter().map(Subject::address).collect();
        let detail = Detail::Command { command: record.command.clone(), end, errors };
        Some(trial.finding(kind).about(subjects).with(detail))
    };
    let fails = || {
        let end = record.exit.map_or(CommandEnd::Signal, |code| CommandEnd::Exit { code });
        found(failure(record, output), end)
    };
    if let Some(signal) = record.provider_killed {
        found(FindingKind::ProviderKilled, CommandEnd::ProviderKilled { signal })
    } else if let Some(excess) = record.exceeded {
        found(FindingKind::of_excess(excess.of), CommandEnd::Exceeded { excess })
    } else if record.timed_out {
        found(FindingKind::Hang, CommandEnd::TimedOut)
    } else if let Some(refusal) = due_refusal(trial) {
        let kind = match refusal {
            Refusal::Provider => FindingKind::FailureSwallowed,
            refusal if refusal.is_breach() => FindingKind::BreachAccepted,
            _ => FindingKind::InvalidAccepted,
        };
        match succeeded {
            true => found(kind, CommandEnd::Success { refusal: Some(refusal) }),
            false if refuses_for(refusal, record, output) => wrongly_blamed(trial, refusal),
            false => fails(),
        }
    } else if marks_nothing(trial) {
        // An earlier stage failed to make what is to be marked: the engine has to say so.
        succeeded.then(|| found(FindingKind::MissingObjectMarked, CommandEnd::Success { refusal: None }))?
    } else if !succeeded {
        fails()
    } else if !output.errors.is_empty() {
        Some(trial.finding(FindingKind::ReportsError).with(Detail::Errors { errors: output.errors.clone() }))
    } else {
        None
    }
}

/// Whether something is to be marked that is not deployed.
fn marks_nothing(trial: &Trial<'_>) -> bool {
    let Some(model) = &trial.model else { return false };
    match &trial.stage.action {
        Action::Mark(key) | Action::Unmark(key) => !model.deployed.has(key),
        _ => false,
    }
}

/// The engine warns of what is only a part of the program, and of nothing else: where it does not.
fn warnings(trial: &Trial<'_>) -> Vec<(FindingKind, Warning)> {
    let action = &trial.stage.action;
    let is_saved = matches!(action, Action::ApplySaved(_));
    if !trial.evidence.succeeded || !(action.plans() || is_saved) {
        return Vec::new();
    }
    let of_part = !trial.options.target.is_empty();
    // The apply of a saved plan makes none.
    let due = [
        (Warning::Targeted, of_part && !is_saved),
        (Warning::MayBeIncomplete, of_part && action.changes_the_world()),
    ];
    let wrong = due.into_iter().filter_map(|(warning, is_due)| {
        let warns = trial.evidence.output.diagnostics().any(|it| it.warning == Some(warning));
        match (is_due, warns) {
            (true, false) => Some((FindingKind::WarningMissing, warning)),
            (false, true) => Some((FindingKind::WarningUnfounded, warning)),
            _ => None,
        }
    });
    wrong.collect()
}

/// Why the engine has to fail, if it has to.
fn due_refusal(trial: &Trial<'_>) -> Option<Refusal> {
    let (stage, model) = (trial.stage, trial.model.as_ref());
    let is_moot = model.is_some_and(|model| !stage.is_to_be_refused(&model.plan.operations));
    if stage.judged_as == JudgedAs::Refused && is_moot {
        return None;
    }
    match (stage.judged_as, &stage.program) {
        // An engine by whose rules the operation is not due does not meet the failure, nor does one that leaves it out,
        // which is another finding.
        (JudgedAs::Failure, _) => {
            let faults = &trial.stage.faults;
            let is_due = match model {
                None => true,
                Some(model) if faults.iter().all(|fault| OperationKind::met_by(fault).is_some()) => {
                    let failing = &model.expectation.failing;
                    trial.evidence.operations.iter().any(|it| failing.contains(&it.operation))
                }
                Some(model) => {
                    let comes_first = |fault: &&Fault| OperationKind::met_by(fault).is_none();
                    faults.iter().filter(comes_first).any(|fault| model.deployed.meets(fault))
                }
            };
            let breach = trial.stage.faults.iter().find_map(|fault| fault.action.breach());
            is_due.then(|| breach.map_or(Refusal::Provider, refusal_of))
        }
        (JudgedAs::Refused, _) if stage.locked => Some(Refusal::Locked),
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

/// What an engine has to say where the provider breaks its contract.
fn refusal_of(breach: Breach) -> Refusal {
    match breach {
        Breach::InvalidPlan | Breach::InvalidReplacement => Refusal::InvalidPlan,
        Breach::WrongType => Refusal::WrongAnswer,
        Breach::InconsistentResult | Breach::MissingResult => Refusal::InconsistentResult,
        Breach::UnknownResult | Breach::ObjectRemains => Refusal::InvalidResult,
    }
}

/// Whether words of alarm are those by which an engine blames its provider.
fn blames(alarm: &Alarm) -> bool {
    matches!(alarm.meaning, AlarmMeaning::BlamesProvider | AlarmMeaning::OwnBug)
}

/// The engine blames the provider for another resource than the one whose answer broke the contract. Of an answer that
/// it cannot read it names none.
fn wrongly_blamed(trial: &Trial<'_>, refusal: Refusal) -> Option<Finding> {
    if !refusal.is_breach() || refusal == Refusal::WrongAnswer {
        return None;
    }
    let keys = trial.stage.faults.iter().filter_map(|fault| fault.call.key.as_deref());
    let due: Vec<String> = keys.map(|key| trial.address(&key.into())).collect::<Option<_>>()?;
    let errors = &trial.evidence.output.errors;
    let is_due = |error: &EngineError| error.blamed.as_ref().is_some_and(|blamed| due.contains(blamed));
    if errors.iter().all(is_due) {
        return None;
    }
    let subjects: Vec<Subject> = due.iter().map(|address| Subject::address(address)).collect();
    let detail = Detail::Errors { errors: errors.clone() };
    Some(trial.finding(FindingKind::WrongResourceBlamed).about(subjects).with(detail))
}

/// Whether an engine failed as it should: with exit code 1, for this reason, and for no other.
fn refuses_for(refusal: Refusal, record: &StageRecord, output: &Output) -> bool {
    record.exit == Some(1)
        && !output.errors.is_empty()
        && output.errors.iter().all(|error| error.refusal == Some(refusal))
        && output.alarms.iter().all(|alarm| refusal.is_breach() && blames(alarm))
}

/// What the provider says to an engine that sent it what no engine may send.
const BROKE_THE_PROTOCOL: &str = "The engine broke the plugin protocol";

/// What kind of failure it is: the first that fits, as one often comes with another.
fn failure(record: &StageRecord, output: &Output) -> FindingKind {
    let alarmed = |meaning: AlarmMeaning| output.alarms.iter().any(|alarm| alarm.meaning == meaning);
    if record.exit.is_none() || alarmed(AlarmMeaning::Panic) {
        FindingKind::Crash
    } else if output.reports_a_cycle {
        FindingKind::ReportsCycle
    } else if alarmed(AlarmMeaning::BlamesProvider) {
        FindingKind::ReportsInconsistency
    } else if output.errors.iter().any(|error| error.text.contains(BROKE_THE_PROTOCOL)) {
        FindingKind::BreaksProtocol
    } else if alarmed(AlarmMeaning::OwnBug) {
        FindingKind::ReportsOwnBug
    } else {
        FindingKind::Failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(exit: Option<i32>, alarms: &[&'static Alarm], errors: &[&str], cycle: bool) -> FindingKind {
        let record = StageRecord { exit, ..StageRecord::new("batch-1", "apply") };
        let output = Output {
            alarms: alarms.iter().copied().collect(),
            errors: errors.iter().map(|&error| EngineError::unknown(error)).collect(),
            reports_a_cycle: cycle,
            ..Output::default()
        };
        failure(&record, &output)
    }

    #[test]
    fn kinds_of_failures_are_told_apart_and_the_graver_one_counts() {
        static CRASH: Alarm = Alarm { words: "panic: ", meaning: AlarmMeaning::Panic };
        static BUG: Alarm = Alarm { words: "This is a bug in", meaning: AlarmMeaning::OwnBug };
        static BLAME: Alarm = Alarm { words: "Provider produced in", meaning: AlarmMeaning::BlamesProvider };
        let protocol = ["Error: The engine broke the plugin protocol"];
        assert_eq!(kind(Some(1), &[], &["Error: something"], false), FindingKind::Failure);
        assert_eq!(kind(None, &[], &[], false), FindingKind::Crash);
        assert_eq!(kind(Some(11), &[&CRASH, &BUG], &[], false), FindingKind::Crash);
        assert_eq!(kind(Some(1), &[], &["Error: Cycle: a, b"], true), FindingKind::ReportsCycle);
        assert_eq!(kind(Some(1), &[&BLAME, &BUG], &[], false), FindingKind::ReportsInconsistency);
        assert_eq!(kind(Some(1), &[&BUG], &protocol, false), FindingKind::BreaksProtocol);
        assert_eq!(kind(Some(1), &[&BUG], &[], false), FindingKind::ReportsOwnBug);
    }
}
