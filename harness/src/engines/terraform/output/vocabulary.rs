//! Terraform's words: alarms, errors, warnings, actions and reasons, and what they mean.

use super::cycle;
use super::wording::words;
use crate::evidence::{Alarm, AlarmMeaning, Diagnostic, EngineError, PlannedReason, Refusal, Warning};
use crate::spec::OperationKind;
use crate::spec::encoding::NODE_TYPE;

/// What a Go program prints when it crashes, and what an engine prints when it has caught itself in a mistake.
const ALARMS: &[Alarm] = &[
    Alarm { words: "panic: ", meaning: AlarmMeaning::Panic },
    Alarm { words: "fatal error: ", meaning: AlarmMeaning::Panic },
    Alarm { words: "WARNING: DATA RACE", meaning: AlarmMeaning::Panic },
    Alarm { words: "[running]:", meaning: AlarmMeaning::Panic },
    Alarm { words: "SIGSEGV", meaning: AlarmMeaning::Panic },
    Alarm { words: "crash.log", meaning: AlarmMeaning::Panic },
    Alarm { words: OWN_BUG, meaning: AlarmMeaning::OwnBug },
    Alarm { words: BLAME, meaning: AlarmMeaning::BlamesProvider },
];

const OWN_BUG: &str = "This is a bug in";
const BLAME: &str = "Provider produced in";

/// Whether a line that is no message has words that an engine prints only when it has caught itself in a mistake.
pub fn is_alarming(line: &str) -> bool {
    alarms(line).next().is_some()
}

/// The words of alarm in a line that is no message. Names and values of a program are in messages only.
pub fn alarms(line: &str) -> impl Iterator<Item = &'static Alarm> {
    let line = words(line);
    ALARMS.iter().filter(move |alarm| line.contains(alarm.words))
}

/// The words of alarm in an error. What is in quotes is from the program or the provider, as is an error that the
/// provider gives on demand.
pub fn alarms_in(diagnostic: &Diagnostic) -> impl Iterator<Item = &'static Alarm> {
    let own = !matches!(diagnostic.refusal, Some(Refusal::Provider | Refusal::EmptyKey));
    let detail: String = diagnostic.detail.split('"').step_by(2).collect();
    let says = format!("{} {detail}", diagnostic.summary);
    ALARMS
        .iter()
        .filter(move |alarm| own && alarm.meaning != AlarmMeaning::Panic && says.contains(alarm.words))
}

/// What an engine said, in one line.
pub fn in_one_line(said: &str) -> String {
    cycle::in_one_line(said).unwrap_or_else(|| words(said).trim_end().to_owned())
}

/// An error by its words. What is kept of it is one line.
pub fn error(said: &str) -> EngineError {
    let text = in_one_line(said);
    // What follows a colon is about this one error: names, ids, paths.
    let summary = text
        .split_once("Error: ")
        .map(|(_, said)| said.split([':', ';']).next().unwrap_or(said).trim().to_owned());
    EngineError { summary, refusal: refusal(&text), blamed: None, cycle: cycle::nodes(said), text }
}

/// The resource that an engine names where it blames the provider. An attribute may follow its name.
pub fn blamed(detail: &str) -> Option<String> {
    let of_type = format!("{NODE_TYPE}.");
    let name = detail.split_whitespace().find_map(|word| word.strip_prefix(of_type.as_str()))?;
    Some(format!("{of_type}{}", name.split(['.', ',', ':', ';']).next()?))
}

/// The words by which the reasons to refuse are known.
pub const REFUSALS: &[(&str, Refusal)] = &[
    ("Error: Cycle:", Refusal::Cycle),
    ("Error: Reference to undeclared resource", Refusal::Dangling),
    ("Error: Self-referential block", Refusal::SelfReference),
    ("Error: Unsupported argument", Refusal::UnknownArgument),
    ("Error: Extraneous JSON object property", Refusal::UnknownArgument),
    ("Error: Missing required argument", Refusal::MissingArgument),
    ("Error: Incorrect attribute value type", Refusal::WrongType),
    ("Error: Duplicate resource", Refusal::Twice),
    ("Error: A node needs a name", Refusal::EmptyKey),
    // What engines add of their own where a provider that is not configured in the program refuses.
    ("Error: Invalid provider configuration", Refusal::Provider),
    ("Error: Instance cannot be destroyed", Refusal::PreventDestroy),
    ("Error: Resource instance cannot be destroyed", Refusal::PreventDestroy),
    ("Error: Saved plan is stale", Refusal::StalePlan),
    ("Error: Error acquiring the state lock", Refusal::Locked),
    ("Error: The mock provider was told to fail this operation", Refusal::Provider),
    ("Error: Provider produced invalid plan", Refusal::InvalidPlan),
    ("Error: Provider produced inconsistent result after apply", Refusal::InconsistentResult),
    ("Error: Provider returned invalid result object after apply", Refusal::InvalidResult),
    // Engines do not say of which resource.
    ("Error: [\"label\"]: string is required", Refusal::WrongAnswer),
];

/// The words by which warnings are known.
pub const WARNINGS: &[(&str, Warning)] = &[
    ("Warning: Resource targeting is in effect", Warning::Targeted),
    ("Warning: Applied changes may be incomplete", Warning::MayBeIncomplete),
];

pub fn refusal(error: &str) -> Option<Refusal> {
    REFUSALS.iter().find(|(words, _)| error.starts_with(words)).map(|(_, refusal)| *refusal)
}

/// What an action amounts to.
pub fn operations(action: &str) -> &'static [OperationKind] {
    match action {
        "create" => &[OperationKind::Create],
        "update" => &[OperationKind::Update],
        "delete" => &[OperationKind::Delete],
        "replace" => &[OperationKind::Delete, OperationKind::Create],
        _ => &[],
    }
}

/// Why an engine says that it changes something.
pub fn reason(given: Option<&str>) -> PlannedReason {
    match given {
        None => PlannedReason::None,
        Some("cannot_update") => PlannedReason::CannotUpdate,
        Some("requested") => PlannedReason::Asked,
        Some("tainted") => PlannedReason::Marked,
        Some("replace_triggered_by") => PlannedReason::Triggered,
        Some("delete_because_no_resource_config") => PlannedReason::NotWritten,
        Some(_) => PlannedReason::Other,
    }
}
