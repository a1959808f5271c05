//! What to call an object in text: by its key where it is known, else by a shortened id.

use std::borrow::Cow;
use std::collections::HashMap;

use equiform_proto::ledger::{Entry, Operation, Phase};

/// How many characters of an id are shown. The prefix of the type and eight random characters are told apart
/// by eye, and `--id` takes them.
const SHOWN_ID: usize = 13;

/// The keys of the objects that are there, by id. Grows with the world, not with the ledger.
#[derive(Debug, Default)]
pub struct Names {
    keys: HashMap<String, String>,
}

impl Names {
    /// Learns the name of the entry's object, or forgets it if the entry removes it.
    pub fn learn(&mut self, entry: &Entry) {
        let Some(id) = &entry.id else { return };
        if is_gone(entry) {
            self.keys.remove(id);
        } else if let Some(key) = &entry.key
            && !self.keys.contains_key(id)
        {
            self.keys.insert(id.clone(), key.clone());
        }
    }

    /// Whether there is an object with this id that has a key.
    pub fn has(&self, id: &str) -> bool {
        self.keys.contains_key(id)
    }

    /// The key of the object with this id, or the id shortened.
    pub fn of<'a>(&'a self, id: &'a str) -> Cow<'a, str> {
        match self.keys.get(id) {
            Some(key) => printable(key),
            None => short_id(id),
        }
    }
}

fn is_gone(entry: &Entry) -> bool {
    match (entry.op, entry.phase) {
        (Operation::Delete, Phase::Commit) | (Operation::Create, Phase::Fail) => true,
        (Operation::Drift, Phase::Commit) => entry.after.is_none(),
        _ => false,
    }
}

/// The beginning of an id, enough to tell it from others.
pub fn short_id(id: &str) -> Cow<'_, str> {
    match id.char_indices().nth(SHOWN_ID) {
        Some((end, _)) => Cow::Owned(format!("{}\u{2026}", printable(&id[..end]))),
        None => printable(id),
    }
}

/// Text from a ledger, fit for one line of a terminal: control characters are spelled out.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let spelled =
        text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() });
    Cow::Owned(spelled.collect())
}

#[cfg(test)]
mod tests {
    use equiform_proto::ledger::LineHash;

    use super::*;

    fn entry(op: Operation, phase: Phase) -> Entry {
        let mut entry = Entry::new(1, op, phase, 1, LineHash([0; 32]));
        entry.id = Some("node-abcdefghijklmnopqrst".to_owned());
        entry.key = Some("r0".to_owned());
        entry
    }

    #[test]
    fn an_object_has_its_key_until_it_is_gone() {
        let mut names = Names::default();
        assert_eq!(names.of("node-abcdefghijklmnopqrst"), "node-abcdefgh\u{2026}");
        names.learn(&entry(Operation::Create, Phase::Begin));
        assert_eq!(names.of("node-abcdefghijklmnopqrst"), "r0");
        names.learn(&entry(Operation::Delete, Phase::Begin));
        assert_eq!(names.of("node-abcdefghijklmnopqrst"), "r0");
        names.learn(&entry(Operation::Delete, Phase::Commit));
        assert!(names.keys.is_empty());
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(printable("\u{e9}t\u{e9}"), "\u{e9}t\u{e9}");
    }
}
