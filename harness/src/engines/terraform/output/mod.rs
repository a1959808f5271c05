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

use rustc_hash::FxHashMap;

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
const TIME_APART: i64 = 5;

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
    messages.lines().for_each(|line| lines.line(format!("{line}\n").as_bytes()));
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
    /// When what is under way began, by its address and action.
    began: FxHashMap<(String, String), i64>,
}

impl Lines {
    fn new(programs: Programs) -> Self {
        let output = Output { is_compared: true, ..Output::default() };
        Self { output, programs, number: 0, time: None, began: FxHashMap::default() }
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
            let shown = text.trim().chars().take(STRAY).collect::<String>();
            self.output.stray.get_or_insert(if shown.is_empty() {
                "an empty line".to_owned()
            } else {
                shown
            });
            return;
        };
        if !line.ends_with(b"}\n") {
            self.output.stray.get_or_insert_with(|| "a line that does not end as lines do".to_owned());
        }
        if !["terraform.ui", "tofu.ui"].contains(&&*fields.module) {
            self.flaw(MessageProblem::Incomplete, &fields);
        }
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
        if hook.id_key.as_deref().is_some_and(|key| key != "id")
            || hook.id_key.is_some() != hook.id_value.is_some()
        {
            self.flaw(MessageProblem::Address, fields);
        }
        self.elapsed(fields, hook, &resource.addr);
        self.compare(fields, resource, hook.id_value.as_deref(), hook.action.as_deref());
        Some((hook, resource))
    }

    /// Compares how long something took with the times of its messages.
    fn elapsed(&mut self, fields: &Fields<'_>, hook: &HookFields<'_>, address: &str) {
        let Some(now) = time::second(&fields.time) else { return };
        let about = (address.to_owned(), hook.action.as_deref().unwrap_or_default().to_owned());
        match (hook.elapsed_seconds, self.began.get(&about)) {
            (Some(took), Some(began)) if took < 0.0 || took > (now - began + TIME_APART) as f64 => {
                self.flaw(MessageProblem::Time, fields);
            }
            _ => {}
        }
        if hook.elapsed_seconds.is_none() {
            self.began.insert(about, now);
        }
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
mod tests;
