//! What Terraform printed, read line by line: what it planned, what it counted, its errors, and words of alarm.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::evidence::{
    Alarm, AlarmMeaning, EngineError, Moment, Output, PlannedChange, Refusal, Reported, Summary, Unreadable,
    Warning, unreadable,
};
use crate::spec::OperationKind;

use super::cycle;

const ALARMS: &[Alarm] = &[
    Alarm { words: "panic: ", meaning: AlarmMeaning::Panic },
    Alarm { words: "This is a bug in", meaning: AlarmMeaning::OwnBug },
    Alarm { words: "Provider produced in", meaning: AlarmMeaning::BlamesProvider },
    Alarm { words: "crash.log", meaning: AlarmMeaning::Panic },
];

/// Whether a line has words that an engine prints only when it has caught itself in a mistake.
pub fn is_alarming(line: &str) -> bool {
    alarms(line).next().is_some()
}

/// The words of alarm in a line. Engines wrap their sentences: in a message, a line break is two characters.
fn alarms(line: &str) -> impl Iterator<Item = &'static Alarm> {
    let line = words(&line.replace("\\n", " "));
    ALARMS.iter().filter(move |alarm| line.contains(alarm.words))
}

/// A text without its layout: what is white space between two words is one space. Each version of an engine breaks
/// lines elsewhere, so nothing here reads a text in any other form.
fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 1);
    for word in text.split_whitespace() {
        words.push_str(word);
        words.push(' ');
    }
    words
}

/// How much of a line is kept that is no message.
const STRAY: usize = 80;

/// A message of an engine, as far as it is of interest.
#[derive(Deserialize)]
struct Message {
    #[serde(rename = "@level", default)]
    level: String,
    #[serde(rename = "@message", default)]
    message: String,
    #[serde(rename = "type", default)]
    kind: String,
    change: Option<ResourceChange>,
    changes: Option<ChangeSummary>,
    outputs: Option<BTreeMap<String, OutputMessage>>,
    hook: Option<Hook>,
}

/// What is reported of an operation that is under way.
#[derive(Deserialize)]
struct Hook {
    resource: Option<ResourceAddress>,
    action: Option<String>,
    id_value: Option<Box<str>>,
}

/// An output: in a plan with what is to be done with it, in the end with its value.
#[derive(Deserialize)]
struct OutputMessage {
    action: Option<String>,
    #[serde(default)]
    value: Json,
}

#[derive(Deserialize)]
struct ResourceChange {
    resource: ResourceAddress,
    action: String,
}

#[derive(Deserialize)]
struct ResourceAddress {
    addr: String,
}

#[derive(Deserialize)]
struct ChangeSummary {
    operation: String,
    add: usize,
    change: usize,
    remove: usize,
}

/// Reads the files into which an engine printed: messages on standard output, and whatever it likes on the other. There
/// is no other file where it said nothing.
pub fn read(messages: &Path, errors: &Path) -> Result<Output, Unreadable> {
    let mut output = Output { reported: Some(Vec::new()), ..Output::default() };
    if errors.exists() {
        read_file(&mut output, errors)?;
    }
    output.stray = None;
    read_file(&mut output, messages)?;
    Ok(output)
}

/// The same of what was read already.
pub fn parse(messages: &str, errors: &str) -> Output {
    let mut output = Output { reported: Some(Vec::new()), ..Output::default() };
    errors.lines().for_each(|line| read_line(&mut output, line.as_bytes()));
    output.stray = None;
    messages.lines().for_each(|line| read_line(&mut output, line.as_bytes()));
    output
}

fn read_file(output: &mut Output, path: &Path) -> Result<(), Unreadable> {
    let mut file = BufReader::new(File::open(path).map_err(unreadable(path))?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).map_err(unreadable(path))? > 0 {
        read_line(output, &line);
        line.clear();
    }
    Ok(())
}

fn read_line(output: &mut Output, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    output.alarms.extend(alarms(&text));
    let Ok(message) = serde_json::from_str::<Message>(&text) else {
        if !text.trim().is_empty() {
            output.stray.get_or_insert_with(|| text.trim().chars().take(STRAY).collect());
        }
        return;
    };
    match (message.kind.as_str(), message.change, message.changes) {
        ("planned_change", Some(ResourceChange { resource, action }), _) => {
            let operations = operations(&action);
            output.planned.insert(PlannedChange { address: resource.addr, action, operations });
        }
        ("resource_drift", Some(ResourceChange { resource, action }), _) => {
            let operations = operations(&action);
            output.drifted.insert(PlannedChange { address: resource.addr, action, operations });
        }
        ("change_summary", _, Some(summary)) => output.summaries.push(Summary {
            is_plan: summary.operation == "plan",
            command: summary.operation,
            created: summary.add,
            updated: summary.change,
            deleted: summary.remove,
        }),
        _ => {}
    }
    if let ("outputs", Some(outputs)) = (message.kind.as_str(), message.outputs) {
        // A plan without outputs does not speak of them.
        let is_plan = outputs.values().next().is_some_and(|it| it.action.is_some());
        if is_plan {
            let action = |(name, it): (String, OutputMessage)| (name, it.action.unwrap_or_default());
            output.planned_outputs = outputs.into_iter().map(action).collect();
        } else {
            output.outputs = Some(outputs.into_iter().map(|(name, it)| (name, it.value)).collect());
        }
    }
    if let Some((moment, hook)) = moment(&message.kind).zip(message.hook) {
        let kinds = hook.action.as_deref().map_or::<&[OperationKind], _>(&[], operations);
        if let (Some(ResourceAddress { addr }), [kind]) = (hook.resource, kinds) {
            let (address, id) = (addr.into_boxed_str(), hook.id_value);
            output.reported.get_or_insert_default().push(Reported { address, kind: *kind, moment, id });
        }
    }
    if message.level == "warn" {
        let said = words(&message.message);
        output.warnings.extend(WARNINGS.iter().find(|(words, _)| *words == said.trim_end()).map(|it| it.1));
    }
    if message.level == "error" {
        output.reports_a_cycle |= cycle::is_reported(&message.message);
        output.errors.push(error(&message.message));
    }
}

/// What an engine said, in one line.
pub fn in_one_line(said: &str) -> String {
    cycle::in_one_line(said).unwrap_or_else(|| words(said).trim_end().to_owned())
}

/// An error by its words. What is kept of it is one line.
fn error(said: &str) -> EngineError {
    let text = in_one_line(said);
    // What follows a colon is about this one error: names, ids, paths.
    let summary = text
        .split_once("Error: ")
        .map(|(_, said)| said.split([':', ';']).next().unwrap_or(said).trim().to_owned());
    EngineError { summary, refusal: refusal(&text), cycle: cycle::nodes(said), text }
}

/// The words by which the reasons to refuse are known.
const REFUSALS: &[(&str, Refusal)] = &[
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
    ("Error: The mock provider was told to fail this operation", Refusal::Provider),
];

/// The moment of an operation that a message tells of.
fn moment(kind: &str) -> Option<Moment> {
    match kind {
        "apply_start" => Some(Moment::Begin),
        "apply_complete" => Some(Moment::End),
        "apply_errored" => Some(Moment::Failure),
        _ => None,
    }
}

/// The words by which warnings are known.
const WARNINGS: &[(&str, Warning)] = &[
    ("Warning: Resource targeting is in effect", Warning::Targeted),
    ("Warning: Applied changes may be incomplete", Warning::MayBeIncomplete),
];

fn refusal(error: &str) -> Option<Refusal> {
    REFUSALS.iter().find(|(words, _)| error.starts_with(words)).map(|(_, refusal)| *refusal)
}

/// What an action amounts to.
fn operations(action: &str) -> &'static [OperationKind] {
    match action {
        "create" => &[OperationKind::Create],
        "update" => &[OperationKind::Update],
        "delete" => &[OperationKind::Delete],
        "replace" => &[OperationKind::Delete, OperationKind::Create],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_interest_are_told_from_all_the_others() {
        let mut output = Output::default();
        let lines = [
            r#"{"@level":"info","type":"planned_change","change":{"resource":{"addr":"node.a"},"action":"create"}}"#,
            r#"{"@level":"info","type":"resource_drift","change":{"resource":{"addr":"node.b"},"action":"update"}}"#,
            r#"{"type":"change_summary","changes":{"add":1,"change":0,"remove":0,"import":0,"operation":"plan"}}"#,
            r#"{"@level":"error","@message":"Error: Cycle: a, b","type":"diagnostic","diagnostic":{}}"#,
            "panic: runtime error",
            "\u{0}not JSON",
        ];
        lines.iter().for_each(|line| read_line(&mut output, line.as_bytes()));
        let planned: Vec<_> =
            output.planned.iter().map(|change| (&*change.address, &*change.action)).collect();
        assert_eq!(planned, [("node.a", "create")]);
        assert_eq!(output.summaries.iter().map(|summary| summary.created).collect::<Vec<_>>(), [1]);
        let errors: Vec<_> =
            output.errors.iter().map(|error| (&*error.text, error.summary.as_deref())).collect();
        assert_eq!(errors, [("Error: Cycle: a, b", Some("Cycle"))]);
        assert!(output.reports_a_cycle && output.errors[0].cycle.is_none(), "these are no resources");
        assert_eq!(
            output.alarms.iter().map(|alarm| alarm.meaning).collect::<Vec<_>>(),
            [AlarmMeaning::Panic]
        );
    }

    #[test]
    fn what_an_error_or_a_warning_says_does_not_depend_on_its_layout() {
        let line = |level: &str, text: &str| {
            serde_json::json!({ "@level": level, "@message": text, "type": "diagnostic" }).to_string()
        };
        let read = |level: &str, text: &str| parse(&line(level, text), "");
        let layouts: [fn(&str) -> String; 3] = [
            str::to_owned,
            |text| text.replace(' ', "\n  "),
            |text| format!("\n{}\n", text.replace(": ", ":\n\n\t")),
        ];
        for layout in layouts {
            for (words, refusal) in REFUSALS {
                let output = read("error", &layout(&format!("{words} of something")));
                assert_eq!(output.errors[0].refusal, Some(*refusal), "{:?}", output.errors);
                assert_eq!(output.reports_a_cycle, *refusal == Refusal::Cycle, "{words}");
            }
            for (words, warning) in WARNINGS {
                assert_eq!(read("warn", &layout(words)).warnings.into_iter().collect::<Vec<_>>(), [*warning]);
            }
            let output = read("error", &layout("Error: Bad thing: node-1; it is"));
            let [error] = &*output.errors else { panic!("{output:?}") };
            assert_eq!(
                (&*error.text, error.summary.as_deref()),
                ("Error: Bad thing: node-1; it is", Some("Bad thing"))
            );
            let bug = read("error", &layout("Error: x: This is a bug in Terraform"));
            assert_eq!(bug.alarms.iter().map(|it| it.meaning).collect::<Vec<_>>(), [AlarmMeaning::OwnBug]);
        }
    }

    #[test]
    fn a_cycle_of_resources_is_read_in_the_layouts_of_all_versions() {
        let messages = [
            r#"{"@level":"error","@message":"Error: Cycle: mock_node.a, mock_node.b (destroy)","type":"diagnostic"}"#,
            concat!(
                r#"{"@level":"error","@message":"Error: Cycle:\n  mock_node.a\n  mock_node.b (destroy)","#,
                r#""type":"diagnostic"}"#
            ),
        ];
        let [one, many] = messages.map(|message| parse(message, ""));
        assert!(one.reports_a_cycle && many.reports_a_cycle);
        assert_eq!(one.errors, many.errors);
        assert_eq!(one.errors[0].cycle.as_ref().map(Vec::len), Some(2));
        assert_eq!(
            (one.errors[0].refusal, one.errors[0].summary.as_deref()),
            (Some(Refusal::Cycle), Some("Cycle"))
        );
        let named = parse(r#"{"@level":"error","@message":"Error: Failed: Cycle","type":"diagnostic"}"#, "");
        assert!(!named.reports_a_cycle, "it is a word of something else");
    }
}
