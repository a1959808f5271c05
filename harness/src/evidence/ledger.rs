//! The ledger of a variant, given stage by stage.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

use equiform_proto::ledger::{Entry, Object, Operation, Phase, Reader, Record, Tail, World};

use super::{Unreadable, unreadable};
use crate::spec::{ObjectRole, OperationKind, ResourceOperation};

/// An operation, from the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedOperation {
    /// What was done, to which key.
    pub operation: ResourceOperation,
    /// The `seq` of its begin.
    pub begin: u64,
    /// The `seq` of its end, and whether it took effect. None if it never ended.
    pub end: Option<(u64, bool)>,
    /// The object; none if that is not known.
    pub id: Option<Box<str>>,
    /// What the provider was told to do wrong in it.
    pub fault: Option<Box<str>>,
}

/// What a ledger has of a stage.
#[derive(Debug, Clone, Default)]
pub struct StageEntries {
    /// The operations, in the order of their begins.
    pub operations: Vec<ObservedOperation>,
    /// What began or ended after the command that had asked for it: of this stage or of an earlier one.
    pub late: Vec<LateEntry>,
}

/// An entry that came after the command that had asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LateEntry {
    /// What was asked for.
    pub request: Operation,
    /// Which part of it came late.
    pub phase: Phase,
    /// The key, where there is one.
    pub key: Option<String>,
    /// Its sequence number.
    pub seq: u64,
    /// The stage that had asked for it.
    pub stage: String,
}

/// Who looks at the entries of a stage while the ledger is folded into the world.
pub trait LedgerObserver {
    /// The stage begins in this world.
    fn begin(&mut self, world: &World);

    /// An entry follows, which is not in this world yet.
    fn entry(&mut self, entry: &Entry, world: &World);
}

/// Looks at nothing.
impl LedgerObserver for () {
    fn begin(&mut self, _world: &World) {}

    fn entry(&mut self, _entry: &Entry, _world: &World) {}
}

/// A ledger whose entries carry the names of stages. It is read once and in order; what is in memory is the
/// world and the operations of one stage.
pub struct StagedLedger {
    path: PathBuf,
    /// None if there is no ledger, which is right if no engine came as far as to begin one.
    reader: Option<Reader<BufReader<File>>>,
    /// An entry of a later stage, met while an earlier one was read, and where it begins in the file.
    ahead: Option<(Box<Entry>, u64)>,
    /// How much of the file has been read.
    offset: u64,
    /// The stages that were taken.
    taken: Vec<String>,
    world: World,
}

impl StagedLedger {
    /// Opens a ledger that was at least so long when its last stage had ended.
    pub fn open(path: PathBuf, recorded: u64) -> Result<Self, Unreadable> {
        let (file, length) = match File::open(&path) {
            Ok(file) => {
                let length = file.metadata().map_err(unreadable(&path))?.len();
                (Some(file), length)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => (None, 0),
            Err(error) => return Err(unreadable(&path)(error)),
        };
        if length < recorded {
            let why = format!("the ledger is cut: it has {length} bytes of the {recorded} that were written");
            return Err(unreadable(&path)(why));
        }
        let reader = file.map(|file| Reader::new(BufReader::with_capacity(1 << 20, file)));
        Ok(Self { path, reader, ahead: None, offset: 0, taken: Vec::new(), world: World::default() })
    }

    /// The world after what was read so far.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Reads everything up to the entries of a stage, and folds it into the world.
    pub fn skip_to(&mut self, run: &str) -> Result<(), Unreadable> {
        while let Some((entry, begins_at)) = self.next()? {
            if entry.run.as_deref() == Some(run) {
                self.ahead = Some((entry, begins_at));
                break;
            }
            self.world.apply(*entry).map_err(unreadable(&self.path))?;
        }
        Ok(())
    }

    /// Reads the entries of a stage and folds them into the world. The ledger was so long when its command had ended.
    pub fn take(
        &mut self,
        run: &str,
        length: u64,
        observer: &mut dyn LedgerObserver,
    ) -> Result<StageEntries, Unreadable> {
        let (mut entries, mut open) = (StageEntries::default(), HashMap::new());
        observer.begin(&self.world);
        let mut roles = None;
        while let Some((entry, begins_at)) = self.next()? {
            let label = entry.run.as_deref();
            let is_earlier = label.is_some_and(|label| self.taken.iter().any(|taken| taken == label));
            // A remark belongs to no stage: a writer leaves one where it accounts for an unfinished line.
            if label != Some(run) && !is_earlier && entry.op != Operation::Mark {
                self.ahead = Some((entry, begins_at));
                break;
            }
            if is_earlier || (label == Some(run) && begins_at >= length) {
                entries.late.push(LateEntry {
                    request: entry.op,
                    phase: entry.phase,
                    key: entry.key.clone(),
                    seq: entry.seq,
                    stage: label.unwrap_or(run).to_owned(),
                });
            }
            observer.entry(&entry, &self.world);
            let roles = roles.get_or_insert_with(|| Roles::at(&self.world));
            note(&entry, roles, &mut entries.operations, &mut open);
            self.world.apply(*entry).map_err(unreadable(&self.path))?;
        }
        self.taken.push(run.to_owned());
        Ok(entries)
    }

    /// Checks that nothing is left: every entry was of a stage, and the stages came in their order.
    pub fn finish(&mut self) -> Result<(), Unreadable> {
        if let Some((entry, _)) = self.next()? {
            let run = entry.run.as_deref().unwrap_or("nobody");
            let why =
                format!("seq {} is an entry of {run}, which is not the stage that is due there", entry.seq);
            return Err(unreadable(&self.path)(why));
        }
        match self.reader.as_ref().map(Reader::tail) {
            Some(Tail::Torn { bytes }) => {
                let why =
                    format!("the ledger ends in {bytes} bytes of a line that its writer did not finish");
                Err(unreadable(&self.path)(why))
            }
            Some(Tail::Whole) | None => Ok(()),
        }
    }

    /// The next entry, and where it begins in the file.
    fn next(&mut self) -> Result<Option<(Box<Entry>, u64)>, Unreadable> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        while let Some(line) = reader.next() {
            let record = line.map_err(unreadable(&self.path))?.record;
            let begins_at = self.offset;
            self.offset += reader.bytes().len() as u64 + 1;
            match record {
                Record::Entry(entry) => return Ok(Some((entry, begins_at))),
                Record::Header(_) | Record::Torn => {}
            }
        }
        Ok(None)
    }
}

/// Which object of a node an operation is about, seen from the beginning of a stage.
#[derive(Debug, Default)]
struct Roles {
    /// The objects of nodes that had more than one when the stage began, the oldest first.
    several: FxHashMap<Box<str>, Vec<Box<str>>>,
    /// The objects that were created since.
    created: FxHashSet<Box<str>>,
}

impl Roles {
    /// In a stage that begins with this world.
    fn at(world: &World) -> Self {
        let mut by_key: FxHashMap<&str, Vec<&Object>> = FxHashMap::default();
        for object in world.unordered() {
            by_key.entry(object.key.as_deref().unwrap_or_default()).or_default().push(object);
        }
        by_key.retain(|key, objects| !key.is_empty() && objects.len() > 1);
        let several = by_key.into_iter().map(|(key, mut objects)| {
            objects.sort_unstable_by_key(|object| object.created);
            (key.into(), objects.into_iter().map(|object| object.id.as_str().into()).collect())
        });
        Self { several: several.collect(), created: FxHashSet::default() }
    }

    fn of(&self, kind: OperationKind, key: &str, id: Option<&str>) -> ObjectRole {
        let Some(id) = id.filter(|_| kind != OperationKind::Create) else { return ObjectRole::New };
        if self.created.contains(id) {
            return ObjectRole::New;
        }
        let Some(objects) = self.several.get(key) else { return ObjectRole::Current };
        match objects.iter().position(|object| **object == *id) {
            Some(place) if place + 1 < objects.len() => ObjectRole::Old(place as u32),
            _ => ObjectRole::Current,
        }
    }
}

/// Adds a begin to the operations, or an end to its begin. `open` has the place of each begin, by its `seq`.
fn note(
    entry: &Entry,
    roles: &mut Roles,
    operations: &mut Vec<ObservedOperation>,
    open: &mut HashMap<u64, usize>,
) {
    let kind = match entry.op {
        Operation::Create => OperationKind::Create,
        Operation::Update => OperationKind::Update,
        Operation::Delete => OperationKind::Delete,
        _ => return,
    };
    match (entry.phase, entry.begin) {
        (Phase::Begin, _) => {
            let key = entry.key.as_deref().unwrap_or_default();
            let object = roles.of(kind, key, entry.id.as_deref());
            let operation = ResourceOperation { key: key.into(), kind, object };
            open.insert(entry.seq, operations.len());
            let id = entry.id.as_deref().map(Into::into);
            operations.push(ObservedOperation { operation, begin: entry.seq, end: None, id, fault: None });
        }
        (phase, Some(begin)) => {
            if let Some(place) = open.remove(&begin) {
                if kind == OperationKind::Create && phase == Phase::Commit {
                    roles.created.extend(entry.id.as_deref().map(Into::into));
                }
                operations[place].end = Some((entry.seq, phase == Phase::Commit));
                // An object that is made gets its id on the way.
                if let (None, Some(id)) = (&operations[place].id, &entry.id) {
                    operations[place].id = Some(id.as_str().into());
                }
                operations[place].fault = entry.fault.as_deref().map(Into::into);
            }
        }
        (_, None) => {}
    }
}
