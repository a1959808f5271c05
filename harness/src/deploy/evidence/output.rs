//! What an engine printed, read line by line: what it planned, what it counted, its errors, and words of alarm.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;

use super::{Unreadable, unreadable};

/// Words that an engine prints only when it has caught itself in a mistake.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alarm {
    /// The words.
    pub words: &'static str,
    /// What they mean.
    pub meaning: &'static str,
}

const ALARMS: &[Alarm] = &[
    Alarm { words: "panic: ", meaning: "panic" },
    Alarm { words: "This is a bug in", meaning: "says it has a bug" },
    Alarm { words: "Provider produced in", meaning: "blames the provider" },
    Alarm { words: "crash.log", meaning: "panic" },
];

/// How much of a line is kept that is no message.
const STRAY: usize = 80;

/// What an engine says in the end of a plan or of its execution.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Summary {
    /// `plan`, `apply` or `destroy`.
    pub operation: String,
    /// How many objects it creates or has created.
    pub add: usize,
    /// How many it changes or has changed.
    pub change: usize,
    /// How many it deletes or has deleted.
    pub remove: usize,
}

/// What there is to know of what an engine printed. The text itself is not kept.
#[derive(Debug, Clone, Default)]
pub struct Output {
    /// What it planned: name and action.
    pub planned: BTreeSet<(String, String)>,
    /// The summaries, in order.
    pub summaries: Vec<Summary>,
    /// The errors that it reported.
    pub errors: Vec<String>,
    /// Words that must not be there.
    pub alarms: BTreeSet<&'static Alarm>,
    /// The first line on standard output that is no message.
    pub stray: Option<String>,
}

/// A message of an engine, as far as it is of interest.
#[derive(Deserialize)]
struct Message {
    #[serde(rename = "@level", default)]
    level: String,
    #[serde(rename = "@message", default)]
    message: String,
    #[serde(rename = "type", default)]
    kind: String,
    change: Option<Change>,
    changes: Option<Summary>,
}

#[derive(Deserialize)]
struct Change {
    resource: Address,
    action: String,
}

#[derive(Deserialize)]
struct Address {
    resource_name: String,
}

impl Output {
    /// Reads the files into which an engine printed: messages on standard output, and whatever it likes on the other.
    pub fn read(messages: &Path, errors: &Path) -> Result<Self, Unreadable> {
        let mut output = Self::default();
        output.read_file(errors)?;
        output.stray = None;
        output.read_file(messages)?;
        Ok(output)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), Unreadable> {
        let mut file = BufReader::new(File::open(path).map_err(unreadable(path))?);
        let mut line = Vec::new();
        while file.read_until(b'\n', &mut line).map_err(unreadable(path))? > 0 {
            self.read_line(&line);
            line.clear();
        }
        Ok(())
    }

    fn read_line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        self.alarms.extend(ALARMS.iter().filter(|alarm| text.contains(alarm.words)));
        let Ok(message) = serde_json::from_str::<Message>(&text) else {
            if !text.trim().is_empty() {
                self.stray.get_or_insert_with(|| text.trim().chars().take(STRAY).collect());
            }
            return;
        };
        match (message.kind.as_str(), message.change, message.changes) {
            ("planned_change", Some(change), _) => {
                self.planned.insert((change.resource.resource_name, change.action));
            }
            ("change_summary", _, Some(summary)) => self.summaries.push(summary),
            _ => {}
        }
        if message.level == "error" {
            self.errors.push(message.message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_interest_are_told_from_all_the_others() {
        let mut output = Output::default();
        let lines = [
            r#"{"@level":"info","type":"planned_change","change":{"resource":{"resource_name":"a"},"action":"create"}}"#,
            r#"{"@level":"info","type":"resource_drift","change":{"resource":{"resource_name":"b"},"action":"update"}}"#,
            r#"{"type":"change_summary","changes":{"add":1,"change":0,"remove":0,"import":0,"operation":"plan"}}"#,
            r#"{"@level":"error","@message":"Error: Cycle: a, b","type":"diagnostic","diagnostic":{}}"#,
            "panic: runtime error",
            "\u{0}not JSON",
        ];
        lines.iter().for_each(|line| output.read_line(line.as_bytes()));
        assert_eq!(output.planned, BTreeSet::from([("a".to_owned(), "create".to_owned())]));
        assert_eq!(output.summaries.iter().map(|summary| summary.add).collect::<Vec<_>>(), [1]);
        assert_eq!(output.errors, ["Error: Cycle: a, b"]);
        assert_eq!(output.alarms.iter().map(|alarm| alarm.meaning).collect::<Vec<_>>(), ["panic"]);
    }
}
