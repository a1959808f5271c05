//! The ledger of a variant, given stage by stage.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use equiform_proto::ledger::{Entry, Operation, Phase, Reader, Record, Tail, World};

use super::{Unreadable, unreadable};
use crate::model::{ExpectedOperation, Kind};

/// An operation, from the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// What was done, to which key.
    pub operation: ExpectedOperation,
    /// The `seq` of its begin.
    pub begin: u64,
    /// The `seq` of its end, and whether it took effect. None if it never ended.
    pub end: Option<(u64, bool)>,
}

/// A ledger whose entries carry the names of stages. It is read once and in order; what is in memory is the world and the
/// operations of one stage.
pub struct StagedLedger {
    path: PathBuf,
    /// None if there is no ledger, which is right if no engine came as far as to begin one.
    reader: Option<Reader<BufReader<File>>>,
    /// An entry of a later stage, met while an earlier one was read.
    ahead: Option<Box<Entry>>,
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
        Ok(Self { path, reader, ahead: None, world: World::default() })
    }

    /// The world after what was read so far.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Reads the entries of a stage: folds them into the world and gives its operations.
    pub fn take(&mut self, run: &str) -> Result<Vec<Observed>, Unreadable> {
        let (mut operations, mut open) = (Vec::new(), HashMap::new());
        while let Some(entry) = self.next()? {
            // A remark belongs to no stage: a writer leaves one where it accounts for an unfinished line.
            if entry.run.as_deref() != Some(run) && entry.op != Operation::Mark {
                self.ahead = Some(entry);
                break;
            }
            note(&entry, &mut operations, &mut open);
            self.world.apply(*entry).map_err(unreadable(&self.path))?;
        }
        Ok(operations)
    }

    /// Checks that nothing is left: every entry was of a stage, and the stages came in their order.
    pub fn finish(&mut self) -> Result<(), Unreadable> {
        if let Some(entry) = self.next()? {
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

    fn next(&mut self) -> Result<Option<Box<Entry>>, Unreadable> {
        if let Some(entry) = self.ahead.take() {
            return Ok(Some(entry));
        }
        let Some(reader) = &mut self.reader else { return Ok(None) };
        for line in reader {
            if let Record::Entry(entry) = line.map_err(unreadable(&self.path))?.record {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }
}

/// Adds a begin to the operations, or an end to its begin. `open` has the place of each begin, by its `seq`.
fn note(entry: &Entry, operations: &mut Vec<Observed>, open: &mut HashMap<u64, usize>) {
    let kind = match entry.op {
        Operation::Create => Kind::Create,
        Operation::Update => Kind::Update,
        Operation::Delete => Kind::Delete,
        _ => return,
    };
    match (entry.phase, entry.begin) {
        (Phase::Begin, _) => {
            let operation = ExpectedOperation { key: entry.key.clone().unwrap_or_default(), kind };
            open.insert(entry.seq, operations.len());
            operations.push(Observed { operation, begin: entry.seq, end: None });
        }
        (phase, Some(begin)) => {
            if let Some(place) = open.remove(&begin) {
                operations[place].end = Some((entry.seq, phase == Phase::Commit));
            }
        }
        (_, None) => {}
    }
}
