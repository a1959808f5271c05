//! An entry as one line of text, in columns.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::{Attributes, Entry, Operation};
use serde_json::Value;

use super::names::{Names, printable, short_id};
use super::palette::Palette;

/// Renders entries one after the other. Columns whose width is not known beforehand grow as they need to.
#[derive(Debug)]
pub struct EntryText {
    palette: Palette,
    seq: Column,
    run: Column,
    key: Column,
    id: Column,
}

impl EntryText {
    /// A renderer that has seen nothing yet.
    pub fn new(palette: Palette) -> Self {
        Self { palette, seq: Column(4), run: Column(8), key: Column(4), id: Column(14) }
    }

    /// The entry as a line, without a line break. `names` tells the keys of the objects it refers to.
    pub fn line(&mut self, entry: &Entry, names: &Names) -> String {
        let optional =
            |text: &Option<String>| text.as_deref().map(|t| printable(t).into_owned()).unwrap_or_default();
        let seq = entry.seq.to_string();
        let seq = format!("{}{seq}", " ".repeat(self.seq.padding(&seq)));
        let run = self.run.left(optional(&entry.run));
        let what = format!("{:<6}  {:<6}", entry.op, entry.phase);
        let key = self.key.left(name(entry));
        let id = self.id.left(entry.id.as_deref().map(|id| short_id(id).into_owned()).unwrap_or_default());
        let columns = [
            seq,
            self.palette.faint(&format!("{:.3}", entry.time)),
            run,
            self.palette.of_entry(entry, &what),
            key,
            self.palette.faint(&id),
            self.remarks(entry, names),
        ];
        columns.join("  ").trim_end().to_owned()
    }

    fn remarks(&self, entry: &Entry, names: &Names) -> String {
        let mut remarks = Vec::new();
        let mut refs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for reference in &entry.refs {
            refs.entry(&reference.path).or_default().push(names.of(&reference.id).into_owned());
        }
        for (path, mut targets) in refs {
            targets.sort();
            remarks.push(format!("{}={}", printable(path), targets.join(",")));
        }
        if entry.op == Operation::Drift && entry.after.is_none() {
            remarks.push("(gone)".to_owned());
        }
        remarks.extend(changes(entry, names));
        if let Some(begin) = entry.begin {
            remarks.push(self.palette.faint(&format!("(began {begin})")));
        }
        if let Some(hold) = &entry.hold {
            remarks.push(self.palette.faint(&format!("(holds operations: {hold})")));
        }
        if !entry.held.is_empty() {
            let (held, released) = (numbers(&entry.held), numbers(&entry.released));
            remarks.push(self.palette.faint(&format!("(of {held}: {released})")));
        }
        if let Some(torn) = &entry.torn {
            remarks.push(self.palette.alarm(&format!("({} torn bytes before this line)", torn.bytes)));
        }
        if let Some(note) = &entry.note {
            remarks.push(printable(note).into_owned());
        }
        if let Some(fault) = &entry.fault {
            remarks.push(self.palette.alarm(&format!("(told to fail: {})", printable(fault))));
        }
        if let Some(error) = &entry.error {
            remarks.push(self.palette.alarm(&format!("error: {}", printable(error))));
        }
        remarks.join("  ")
    }
}

fn numbers(seqs: &[u64]) -> String {
    seqs.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// What the entry's object is called: its key, or its type where it has none.
fn name(entry: &Entry) -> String {
    match (&entry.key, &entry.type_name) {
        (Some(key), _) => printable(key).into_owned(),
        (None, Some(type_name)) if entry.mode.as_deref() == Some("data") => {
            format!("data.{}", printable(type_name))
        }
        (None, Some(type_name)) => printable(type_name).into_owned(),
        (None, None) => String::new(),
    }
}

/// What an entry says to change in its object, each as `label: "a" → "b"`. Every change counts itself, which says
/// nothing of it, and what is created or deleted changes as a whole.
fn changes(entry: &Entry, names: &Names) -> Vec<String> {
    let (Some(before), Some(after)) = (&entry.before, &entry.after) else { return Vec::new() };
    let attributes: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let counted = |name: &&&String| name.as_str() != "revision";
    let value = |object: &Attributes, name: &String| match object.get(name) {
        None => Value::Null.to_string(),
        Some(value) => named(value, names),
    };
    attributes
        .iter()
        .filter(counted)
        .filter(|name| before.get(**name) != after.get(**name))
        .map(|name| format!("{}: {} → {}", printable(name), value(before, name), value(after, name)))
        .collect()
}

/// A value as JSON, with the keys of objects in the place of their ids.
fn named(value: &Value, names: &Names) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| named(item, names)).collect();
            format!("[{}]", items.join(","))
        }
        Value::String(text) if names.has(text) => names.of(text).into_owned(),
        other => printable(&other.to_string()).into_owned(),
    }
}

/// The width of a column so far.
#[derive(Debug)]
struct Column(usize);

impl Column {
    fn left(&mut self, text: String) -> String {
        let padding = self.padding(&text);
        text + &" ".repeat(padding)
    }

    fn padding(&mut self, text: &str) -> usize {
        let width = text.chars().count();
        self.0 = self.0.max(width);
        self.0 - width
    }
}

#[cfg(test)]
mod tests {
    use equiform_proto::ledger::{LineHash, Phase, Reference, Torn};

    use super::*;

    fn entry(seq: u64, op: Operation, phase: Phase) -> Entry {
        let mut entry = Entry::new(seq, op, phase, 1, LineHash([0; 32]));
        entry.time = "2026-01-01T00:00:01.5Z".parse().unwrap();
        entry
    }

    #[test]
    fn entries_stand_in_columns_that_grow() {
        let mut text = EntryText::new(Palette::Plain);
        let mut names = Names::default();
        let mut create = entry(1, Operation::Create, Phase::Commit);
        create.key = Some("r0".to_owned());
        create.id = Some("node-abcdefghijklmnopqrst".to_owned());
        create.begin = Some(1);
        names.learn(&create);
        let mut failure = entry(12345, Operation::Update, Phase::Fail);
        failure.run = Some("second".to_owned());
        failure.key = Some("a-longer-key".to_owned());
        failure.id = Some("node-zzzzzzzzzzzzzzzzzzzz".to_owned());
        failure.begin = Some(9);
        failure.refs = ["node-gonegonegonegonegone", "node-abcdefghijklmnopqrst"]
            .map(|id| Reference { path: "refs".to_owned(), id: id.to_owned() })
            .to_vec();
        failure.error = Some("first line\nsecond line".to_owned());
        let mut mark = entry(12346, Operation::Mark, Phase::Commit);
        mark.note = Some("went on".to_owned());
        mark.torn = Some(Torn { bytes: 37, sha256: LineHash([0; 32]) });
        let lines: Vec<String> =
            [create, failure, mark].iter().map(|entry| text.line(entry, &names)).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn what_the_provider_was_told_to_do_wrong_is_shown() {
        let mut partial = entry(1, Operation::Create, Phase::Commit);
        partial.begin = Some(1);
        partial.fault = Some("create of \"r1\", call 1: error".to_owned());
        let line = EntryText::new(Palette::Plain).line(&partial, &Names::default());
        assert!(line.ends_with("(began 1)  (told to fail: create of \"r1\", call 1: error)"), "{line}");
    }

    #[test]
    fn a_release_shows_what_was_held_and_what_goes_on() {
        let mut release = entry(9, Operation::Release, Phase::Commit);
        (release.held, release.released) = (vec![5, 3, 7], vec![5]);
        let line = EntryText::new(Palette::Plain).line(&release, &Names::default());
        assert!(line.ends_with("(of 5, 3, 7: 5)"), "{line}");
    }

    #[test]
    fn what_changed_is_shown_with_the_keys_of_what_is_referred_to() {
        let mut names = Names::default();
        let mut other = entry(1, Operation::Create, Phase::Commit);
        (other.key, other.id) = (Some("r0".to_owned()), Some("node-a".to_owned()));
        names.learn(&other);
        let object = |value: serde_json::Value| value.as_object().cloned();
        let mut drift = entry(2, Operation::Drift, Phase::Commit);
        drift.before = object(serde_json::json!({"label": "a\n", "refs": [], "pin": "x", "revision": 1}));
        drift.after =
            object(serde_json::json!({"label": "b", "refs": ["node-a", "gone"], "pin": "x", "revision": 2}));
        let line = EntryText::new(Palette::Plain).line(&drift, &names);
        assert!(line.ends_with(r#"label: "a\n" → "b"  refs: [] → [r0,"gone"]"#), "{line}");
    }

    #[test]
    fn colours_are_only_added_to_the_same_text() {
        let mut failure = entry(1, Operation::Create, Phase::Fail);
        failure.error = Some("no".to_owned());
        let coloured = EntryText::new(Palette::Coloured).line(&failure, &Names::default());
        let plain = EntryText::new(Palette::Plain).line(&failure, &Names::default());
        assert_ne!(coloured, plain);
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain);
    }
}
