//! The ledger as the engine left it: checked from its first byte on, then looked at.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use equiform::algebra::graph::NamedGraph;
use equiform::judge::observe::graph_of;
use equiform_proto::ledger::{Attributes, Entry, Operation, Phase, Reader, Record, Tail, World};

/// A graph, by the names of its nodes and its edges from dependency to dependent.
pub fn graph(nodes: &[&str], edges: &[(&str, &str)]) -> NamedGraph {
    NamedGraph {
        nodes: nodes.iter().map(|&node| node.to_owned()).collect(),
        edges: edges.iter().map(|&(from, to)| (from.to_owned(), to.to_owned())).collect(),
        ..NamedGraph::default()
    }
}

/// A ledger that verifies and in which nothing is left open.
pub struct Ledger {
    entries: Vec<Entry>,
    world: World,
}

impl Ledger {
    /// Reads and checks the ledger at a path. A missing one is empty: nothing has been done yet.
    #[track_caller]
    pub fn read(path: &Path) -> Self {
        let (ledger, open) = Self::read_all(path);
        assert!(open.is_empty(), "operations are left open in {}: {open:?}", path.display());
        ledger
    }

    /// The same for a ledger that had no room for the end of an operation.
    #[track_caller]
    pub fn read_with_open(path: &Path) -> Self {
        Self::read_all(path).0
    }

    #[track_caller]
    fn read_all(path: &Path) -> (Self, Vec<u64>) {
        let mut open = Vec::new();
        let (mut entries, mut world) = (Vec::new(), World::default());
        if let Ok(file) = File::open(path) {
            let mut reader = Reader::new(BufReader::new(file));
            for line in reader.by_ref() {
                let line = line.unwrap_or_else(|error| panic!("{} is bad: {error}", path.display()));
                if let Record::Entry(entry) = line.record {
                    world.apply((*entry).clone()).unwrap_or_else(|conflict| panic!("{conflict}"));
                    entries.push(*entry);
                }
            }
            assert_eq!(reader.tail(), Tail::Whole, "{}", path.display());
            open = reader.open_operations();
        }
        (Self { entries, world }, open)
    }

    /// The graph that the objects form. No reference may lead nowhere.
    #[track_caller]
    pub fn graph(&self) -> NamedGraph {
        let (graph, dangling) = graph_of(&self.world);
        assert_eq!(dangling, []);
        assert_eq!(self.world.len(), graph.nodes.len(), "no two objects share a key");
        graph
    }

    /// The attributes of the one object with this key.
    #[track_caller]
    pub fn object(&self, key: &str) -> Attributes {
        let found: Vec<_> =
            self.world.objects().filter(|object| object.key.as_deref() == Some(key)).collect();
        assert_eq!(found.len(), 1, "objects with the key {key}");
        found[0].attributes.unpack()
    }

    /// The id of the one object with this key.
    #[track_caller]
    pub fn id(&self, key: &str) -> String {
        self.object(key)["id"].as_str().expect("an id is a text").to_owned()
    }

    /// The revision of the one object with this key.
    #[track_caller]
    pub fn revision(&self, key: &str) -> u64 {
        self.object(key)["revision"].as_u64().expect("a revision is a number")
    }

    /// The label of the one object with this key.
    #[track_caller]
    pub fn label(&self, key: &str) -> Option<String> {
        self.object(key)["label"].as_str().map(str::to_owned)
    }

    /// The run labels of all entries, each once.
    pub fn runs(&self) -> Vec<&str> {
        let mut runs: Vec<_> = self.entries.iter().filter_map(|entry| entry.run.as_deref()).collect();
        runs.sort_unstable();
        runs.dedup();
        runs
    }

    /// The `seq` of the last entry that is more than a request, 0 if there is none.
    pub fn last_seq(&self) -> u64 {
        self.changes().last().map_or(0, |entry| entry.seq)
    }

    /// All entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All entries but requests that change nothing.
    pub fn changes(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| !entry.op.changes_nothing() && entry.op != Operation::Import)
    }

    /// The operations that ended after an entry. Requests that change nothing are none.
    pub fn operations_since(&self, seq: u64) -> Operations {
        let ended = self.changes().filter(|entry| entry.seq > seq && entry.phase != Phase::Begin);
        Operations(ended.map(Span::of).collect())
    }
}

/// An operation from its begin to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub operation: Operation,
    pub key: String,
    pub id: String,
    pub begin: u64,
    pub end: u64,
    pub phase: Phase,
}

impl Span {
    fn of(end: &Entry) -> Self {
        Self {
            operation: end.op,
            key: end.key.clone().unwrap_or_default(),
            id: end.id.clone().unwrap_or_default(),
            begin: end.begin.unwrap_or(end.seq),
            end: end.seq,
            phase: end.phase,
        }
    }

    /// Demands that this operation had ended before another began.
    #[track_caller]
    pub fn is_before(&self, other: &Self) {
        assert!(self.end < other.begin, "{self:?} is not before {other:?}");
    }
}

/// Operations, in the order of their ends.
#[derive(Debug)]
pub struct Operations(Vec<Span>);

impl Operations {
    /// Demands that these and no others were done: `"create a"`, `"failed delete b"`, in any order.
    #[track_caller]
    pub fn are(&self, expected: &[&str]) -> &Self {
        let count = |texts: Vec<String>| {
            texts.into_iter().fold(BTreeMap::new(), |mut counts: BTreeMap<String, usize>, text| {
                *counts.entry(text).or_default() += 1;
                counts
            })
        };
        let done = self.0.iter().map(|span| {
            let failed = if span.phase == Phase::Fail { "failed " } else { "" };
            format!("{failed}{} {}", span.operation, span.key)
        });
        assert_eq!(count(done.collect()), count(expected.iter().map(|&text| text.to_owned()).collect()));
        self
    }

    /// How many there were.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The one operation of this kind on an object with this key.
    #[track_caller]
    pub fn one(&self, operation: Operation, key: &str) -> &Span {
        let found: Vec<_> =
            self.0.iter().filter(|span| span.operation == operation && span.key == key).collect();
        assert_eq!(found.len(), 1, "{operation} {key} in {self:?}");
        found[0]
    }

    #[track_caller]
    pub fn create(&self, key: &str) -> &Span {
        self.one(Operation::Create, key)
    }

    #[track_caller]
    pub fn update(&self, key: &str) -> &Span {
        self.one(Operation::Update, key)
    }

    #[track_caller]
    pub fn delete(&self, key: &str) -> &Span {
        self.one(Operation::Delete, key)
    }
}
