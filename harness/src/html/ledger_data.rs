//! What a ledger's page holds: a column for each field of the entries, and what became of each object.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use equiform_proto::ledger::{Conflict, Entry, Header, Operation, Phase, World};
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value as Json;

use super::clip::{Clipped, MOST, clip, short};
use super::layout::{Layout, MOST_NODES, layout};

/// The most characters of a name, and of a value of an attribute.
const MOST_OF_VALUE: usize = 200;

/// The data.
#[derive(Debug, Default, Serialize)]
pub struct Columns {
    version: u32,
    equiform: &'static str,
    file: String,
    id: String,
    created: String,
    torn_bytes: u64,
    open: usize,
    lines_together: usize,
    operations: Vec<&'static str>,
    phases: Vec<&'static str>,
    keys: Vec<String>,
    ids: Vec<String>,
    runs: Vec<String>,
    paths: Vec<String>,
    /// A digit in base 36 for each entry.
    op: String,
    phase: String,
    /// Places in the lists above, counted from 1; 0 is nothing.
    key: Vec<usize>,
    object: Vec<usize>,
    run: Vec<usize>,
    begin: Vec<u64>,
    /// Microseconds since the entry before.
    time: Vec<i64>,
    first_time: String,
    /// Remarks: errors, notes, faults.
    remarks: BTreeMap<u64, String>,
    /// Each change of an object: the `seq`, the object, the key, its references, its attributes. Without the last two,
    /// the object is gone.
    changes: Vec<Change>,
    /// Where keys stand that are drawn; none if there are too many.
    layout: Option<Layout>,
    /// The places of the keys that are drawn.
    drawn: Vec<usize>,
    #[serde(skip)]
    places: Places,
    #[serde(skip)]
    world: World,
    #[serde(skip)]
    last_time: Option<i64>,
    #[serde(skip)]
    key_of: FxHashMap<usize, usize>,
    #[serde(skip)]
    edges: BTreeSet<(usize, usize)>,
}

#[derive(Debug, Serialize)]
struct Change(u64, usize, usize, Option<Vec<(usize, usize)>>, Option<BTreeMap<String, String>>);

#[derive(Debug, Default)]
struct Places {
    keys: FxHashMap<String, usize>,
    ids: FxHashMap<String, usize>,
    runs: FxHashMap<String, usize>,
    paths: FxHashMap<String, usize>,
}

/// The place of a text in a list, counted from 1.
fn place(list: &mut Vec<String>, places: &mut FxHashMap<String, usize>, text: Option<&str>) -> usize {
    let Some(text) = text else { return 0 };
    if let Some(place) = places.get(text) {
        return *place;
    }
    list.push(short(text, MOST_OF_VALUE));
    places.insert(text.to_owned(), list.len());
    list.len()
}

fn digit(place: Option<usize>) -> char {
    place.and_then(|place| char::from_digit(u32::try_from(place).ok()?, 36)).unwrap_or('z')
}

impl Columns {
    /// Of a ledger without entries.
    pub fn new(file: &Path, header: &Header) -> Self {
        Self {
            version: 1,
            equiform: env!("CARGO_PKG_VERSION"),
            file: file.display().to_string(),
            id: short(&header.id, MOST_OF_VALUE),
            created: header.created.to_string(),
            operations: Operation::ALL.iter().map(|operation| operation.name()).collect(),
            phases: Phase::ALL.iter().map(|phase| phase.name()).collect(),
            ..Self::default()
        }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.key.len()
    }

    /// A line as a page holds it.
    pub fn line(&self, bytes: &[u8]) -> Clipped {
        clip(&String::from_utf8_lossy(bytes), MOST)
    }

    /// Adds the next entry. Fails if it cannot have happened after those before it.
    pub fn add(&mut self, entry: Entry) -> Result<(), Conflict> {
        self.op.push(digit(Operation::ALL.iter().position(|operation| *operation == entry.op)));
        self.phase.push(digit(Phase::ALL.iter().position(|phase| *phase == entry.phase)));
        let key = place(&mut self.keys, &mut self.places.keys, entry.key.as_deref());
        let object = place(&mut self.ids, &mut self.places.ids, entry.id.as_deref());
        self.key.push(key);
        self.object.push(object);
        self.run.push(place(&mut self.runs, &mut self.places.runs, entry.run.as_deref()));
        self.begin.push(entry.begin.unwrap_or_default());
        let time = entry.time.as_microsecond();
        if self.last_time.is_none() {
            self.first_time = entry.time.to_string();
        }
        self.time.push(time - self.last_time.unwrap_or(time));
        self.last_time = Some(time);
        let remarks = [("error: ", &entry.error), ("", &entry.note), ("told to fail: ", &entry.fault)];
        let remarks =
            remarks.into_iter().filter_map(|(word, text)| Some(format!("{word}{}", text.as_ref()?)));
        let remarks: Vec<String> = remarks.collect();
        if !remarks.is_empty() {
            self.remarks.insert(entry.seq, short(&remarks.join("; "), MOST_OF_VALUE));
        }
        if entry.changes_world() {
            let change = self.change(&entry, object, key);
            self.changes.push(change);
        }
        self.world.apply(entry)
    }

    fn change(&mut self, entry: &Entry, object: usize, key: usize) -> Change {
        let known = key_or(key, self.key_of.get(&object).copied());
        self.key_of.insert(object, known);
        let Some(after) = &entry.after else { return Change(entry.seq, object, known, None, None) };
        let references: Vec<(usize, usize)> = entry
            .refs
            .iter()
            .map(|reference| {
                let path = place(&mut self.paths, &mut self.places.paths, Some(&reference.path));
                (path, place(&mut self.ids, &mut self.places.ids, Some(&reference.id)))
            })
            .collect();
        for (_, target) in &references {
            if let Some(dependency) = self.key_of.get(target) {
                self.edges.insert((*dependency, known));
            }
        }
        let said = |value: &Json| match value {
            Json::String(text) => short(text, MOST_OF_VALUE),
            other => short(&other.to_string(), MOST_OF_VALUE),
        };
        // What is null says nothing, and id and key stand in columns of their own.
        let tells = |name: &str, value: &Json| !value.is_null() && !["id", "key"].contains(&name);
        let attributes = after.iter().filter(|(name, value)| tells(name, value));
        let attributes = attributes.map(|(name, value)| (short(name, MOST_OF_VALUE), said(value)));
        Change(entry.seq, object, known, Some(references), Some(attributes.collect()))
    }

    /// The data of all entries.
    pub fn finish(mut self, torn_bytes: u64, open: usize, lines_together: usize) -> Self {
        (self.torn_bytes, self.open, self.lines_together) = (torn_bytes, open, lines_together);
        let drawn: BTreeSet<usize> =
            self.changes.iter().map(|change| change.2).filter(|key| *key > 0).collect();
        if drawn.len() <= MOST_NODES {
            self.drawn = drawn.into_iter().collect();
            let number: FxHashMap<usize, usize> =
                self.drawn.iter().enumerate().map(|(number, key)| (*key, number)).collect();
            let names: Vec<String> = self.drawn.iter().map(|key| self.keys[key - 1].clone()).collect();
            let edges =
                self.edges.iter().filter_map(|(from, to)| Some((*number.get(from)?, *number.get(to)?)));
            self.layout = layout(&names, &edges.collect::<Vec<_>>());
        }
        self
    }
}

fn key_or(key: usize, known: Option<usize>) -> usize {
    if key > 0 { key } else { known.unwrap_or(0) }
}
