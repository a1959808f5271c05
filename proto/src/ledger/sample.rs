//! Ledgers for tests, written the way a writer writes them: each line follows on what stands before it.

use serde_json::json;

use super::{Attributes, Chain, Entry, Header, LineHash, Operation, Phase, Record, Reference};

/// The bytes of a ledger, and the chain that the next line has to follow on.
#[derive(Clone)]
pub(crate) struct Sample {
    pub bytes: Vec<u8>,
    chain: Chain,
}

impl Sample {
    /// A ledger with a header and nothing else.
    pub fn empty() -> Self {
        let header =
            Header { version: 2, id: "test".to_owned(), created: "2026-01-01T00:00:00Z".parse().unwrap() };
        let mut sample = Self { bytes: Vec::new(), chain: Chain::default() };
        sample.write(&serde_json::to_vec(&header).unwrap());
        sample
    }

    /// Two objects, the second refers to the first; the first is updated, a read fails, and the second is deleted.
    pub fn eventful() -> Self {
        let mut sample = Self::empty();
        sample.create("a", &[]);
        sample.create("b", &["a"]);
        let begin = sample.append(Operation::Update, Phase::Begin, |e| of(e, "a", &[]));
        sample.append(Operation::Mark, Phase::Commit, |e| e.note = Some("half-time \u{1f600}".to_owned()));
        sample.append(Operation::Update, Phase::Commit, |e| {
            of(e, "a", &[]);
            e.begin = Some(begin);
        });
        let begin = sample.append(Operation::Read, Phase::Begin, |e| e.id = Some("node-a".to_owned()));
        sample.append(Operation::Read, Phase::Fail, |e| {
            e.id = Some("node-a".to_owned());
            e.begin = Some(begin);
            e.error = Some("asked to fail".to_owned());
        });
        let begin = sample.append(Operation::Delete, Phase::Begin, |e| e.id = Some("node-b".to_owned()));
        sample.append(Operation::Delete, Phase::Commit, |e| {
            e.id = Some("node-b".to_owned());
            e.before = Some(attributes("b"));
            e.begin = Some(begin);
        });
        sample
    }

    /// Appends a begin and a commit that create an object.
    pub fn create(&mut self, key: &str, refs: &[&str]) {
        let begin = self.append(Operation::Create, Phase::Begin, |e| of(e, key, refs));
        self.append(Operation::Create, Phase::Commit, |e| {
            of(e, key, refs);
            e.begin = Some(begin);
        });
    }

    /// Appends an entry that follows on what is there; returns its `seq`.
    pub fn append(&mut self, op: Operation, phase: Phase, fill: impl FnOnce(&mut Entry)) -> u64 {
        let seq = self.chain.last_seq() + 1;
        let line = self.next_line(op, phase, fill);
        self.write(&line);
        seq
    }

    /// The line that an append would write, without its line break.
    pub fn next_line(&self, op: Operation, phase: Phase, fill: impl FnOnce(&mut Entry)) -> Vec<u8> {
        let mut entry = entry(self.chain.last_seq() + 1, op, phase);
        entry.prev = self.chain.last_hash().unwrap();
        entry.torn = self.chain.torn();
        fill(&mut entry);
        serde_json::to_vec(&entry).unwrap()
    }

    /// Leaves a line unfinished, as a writer that is killed in the middle of it.
    pub fn tear(&mut self, cut: usize) {
        let line =
            self.next_line(Operation::Mark, Phase::Commit, |e| e.note = Some("never finished".to_owned()));
        assert_eq!(self.chain.accept(&line[..cut]).unwrap(), Record::Torn);
        self.bytes.extend_from_slice(&line[..cut]);
        self.bytes.push(b'\n');
    }

    /// Opens what a killed writer left behind, as the next writer does: what is unfinished is accounted for by a mark.
    pub fn recover(bytes: Vec<u8>) -> Self {
        let mut chain = Chain::default();
        let mut healed = bytes.clone();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            chain.accept(line.strip_suffix(b"\n").unwrap_or(line)).unwrap();
        }
        if healed.last() != Some(&b'\n') {
            healed.push(b'\n');
        }
        let torn = chain.torn().is_some();
        let mut sample = Self { bytes: healed, chain };
        if torn {
            sample.append(Operation::Mark, Phase::Commit, |_| {});
        }
        sample
    }

    /// The lines, without their line breaks.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        let text = self.bytes.strip_suffix(b"\n").unwrap_or(&self.bytes);
        text.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
    }

    fn write(&mut self, line: &[u8]) {
        self.chain.accept(line).unwrap();
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
    }
}

/// An entry that stands for itself, with a time that never changes.
pub(crate) fn entry(seq: u64, op: Operation, phase: Phase) -> Entry {
    let mut entry = Entry::new(seq, op, phase, 42, LineHash::of(b"the line before"));
    entry.time = "2026-01-01T00:00:01.5Z".parse().unwrap();
    entry
}

/// Makes the entry about the object with this key.
pub(crate) fn of(entry: &mut Entry, key: &str, refs: &[&str]) {
    entry.type_name = Some("mock_node".to_owned());
    entry.key = Some(key.to_owned());
    entry.id = Some(format!("node-{key}"));
    entry.refs =
        refs.iter().map(|key| Reference { path: "refs".to_owned(), id: format!("node-{key}") }).collect();
    entry.after = Some(attributes(key));
}

/// Attributes with one value of each kind.
pub(crate) fn attributes(key: &str) -> Attributes {
    let value =
        json!({"key": key, "label": null, "revision": 1, "weight": -0.5, "on": true, "tags": ["\u{e9}\n"]});
    value.as_object().unwrap().clone()
}
