//! The ledger's file: taking in what others appended, and appending under the lock.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use equiform_proto::ledger::{
    BadLine, Chain, Entry, FORMAT_VERSION, HEADER_LIMIT, Header, LINE_LIMIT, LineHash, Operation, Phase,
    Record,
};

use super::error::LedgerFailure;

/// How much is read at once while catching up.
const READ_SIZE: usize = 1 << 20;

/// Where a line stands in the file, its line break not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Its first byte.
    pub offset: u64,
    /// Its length.
    pub length: u32,
}

/// The open file, and how far it has been taken in.
pub struct AppendFile {
    path: PathBuf,
    file: File,
    chain: Chain,
    /// Up to here every byte belongs to a line that the chain has accepted.
    accounted: u64,
    header_hash: LineHash,
    last_line: Option<Place>,
    pid: u32,
}

impl AppendFile {
    /// Opens the file, or begins a ledger where there is none. The header is read and checked; an empty file
    /// has none, and becomes a ledger by [`Self::begin_in_place`].
    pub fn open(path: &Path) -> Result<Self, LedgerFailure> {
        let on_open = |error| LedgerFailure::on_open(path, error);
        let file = match options().open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                begin(path)?;
                options().open(path).map_err(on_open)?
            }
            opened => opened.map_err(on_open)?,
        };
        Self::of(file, path)
    }

    /// Opens the file of a ledger that must be there.
    pub fn open_existing(path: &Path) -> Result<Self, LedgerFailure> {
        let file = options().open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                LedgerFailure::Missing { path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()) }
            }
            _ => LedgerFailure::on_open(path, error),
        })?;
        let this = Self::of(file, path)?;
        if this.is_empty() { Err(this.bad(BadLine::Empty)) } else { Ok(this) }
    }

    fn of(file: File, path: &Path) -> Result<Self, LedgerFailure> {
        let on_open = |error| LedgerFailure::on_open(path, error);
        let metadata = file.metadata().map_err(on_open)?;
        if !metadata.is_file() {
            return Err(LedgerFailure::NotAFile { path: path.to_owned() });
        }
        let mut this = Self {
            path: path.to_owned(),
            file,
            chain: Chain::default(),
            accounted: 0,
            header_hash: LineHash([0; 32]),
            last_line: None,
            pid: std::process::id(),
        };
        if metadata.len() > 0 {
            this.read_header()?;
        }
        Ok(this)
    }

    /// Whether the file was empty when it was opened, and no ledger has been begun in it.
    pub fn is_empty(&self) -> bool {
        self.accounted == 0
    }

    /// Under the lock: an empty file that someone made beforehand becomes a ledger, unless another process
    /// was faster.
    pub fn begin_in_place(&mut self) -> Result<(), LedgerFailure> {
        let result = match self.file.metadata() {
            Ok(metadata) if metadata.len() == 0 => (&self.file).write_all(&header_line()),
            other => other.map(drop),
        };
        result.map_err(|error| LedgerFailure::on_append(&self.path, error))?;
        self.read_header()
    }

    fn read_header(&mut self) -> Result<(), LedgerFailure> {
        let mut start = [0; HEADER_LIMIT];
        let read = self.read_at(&mut start, 0)?;
        let line_break = start[..read].iter().position(|&byte| byte == b'\n');
        // Without a line break it is no header; the chain says what it is instead.
        let end = line_break.unwrap_or(read);
        let breaks_off = line_break.is_none() && read < start.len();
        let accepted = self.chain.accept(&start[..end]);
        accepted.map_err(|reason| self.bad(reason.of_first_line(breaks_off)))?;
        if line_break.is_none() {
            return Err(self.bad(BadLine::TornHeader));
        }
        self.header_hash = LineHash::of(&start[..end]);
        self.accounted = end as u64 + 1;
        Ok(())
    }

    /// Skips to a point that an index vouches for.
    pub fn resume(&mut self, accounted: u64, chain: Chain) {
        self.accounted = accounted;
        self.chain = chain;
    }

    /// Goes back to the first entry.
    pub fn rewind(&mut self) -> Result<(), LedgerFailure> {
        self.chain = Chain::default();
        self.last_line = None;
        self.read_header()
    }

    /// The chain, as far as the file has been taken in.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// How many bytes have been taken in.
    pub fn accounted(&self) -> u64 {
        self.accounted
    }

    /// Whether what has been taken in ends with a whole line.
    pub fn is_whole(&self) -> bool {
        self.chain.torn().is_none()
    }

    /// The hash of the header's line, which tells this ledger from others.
    pub fn header_hash(&self) -> LineHash {
        self.header_hash
    }

    /// The last entry's place, if one has been taken in.
    pub fn last_line(&self) -> Option<Place> {
        self.last_line
    }

    /// Whether the path still leads to this file: it has not been removed, replaced or moved away.
    pub fn is_current(&self) -> bool {
        let (there, ours) = (std::fs::metadata(&self.path), self.file.metadata());
        let file = |metadata: Metadata| (metadata.dev(), metadata.ino());
        matches!((there.map(file), ours.map(file)), (Ok(there), Ok(ours)) if there == ours)
    }

    /// The line at a place.
    pub fn line(&self, place: Place) -> Result<Vec<u8>, LedgerFailure> {
        let mut line = vec![0; place.length as usize];
        let read = self.read_at(&mut line, place.offset)?;
        line.truncate(read);
        Ok(line)
    }

    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Result<bool, LedgerFailure> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(source)) => {
                Err(LedgerFailure::Io { path: self.path.clone(), doing: "locked", source })
            }
        }
    }

    /// Gives the lock back.
    pub fn unlock(&self) {
        // The only failure is an invalid descriptor, and this one is open.
        let _ = self.file.unlock();
    }

    /// Takes in whole lines that have been appended since, by this process or another.
    pub fn catch_up(&mut self, take_in: impl FnMut(Entry, Place)) -> Result<(), LedgerFailure> {
        self.read_on(take_in).map(drop)
    }

    /// Under the lock: takes in what others appended, and accounts for what a killed writer left unfinished.
    pub fn prepare(&mut self, mut take_in: impl FnMut(Entry, Place)) -> Result<(), LedgerFailure> {
        let rest = self.read_on(&mut take_in)?;
        if !rest.is_empty() {
            // We hold the lock, so nobody is still writing this line. The chain moves on only once the line break is
            // there: a full disk must not leave it ahead of the file.
            let mut chain = self.chain.clone();
            let record = chain.accept(&rest).map_err(|reason| self.bad(reason))?;
            self.write(b"\n")?;
            self.chain = chain;
            // An entry here is whole: only its line break was missing.
            self.account(record, rest.len(), &mut take_in);
        }
        if let Some(torn) = self.chain.torn() {
            self.append(Operation::Mark, Phase::Commit, |entry| {
                entry.note = Some("a writer was killed before it had finished the line before".to_owned());
                entry.torn = Some(torn);
            })?;
        }
        Ok(())
    }

    /// Appends an entry in one write. On failure the file is as it was.
    pub fn append(
        &mut self,
        op: Operation,
        phase: Phase,
        fill: impl FnOnce(&mut Entry),
    ) -> Result<(Entry, Place), LedgerFailure> {
        let prev = self.chain.last_hash().expect("a ledger has a header before it has entries");
        let mut entry = Entry::new(self.chain.last_seq() + 1, op, phase, self.pid, prev);
        fill(&mut entry);
        let mut line = serde_json::to_vec(&entry).expect("an entry is always JSON");
        if line.len() > LINE_LIMIT {
            return Err(LedgerFailure::TooLong { path: self.path.clone(), bytes: line.len() });
        }
        let hash = LineHash::of(&line);
        line.push(b'\n');
        self.write(&line)?;
        let place = Place { offset: self.accounted, length: line_length(line.len() - 1) };
        self.accounted += line.len() as u64;
        self.last_line = Some(place);
        self.chain = Chain::resume(entry.seq, hash);
        Ok((entry, place))
    }

    /// Reads at a place; fewer bytes than asked for only at the end of the file.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, LedgerFailure> {
        #[cfg(test)]
        BYTES_READ.with(|bytes| bytes.set(bytes.get() + buffer.len() as u64));
        let mut read = 0;
        while read < buffer.len() {
            match self.file.read_at(&mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(LedgerFailure::Io { path: self.path.clone(), doing: "read", source });
                }
            }
        }
        Ok(read)
    }

    /// Takes in whole lines, and returns the bytes after the last of them.
    fn read_on(&mut self, mut take_in: impl FnMut(Entry, Place)) -> Result<Vec<u8>, LedgerFailure> {
        let metadata = self.file.metadata();
        let metadata = metadata.map_err(|source| LedgerFailure::Io {
            path: self.path.clone(),
            doing: "looked at",
            source,
        })?;
        if !self.is_current() {
            return Err(LedgerFailure::Gone { path: self.path.clone() });
        }
        if metadata.len() < self.accounted {
            return Err(LedgerFailure::Shrunk { path: self.path.clone() });
        }
        let mut rest: Vec<u8> = Vec::new();
        let mut offset = self.accounted;
        while offset < metadata.len() {
            let kept = rest.len();
            let wanted = usize::try_from(metadata.len() - offset).unwrap_or(READ_SIZE).min(READ_SIZE);
            rest.resize(kept + wanted, 0);
            let read = self.read_at(&mut rest[kept..], offset)?;
            rest.truncate(kept + read);
            if read == 0 {
                break;
            }
            offset += read as u64;
            let mut taken = 0;
            while let Some(length) = rest[taken..].iter().position(|&byte| byte == b'\n') {
                let record = self.chain.accept(&rest[taken..taken + length]);
                let record = record.map_err(|reason| self.bad(reason))?;
                self.account(record, length, &mut take_in);
                taken += length + 1;
            }
            rest.drain(..taken);
            if rest.len() > LINE_LIMIT {
                return Err(self.bad(BadLine::TooLong));
            }
        }
        Ok(rest)
    }

    /// Moves on past a line that the chain has accepted.
    fn account(&mut self, record: Record, length: usize, mut take_in: impl FnMut(Entry, Place)) {
        let place = Place { offset: self.accounted, length: line_length(length) };
        self.accounted += length as u64 + 1;
        if let Record::Entry(entry) = record {
            self.last_line = Some(place);
            take_in(*entry, place);
        }
    }

    fn bad(&self, reason: BadLine) -> LedgerFailure {
        LedgerFailure::Bad { path: self.path.clone(), reason }
    }

    /// Writes at the end, all or nothing.
    fn write(&self, bytes: &[u8]) -> Result<(), LedgerFailure> {
        let before = self.file.metadata().map(|metadata| metadata.len());
        let written = (&self.file).write_all(bytes);
        if let (Err(_), Ok(before)) = (&written, before) {
            // Part of the line may have fitted on a full disk. If taking it back fails as well, the next writer
            // accounts for it as torn.
            let _ = self.file.set_len(before);
        }
        written.map_err(|error| LedgerFailure::on_append(&self.path, error))
    }
}

#[cfg(test)]
thread_local! {
    /// How many bytes of ledgers this thread has asked for.
    pub static BYTES_READ: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
impl AppendFile {
    /// Makes every later write fail.
    pub fn make_read_only(&mut self) {
        self.file = File::open(&self.path).expect("the file is there");
    }
}

fn line_length(length: usize) -> u32 {
    u32::try_from(length).expect("a line fits the limit, far below four gigabytes")
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    options
}

/// Begins a ledger at a path where nothing is. It appears with its header whole, or not at all. It is its
/// owner's alone: it holds all values in clear.
fn begin(path: &Path) -> Result<(), LedgerFailure> {
    let on_open = |error| LedgerFailure::on_open(path, error);
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".equiform-ledger-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .tempfile_in(folder)
        .map_err(on_open)?;
    file.write_all(&header_line()).map_err(on_open)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        // Another process was faster.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(on_open(error.error)),
    }
}

fn header_line() -> Vec<u8> {
    let header = Header {
        version: FORMAT_VERSION,
        id: crate::mint::random("ledger"),
        created: jiff::Timestamp::now(),
    };
    let mut line = serde_json::to_vec(&header).expect("a header is always JSON");
    line.push(b'\n');
    line
}
