//! What Terraform printed, read line by line, once: its messages, its errors, and words of alarm.
//!
//! `fields` are the fields of a message, `wording` compares with them what it says to people, `position` and `time`
//! what it says about the program and the clock; `vocabulary` has the words that mean something.

mod fields;
mod position;
mod time;
mod vocabulary;
mod wording;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::evidence::{
    Diagnostic, EngineError, Flaw, Message, MessageProblem, Moment, Output, PlannedChange, Position, Refusal,
    Reported, ReportedRead, Summary, Unreadable, unreadable,
};

use super::cycle;
use fields::{ChangeFields, DiagnosticFields, Fields, HookFields, OutputFields, ResourceFields};
use position::Programs;
use vocabulary::{WARNINGS, alarms, alarms_in, blamed, error, reason, refusal};
pub use vocabulary::{in_one_line, is_alarming, operations};
use wording::words;

/// How much of a line is kept that is no message.
const STRAY: usize = 80;

/// How many lines of standard error are kept.
const MOST_ON_STDERR: usize = 20;

/// By how many seconds a message may be earlier than the one before it: an engine takes the time before it waits for
/// its turn to print, and clocks are adjusted.
const TIME_APART: i64 = 60;

/// Reads the files into which an engine printed: messages on standard output, and whatever it likes on the other. There
/// is no other file where it said nothing.
pub fn read(messages: &Path, errors: &Path) -> Result<Output, Unreadable> {
    let mut lines = Lines::new(Programs::beside(Some(messages)));
    if errors.exists() {
        each_line(errors, |line| lines.error_line(line))?;
    }
    each_line(messages, |line| lines.line(line))?;
    Ok(lines.output)
}

/// The same of what was read already.
pub fn parse(messages: &str, errors: &str) -> Output {
    let mut lines = Lines::new(Programs::beside(None));
    errors.lines().for_each(|line| lines.error_line(line.as_bytes()));
    messages.lines().for_each(|line| lines.line(line.as_bytes()));
    lines.output
}

fn each_line(path: &Path, mut take: impl FnMut(&[u8])) -> Result<(), Unreadable> {
    let mut file = BufReader::new(File::open(path).map_err(unreadable(path))?);
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).map_err(unreadable(path))? > 0 {
        take(&line);
        line.clear();
    }
    Ok(())
}

/// What was read so far.
struct Lines {
    output: Output,
    programs: Programs,
    /// How many lines there were.
    number: usize,
    /// The second of the last message.
    time: Option<i64>,
}

impl Lines {
    fn new(programs: Programs) -> Self {
        let output = Output { is_compared: true, ..Output::default() };
        Self { output, programs, number: 0, time: None }
    }

    /// A line on standard error.
    fn error_line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        self.output.alarms.extend(alarms(&text));
        if self.output.on_stderr.len() < MOST_ON_STDERR && !text.trim().is_empty() {
            self.output.on_stderr.push(text.trim().chars().take(STRAY).collect());
        }
    }

    /// A line on standard output.
    fn line(&mut self, line: &[u8]) {
        self.number += 1;
        let text = String::from_utf8_lossy(line);
        let Ok(fields) = serde_json::from_str::<Fields<'_>>(&text) else {
            self.output.alarms.extend(alarms(&text));
            if !text.trim().is_empty() {
                self.output.stray.get_or_insert_with(|| text.trim().chars().take(STRAY).collect());
            }
            return;
        };
        let time = time::second(&fields.time);
        if time.is_none() || time < self.time.map(|before| before - TIME_APART) {
            self.flaw(MessageProblem::Time, &fields);
        }
        self.time = time.or(self.time);
        let level = match &*fields.kind {
            "diagnostic" if fields.level == "warn" => "warn",
            "diagnostic" => "error",
            _ => "info",
        };
        if fields.level != level {
            self.flaw(MessageProblem::Level, &fields);
        }
        match self.message(&fields) {
            Some(message) => self.output.messages.push(message),
            None => self.flaw(MessageProblem::Incomplete, &fields),
        }
    }

    fn flaw(&mut self, problem: MessageProblem, fields: &Fields<'_>) {
        let text = words(&fields.message).chars().take(STRAY).collect::<String>().trim_end().to_owned();
        self.output.flaws.push(Flaw { line: self.number, problem, text });
    }

    /// A message by its fields; none if it lacks what it should have.
    fn message(&mut self, fields: &Fields<'_>) -> Option<Message> {
        Some(match &*fields.kind {
            "version" => {
                let version = fields.terraform.as_deref().or(fields.tofu.as_deref())?;
                // The messages of all these engines are those of version 1.
                if !fields.message.contains(version) || !fields.ui.as_ref()?.starts_with("1.") {
                    self.flaw(MessageProblem::Text, fields);
                }
                Message::Introduction { version: Some(version.into()) }
            }
            "planned_change" => Message::Planned(self.change(fields)?),
            "resource_drift" => Message::Drift(self.change(fields)?),
            "change_summary" => {
                let summary = fields.changes.as_ref()?;
                if !wording::has_counts(&fields.message, summary) {
                    self.flaw(MessageProblem::Text, fields);
                }
                Message::Summary(Summary {
                    is_plan: summary.operation == "plan",
                    command: summary.operation.clone().into_owned(),
                    created: summary.add,
                    updated: summary.change,
                    deleted: summary.remove,
                    others: summary.import + summary.forget + summary.action_invocation,
                })
            }
            "outputs" => {
                let outputs = fields.outputs.as_ref()?;
                if wording::numbers(&fields.message) != [outputs.len()] {
                    self.flaw(MessageProblem::Text, fields);
                }
                // A plan without outputs does not speak of them.
                let action = |it: &OutputFields<'_>| it.action.as_deref().unwrap_or_default().to_owned();
                match outputs.values().next().is_some_and(|it| it.action.is_some()) {
                    true => Message::PlannedOutputs(
                        outputs.iter().map(|(name, it)| (name.clone(), action(it))).collect(),
                    ),
                    false => Message::Outputs(
                        outputs.iter().map(|(name, it)| (name.clone(), it.value.clone())).collect(),
                    ),
                }
            }
            "apply_start" => self.operation(fields, Moment::Begin)?,
            "apply_complete" => self.operation(fields, Moment::End)?,
            "apply_errored" => self.operation(fields, Moment::Failure)?,
            "apply_progress" => {
                let (_, resource) = self.hook(fields)?;
                Message::Waiting { address: (*resource.addr).into() }
            }
            "refresh_start" => self.read(fields, Moment::Begin)?,
            "refresh_complete" => self.read(fields, Moment::End)?,
            "diagnostic" => self.diagnostic(fields),
            kind => {
                let exists = OTHERS.iter().any(|other| kind.starts_with(other));
                self.flaw(MessageProblem::UnexpectedKind { kind: kind.to_owned(), exists }, fields);
                Message::Other
            }
        })
    }

    /// Compares the parts of an address, and the text, with what a message is about.
    fn compare(
        &mut self,
        fields: &Fields<'_>,
        resource: &ResourceFields<'_>,
        id: Option<&str>,
        action: Option<&str>,
    ) {
        match wording::is_whole(resource) {
            None => self.flaw(MessageProblem::Incomplete, fields),
            Some(false) => self.flaw(MessageProblem::Address, fields),
            Some(true) => {}
        }
        if !wording::is_about(&fields.message, &resource.addr, id, &fields.kind, action) {
            self.flaw(MessageProblem::Text, fields);
        }
    }

    fn change(&mut self, fields: &Fields<'_>) -> Option<PlannedChange> {
        let change: &ChangeFields<'_> = fields.change.as_ref()?;
        self.compare(fields, &change.resource, None, Some(&change.action));
        let operations = operations(&change.action);
        Some(PlannedChange {
            address: change.resource.addr.clone().into_owned(),
            action: change.action.clone().into_owned(),
            operations,
            reason: reason(change.reason.as_deref()),
            asks_more: operations.is_empty()
                || change.previous_resource.is_some()
                || change.importing.is_some(),
        })
    }

    fn hook<'a, 'b>(
        &mut self,
        fields: &'b Fields<'a>,
    ) -> Option<(&'b HookFields<'a>, &'b ResourceFields<'a>)> {
        let hook = fields.hook.as_ref()?;
        let resource = hook.resource.as_ref()?;
        self.compare(fields, resource, hook.id_value.as_deref(), hook.action.as_deref());
        Some((hook, resource))
    }

    fn operation(&mut self, fields: &Fields<'_>, moment: Moment) -> Option<Message> {
        let (hook, resource) = self.hook(fields)?;
        let [kind] = operations(hook.action.as_deref()?) else { return Some(Message::Other) };
        let (address, id) = ((*resource.addr).into(), hook.id_value.as_deref().map(Into::into));
        Some(Message::Operation(Reported { address, kind: *kind, moment, id }))
    }

    fn read(&mut self, fields: &Fields<'_>, moment: Moment) -> Option<Message> {
        let (hook, resource) = self.hook(fields)?;
        let id = hook.id_value.as_deref().map(Into::into);
        Some(Message::Read(ReportedRead { address: (*resource.addr).into(), moment, id }))
    }

    fn diagnostic(&mut self, fields: &Fields<'_>) -> Message {
        let is_error = fields.level != "warn";
        let says = words(&fields.message);
        let says = says.trim_end();
        let known = fields.diagnostic.as_ref();
        let severity = if is_error { "error" } else { "warning" };
        match known.map(|it| (it.severity.as_deref(), it.summary.as_deref())) {
            Some((Some(its), Some(summary))) => {
                if its != severity {
                    self.flaw(MessageProblem::Level, fields);
                }
                if !says.ends_with(words(summary).trim_end()) {
                    self.flaw(MessageProblem::Text, fields);
                }
            }
            _ => self.flaw(MessageProblem::Incomplete, fields),
        }
        let line = |text: &str| words(text).trim_end().to_owned();
        let diagnostic = Diagnostic {
            is_error,
            summary: known.and_then(|it| it.summary.as_deref()).map_or_else(|| says.to_owned(), line),
            detail: known.map_or_else(String::new, |it| line(&it.detail)),
            address: known.and_then(|it| it.address.clone()).map(Into::into),
            position: known.and_then(|it| self.position(fields, it)),
            warning: WARNINGS.iter().find(|(words, _)| !is_error && *words == says).map(|it| it.1),
            refusal: refusal(says),
        };
        if is_error {
            self.output.reports_a_cycle |= cycle::is_reported(&fields.message);
            let error = error(&fields.message);
            let blames = error.refusal.is_some_and(Refusal::is_breach);
            let blamed = if blames { blamed(&diagnostic.detail) } else { None };
            self.output.errors.push(EngineError { blamed, ..error });
        }
        self.output.alarms.extend(alarms_in(&diagnostic));
        Message::Diagnostic(diagnostic)
    }

    fn position(&mut self, fields: &Fields<'_>, diagnostic: &DiagnosticFields<'_>) -> Option<Position> {
        let range = diagnostic.range.as_ref()?;
        let (mut resource, mut is_there) = (None, true);
        if let Some(text) = self.programs.text(&range.filename) {
            is_there = position::is_in(text, range, diagnostic.snippet.as_ref());
            resource = position::resource_at(text, range.start.line);
        }
        if !is_there {
            self.flaw(MessageProblem::Position, fields);
        }
        let (file, begin, end) = (range.filename.clone().into_owned(), range.start.byte, range.end.byte);
        Some(Position { file, begin, end, resource })
    }
}

/// What else there is messages about: provisioners, ephemeral resources, actions, tests, and logs of the engine.
const OTHERS: &[&str] = &["provision_", "ephemeral_op_", "action_", "list_", "test_", "log"];

#[cfg(test)]
mod tests {
    use super::vocabulary::REFUSALS;
    use super::*;
    use crate::evidence::{AlarmMeaning, Refusal};

    #[test]
    fn messages_of_interest_are_told_from_all_the_others() {
        let lines = [
            r#"{"@level":"info","type":"planned_change","change":{"resource":{"addr":"node.a"},"action":"create"}}"#,
            r#"{"@level":"info","type":"resource_drift","change":{"resource":{"addr":"node.b"},"action":"update"}}"#,
            r#"{"type":"change_summary","changes":{"add":1,"change":0,"remove":0,"import":0,"operation":"plan"}}"#,
            r#"{"@level":"error","@message":"Error: Cycle: a, b","type":"diagnostic","diagnostic":{}}"#,
            "panic: runtime error",
            "\u{0}not JSON",
        ];
        let output = parse(&lines.join("\n"), "");
        let planned: Vec<_> = output.planned().map(|change| (&*change.address, &*change.action)).collect();
        assert_eq!(planned, [("node.a", "create")]);
        assert_eq!(output.summaries().map(|summary| summary.created).collect::<Vec<_>>(), [1]);
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
                let output = read("warn", &layout(words));
                assert_eq!(output.diagnostics().map(|it| it.warning).collect::<Vec<_>>(), [Some(*warning)]);
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

    /// A message as engines print it, with some fields.
    fn message(kind: &str, text: &str, fields: &str) -> String {
        format!(
            r#"{{"@level":"info","@message":{text:?},"@timestamp":"2026-11-18T07:25:40.5Z","type":"{kind}",{fields}}}"#
        )
    }

    const RESOURCE: &str = concat!(
        r#""resource":{"addr":"mock_node.a","module":"","resource":"mock_node.a","implied_provider":"mock","#,
        r#""resource_type":"mock_node","resource_name":"a","resource_key":null}"#
    );

    #[test]
    fn words_of_alarm_in_names_and_values_are_no_alarm_and_outside_of_messages_they_are() {
        let words = "panic: fatal error: WARNING: DATA RACE [running]: This is a bug in Provider produced in crash.log";
        let outputs = format!(r#""outputs":{{"a":{{"sensitive":false,"value":"{words}"}}}}"#);
        let detail = format!(r#""detail":"It is the create of \"{words}\", call 1""#);
        let provider = "The mock provider was told to fail this operation";
        let diagnostic = format!(r#""diagnostic":{{"severity":"error","summary":"{provider}",{detail}}}"#);
        let error =
            message("diagnostic", &format!("Error: {provider}"), &diagnostic).replace("info", "error");
        let other = error.replace(provider, "Something else");
        let lines = [message("outputs", "Outputs: 1", &outputs), error, other].join("\n");
        let output = parse(&lines, "");
        assert!(output.alarms.is_empty() && output.flaws.is_empty(), "{output:?}");
        for line in ["panic: x", "fatal error: x", "WARNING: DATA RACE", "goroutine 1 [running]:"] {
            assert!(!parse(line, "").alarms.is_empty() && !parse("", line).alarms.is_empty(), "{line}");
        }
        assert_eq!(parse("", "\nx\n").on_stderr, ["x"]);
    }

    #[test]
    fn a_message_that_contradicts_itself_has_a_flaw() {
        let change = format!(r#""change":{{{RESOURCE},"action":"create"}}"#);
        let sound = message("planned_change", "mock_node.a: Plan to create", &change);
        let problems = |line: &str| -> Vec<MessageProblem> {
            parse(line, "").flaws.into_iter().map(|flaw| flaw.problem).collect()
        };
        assert_eq!(problems(&sound), []);
        let replaced = |from: &str, to: &str| problems(&sound.replace(from, to));
        assert_eq!(replaced("Plan to create", "Plan to delete"), [MessageProblem::Text]);
        assert_eq!(replaced("\"mock_node.a: ", "\"mock_node.b: "), [MessageProblem::Text]);
        assert_eq!(replaced(r#"name":"a""#, r#"name":"b""#), [MessageProblem::Address]);
        assert_eq!(replaced(r#"provider":"mock""#, r#"provider":"other""#), [MessageProblem::Address]);
        assert_eq!(replaced(r#""module":"","#, ""), [MessageProblem::Incomplete]);
        assert_eq!(replaced("info", "warn"), [MessageProblem::Level]);
        assert_eq!(replaced("2026-11", "2026-31"), [MessageProblem::Time]);
        let unknown = MessageProblem::UnexpectedKind { kind: "telemetry".to_owned(), exists: false };
        assert_eq!(replaced("planned_change", "telemetry"), [unknown]);
        let earlier = sound.replace("07:25", "07:20");
        assert_eq!(problems(&format!("{sound}\n{earlier}")), [MessageProblem::Time]);
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
