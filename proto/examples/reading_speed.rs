//! How fast a ledger is read, verified and folded: `cargo run --release --example reading_speed [ENTRIES]`.
//!
//! The ledger is the busiest kind: every operation has a begin and a commit, every object two references, and the world
//! keeps a thousand objects.

use std::io::BufReader;
use std::time::Instant;

use equiform_proto::ledger::{
    Attributes, Entry, Header, LineHash, Operation, Phase, Reader, Record, Reference, World,
};
use serde_json::json;

const LIVE_OBJECTS: u64 = 1000;

fn main() {
    let entries = std::env::args().nth(1).map_or(1_000_000, |n| n.parse().expect("ENTRIES is a number"));
    let ledger = sample(entries);
    println!("{entries} entries, {} MiB", ledger.len() >> 20);

    let start = Instant::now();
    let verified = Reader::new(BufReader::with_capacity(1 << 17, ledger.as_slice()))
        .inspect(|line| assert!(line.is_ok(), "the sample verifies"))
        .count();
    println!("read and verified {verified} lines in {:.2?}", start.elapsed());

    let start = Instant::now();
    let mut world = World::default();
    for line in Reader::new(BufReader::with_capacity(1 << 17, ledger.as_slice())) {
        if let Record::Entry(entry) = line.expect("the sample verifies").record {
            world.apply(*entry).expect("the sample folds");
        }
    }
    println!("read, verified and folded to {} objects in {:.2?}", world.len(), start.elapsed());
}

fn sample(entries: u64) -> Vec<u8> {
    let mut lines = Lines::begin();
    let mut object = 0;
    while lines.seq < entries {
        let after = attributes(object);
        let refs: Vec<Reference> = (1..=2)
            .filter_map(|back| object.checked_sub(back))
            .map(|dependency| Reference { path: "refs".to_owned(), id: id(dependency) })
            .collect();
        lines.operation(Operation::Create, object, refs, None, Some(after));
        if let Some(old) = object.checked_sub(LIVE_OBJECTS) {
            lines.operation(Operation::Delete, old, Vec::new(), Some(attributes(old)), None);
        }
        object += 1;
    }
    lines.bytes
}

fn id(object: u64) -> String {
    format!("node-{object:020}")
}

fn attributes(object: u64) -> Attributes {
    let refs: Vec<String> = (1..=2).filter_map(|back| object.checked_sub(back)).map(id).collect();
    let value = json!({
        "id": id(object), "key": format!("r{object}"), "label": null, "pin": null, "pinned_refs": [], "refs": refs,
        "revision": 1,
    });
    value.as_object().expect("an object").clone()
}

struct Lines {
    bytes: Vec<u8>,
    seq: u64,
    prev: LineHash,
}

impl Lines {
    fn begin() -> Self {
        let header = Header {
            version: 1,
            id: "sample".to_owned(),
            created: "2026-01-01T00:00:00Z".parse().expect("a time"),
        };
        let bytes = serde_json::to_vec(&header).expect("a header serialises");
        let prev = LineHash::of(&bytes);
        Self { bytes, seq: 0, prev }
    }

    fn operation(
        &mut self,
        op: Operation,
        object: u64,
        refs: Vec<Reference>,
        before: Option<Attributes>,
        after: Option<Attributes>,
    ) {
        let begin = self.seq + 1;
        for phase in [Phase::Begin, Phase::Commit] {
            self.seq += 1;
            let mut entry = Entry::new(self.seq, op, phase, 4711, self.prev);
            entry.run = Some("speed".to_owned());
            entry.begin = (phase == Phase::Commit).then_some(begin);
            entry.type_name = Some("mock_node".to_owned());
            entry.key = Some(format!("r{object}"));
            entry.id = Some(id(object));
            entry.refs.clone_from(&refs);
            entry.before.clone_from(&before);
            entry.after.clone_from(&after);
            entry.engine_pid = Some(4700);
            let line = serde_json::to_vec(&entry).expect("an entry serialises");
            self.prev = LineHash::of(&line);
            self.bytes.push(b'\n');
            self.bytes.extend(line);
        }
    }
}
