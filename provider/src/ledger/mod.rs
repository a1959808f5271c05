//! The ledger's writer, and the world as the provider sees it through the ledger.
//!
//! Several provider processes share one ledger. Every look and every append first takes in what others have
//! written since; appends happen under a lock on the file. [`index`] makes the cost of a look independent of
//! the ledger's length.

mod append;
mod count;
mod error;
mod index;
mod overlay;
mod tally;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use equiform_proto::holds::Hold;
use equiform_proto::ledger::{Attributes, Digest, Entry, Operation, Phase, Reference};
use tokio::sync::{Mutex, MutexGuard};

pub use error::LedgerFailure;
pub use tally::Calls;

use append::AppendFile;
use count::Counted;
use index::{Damaged, Index};
use overlay::Overlay;
use tally::Tally;

use crate::hold::Wire;

/// How long an operation waits for another process that holds the ledger's lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// An index is written when this much of the ledger is not covered by one: reading that much takes about a millisecond.
const INDEX_EVERY: u64 = 256 * 1024;

/// An index is due whatever the ledger's length: the one that is there is damaged.
const AT_ONCE: u64 = 0;

/// What an entry says beyond what the ledger itself adds to it.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// The label of the run.
    pub run: Option<String>,
    /// The begin that this entry ends.
    pub begin: Option<u64>,
    /// The object's type.
    pub type_name: Option<String>,
    /// The object's name in the graph.
    pub key: Option<String>,
    /// The object's id.
    pub id: Option<String>,
    /// What the object refers to.
    pub refs: Vec<Reference>,
    /// The object before.
    pub before: Option<Attributes>,
    /// The object after.
    pub after: Option<Attributes>,
    /// Why it failed.
    pub error: Option<String>,
    /// The text of a mark.
    pub note: Option<String>,
    /// `data` for a data source.
    pub mode: Option<String>,
    /// What the engine sent along.
    pub sent: Sent,
    /// What the engine was given.
    pub returned: Option<Digest>,
    /// What the provider was told to do wrong.
    pub fault: Option<String>,
    /// How operations are held.
    pub hold: Option<Hold>,
    /// The operations that are held, by their begins.
    pub held: Vec<u64>,
    /// Those of them that go on.
    pub released: Vec<u64>,
    /// The address of the provider that is stood in for.
    pub provider: Option<String>,
    /// The engine's process.
    pub engine_pid: Option<u32>,
    /// The connection.
    pub session: Option<u64>,
    /// The request on it.
    pub request: Option<u64>,
}

/// What an engine sent along with a request: what it believed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sent {
    /// The object before.
    pub prior: Option<Digest>,
    /// The configuration.
    pub config: Option<Digest>,
    /// The object that was planned.
    pub planned: Option<Digest>,
}

/// A ledger that is open for reading and appending.
pub struct Ledger {
    path: PathBuf,
    timeout: Duration,
    inner: Mutex<Inner>,
    wire: Wire,
}

struct Inner {
    file: AppendFile,
    overlay: Overlay,
    tally: Tally,
    index: Option<Index>,
    /// The ledger's length at which the next index is due.
    index_due: u64,
    index_every: u64,
}

impl Ledger {
    /// Opens the ledger at a path, or begins one. Nothing that is there is ever overwritten.
    pub async fn open(path: &Path) -> Result<Self, LedgerFailure> {
        Self::open_with(path, INDEX_EVERY, LOCK_TIMEOUT).await
    }

    /// Opens the ledger at a path, where one must be.
    pub fn open_existing(path: &Path) -> Result<Self, LedgerFailure> {
        Self::of(AppendFile::open_existing(path)?, path, INDEX_EVERY, LOCK_TIMEOUT)
    }

    async fn open_with(path: &Path, index_every: u64, timeout: Duration) -> Result<Self, LedgerFailure> {
        let mut file = AppendFile::open(path)?;
        if file.is_empty() {
            let deadline = tokio::time::Instant::now() + timeout;
            if !locked_until(deadline, &file).await? {
                return Err(LedgerFailure::Locked { path: path.to_owned(), timeout });
            }
            let begun = file.begin_in_place();
            file.unlock();
            begun?;
        }
        Self::of(file, path, index_every, timeout)
    }

    fn of(
        mut file: AppendFile,
        path: &Path,
        index_every: u64,
        timeout: Duration,
    ) -> Result<Self, LedgerFailure> {
        let index = Index::load(path, &file);
        if let Some(index) = &index {
            file.resume(index.covered(), index.chain());
        }
        let covered = index.as_ref().map_or(0, Index::covered);
        let index_due = covered + index_every;
        let (overlay, tally) = (Overlay::default(), Tally::default());
        let mut inner = Inner { file, overlay, tally, index, index_due, index_every };
        inner.catch_up()?;
        inner.index_if_due(path);
        Ok(Self { path: path.to_owned(), timeout, inner: Mutex::new(inner), wire: Wire::default() })
    }

    /// Whether the file is still the one that its path leads to.
    pub fn is_current(&self) -> bool {
        self.inner.try_lock().map_or(true, |inner| inner.file.is_current())
    }

    /// Where the ledger is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is on the wire for this ledger.
    pub fn wire(&self) -> &Wire {
        &self.wire
    }

    /// Writes a single line: a request that changes nothing, or what a hold has decided.
    pub async fn note(&self, op: Operation, phase: Phase, body: Body) -> Result<(), LedgerFailure> {
        self.lock().await?.append(op, phase, body).map(drop)
    }

    /// The last commit of the object with this id, if the object is there.
    pub async fn by_id(&self, id: &str) -> Result<Option<Arc<Entry>>, LedgerFailure> {
        let mut inner = self.inner.lock().await;
        inner.catch_up()?;
        inner.by_id(id)
    }

    /// The last commits of the objects of a type that have this key, the most recently changed one last.
    pub async fn by_key(&self, type_name: &str, key: &str) -> Result<Vec<Arc<Entry>>, LedgerFailure> {
        let mut inner = self.inner.lock().await;
        inner.catch_up()?;
        inner.by_key(type_name, key)
    }

    /// The last commits of all objects of a type that are there, in the order of their ids. Reads the whole ledger.
    pub async fn all_of(&self, type_name: &str) -> Result<Vec<Arc<Entry>>, LedgerFailure> {
        let mut there = std::collections::BTreeMap::new();
        AppendFile::open_existing(&self.path)?.catch_up(|entry, _| {
            if entry.changes_world() && entry.type_name.as_deref() == Some(type_name) {
                let id = entry.id.clone().unwrap_or_default();
                match entry.after {
                    Some(_) => there.insert(id, Arc::new(entry)),
                    None => there.remove(&id),
                };
            }
        })?;
        Ok(there.into_values().collect())
    }

    /// Takes the ledger's lock. What is looked up in the transaction stays true until it is dropped.
    pub async fn lock(&self) -> Result<Transaction<'_>, LedgerFailure> {
        let deadline = tokio::time::Instant::now() + self.timeout;
        let locked = || LedgerFailure::Locked { path: self.path.clone(), timeout: self.timeout };
        // Operations of this process wait here while the first of them waits for another process: the time
        // counts for all.
        let inner = tokio::time::timeout_at(deadline, self.inner.lock()).await.map_err(|_| locked())?;
        if !locked_until(deadline, &inner.file).await? {
            return Err(locked());
        }
        let mut transaction = Transaction { ledger: self, inner };
        transaction.inner.prepare()?;
        Ok(transaction)
    }
}

/// Takes the lock on a ledger's file; false if another process has held it until the deadline. The lock is
/// polled: a system call that waits for it would stop all else that this process's only thread serves.
async fn locked_until(deadline: tokio::time::Instant, file: &AppendFile) -> Result<bool, LedgerFailure> {
    let mut pause = Duration::from_micros(100);
    while !file.try_lock()? {
        if tokio::time::Instant::now() + pause > deadline {
            return Ok(false);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(5));
    }
    Ok(true)
}

/// The ledger, locked.
pub struct Transaction<'a> {
    ledger: &'a Ledger,
    inner: MutexGuard<'a, Inner>,
}

impl Transaction<'_> {
    /// The last commit of the object with this id, if the object is there.
    pub fn by_id(&mut self, id: &str) -> Result<Option<Arc<Entry>>, LedgerFailure> {
        self.inner.by_id(id)
    }

    /// How often an operation on an object was asked for in a run so far, by all processes.
    pub fn calls(&mut self, calls: Calls) -> Result<u64, LedgerFailure> {
        let path = &self.ledger.path;
        self.inner
            .tally
            .count(calls, |take_in| AppendFile::open_existing(path)?.catch_up(|entry, _| take_in(&entry)))
    }

    /// How many objects of a type were begun to be created from this plan so far, by all processes.
    pub fn creations(&mut self, type_name: &str, planned: Digest) -> Result<u64, LedgerFailure> {
        self.inner.count(Counted::Creations { type_name, planned })
    }

    /// How often an object was read so far, by all processes.
    pub fn reads(&mut self, id: &str) -> Result<u64, LedgerFailure> {
        self.inner.count(Counted::Reads { id })
    }

    /// Appends an entry and returns its `seq`. Once this has returned, the entry outlives the process.
    pub fn append(&mut self, op: Operation, phase: Phase, body: Body) -> Result<u64, LedgerFailure> {
        let inner = &mut *self.inner;
        let (entry, place) = inner.file.append(op, phase, |entry| {
            entry.run = body.run;
            entry.begin = body.begin;
            entry.type_name = body.type_name;
            entry.key = body.key;
            entry.id = body.id;
            entry.refs = body.refs;
            entry.before = body.before;
            entry.after = body.after;
            entry.error = body.error;
            entry.note = body.note;
            entry.mode = body.mode;
            entry.prior = body.sent.prior;
            entry.config = body.sent.config;
            entry.planned = body.sent.planned;
            entry.returned = body.returned;
            entry.fault = body.fault;
            entry.hold = body.hold;
            entry.held = body.held;
            entry.released = body.released;
            entry.provider = body.provider;
            entry.engine_pid = body.engine_pid;
            entry.session = body.session;
            entry.request = body.request;
        })?;
        let seq = entry.seq;
        inner.tally.take_in(&entry);
        inner.overlay.take_in(entry, place);
        inner.index_if_due(&self.ledger.path);
        Ok(seq)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        self.inner.file.unlock();
    }
}

impl Inner {
    fn catch_up(&mut self) -> Result<(), LedgerFailure> {
        let Self { file, overlay, tally, .. } = self;
        file.catch_up(|entry, place| {
            tally.take_in(&entry);
            overlay.take_in(entry, place);
        })
    }

    /// Under the lock: takes in what others wrote, and accounts for what a killed one left unfinished.
    fn prepare(&mut self) -> Result<(), LedgerFailure> {
        let Self { file, overlay, tally, .. } = self;
        file.prepare(|entry, place| {
            tally.take_in(&entry);
            overlay.take_in(entry, place);
        })
    }

    fn by_id(&mut self, id: &str) -> Result<Option<Arc<Entry>>, LedgerFailure> {
        if let Some(known) = self.overlay.by_id(id) {
            return Ok(known.cloned());
        }
        let Some(index) = &self.index else { return Ok(None) };
        match index.by_id(&self.file, id) {
            Ok(found) => Ok(found.map(Arc::new)),
            Err(Damaged) => {
                self.read_all()?;
                self.by_id(id)
            }
        }
    }

    fn count(&mut self, counted: Counted<'_>) -> Result<u64, LedgerFailure> {
        let hash = counted.hash();
        match self.index.as_ref().map_or(Ok(0), |index| index.count(hash)) {
            Ok(before) => Ok(before + self.overlay.count(hash)),
            Err(Damaged) => {
                self.read_all()?;
                self.count(counted)
            }
        }
    }

    fn by_key(&mut self, type_name: &str, key: &str) -> Result<Vec<Arc<Entry>>, LedgerFailure> {
        let mut found = self.overlay.by_key(type_name, key);
        if let Some(index) = &self.index {
            let Ok(indexed) = index.by_key(&self.file, type_name, key) else {
                self.read_all()?;
                return self.by_key(type_name, key);
            };
            for entry in indexed {
                // What the overlay knows of an object is newer.
                let touched = entry.id.as_deref().is_some_and(|id| self.overlay.by_id(id).is_some());
                if !touched {
                    found.push(Arc::new(entry));
                }
            }
        }
        found.sort_by_key(|entry| entry.seq);
        Ok(found)
    }

    /// Does without the index: reads the ledger from its first entry on. The next append writes a new one.
    fn read_all(&mut self) -> Result<(), LedgerFailure> {
        self.index = None;
        self.index_due = AT_ONCE;
        self.overlay = Overlay::default();
        self.tally = Tally::default();
        self.file.rewind()?;
        self.catch_up()
    }

    /// Writes an index once enough has been appended since the last one. An index only saves time, so a failure to
    /// write one (a full disk, a read-only folder) is no failure of the operation; it is tried again later.
    fn index_if_due(&mut self, path: &Path) {
        if self.file.accounted() < self.index_due || !self.file.is_whole() {
            return;
        }
        // Another process may have written a newer one meanwhile, and one is enough.
        if self.index_due != AT_ONCE
            && let Some(index) = Index::load(path, &self.file)
            && self.index.as_ref().is_none_or(|old| old.covered() < index.covered())
            && index.covered() <= self.file.accounted()
        {
            self.index_due = index.covered() + self.index_every;
            self.overlay.forget_before(index.covered());
            self.index = Some(index);
            if self.file.accounted() < self.index_due {
                return;
            }
        }
        self.index_due = self.file.accounted() + self.index_every;
        if let Ok(index) = Index::write(path, &self.file, self.index.as_ref(), &self.overlay) {
            self.index = Some(index);
            self.overlay = Overlay::default();
        }
    }
}
