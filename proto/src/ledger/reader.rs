//! Reading a ledger from its first byte on, with the chain checked line by line.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, Read};

use serde_json::error::Category;
use sha2::{Digest, Sha256};

use super::entry::{Entry, FORMAT_VERSION, Header, Operation, Phase, Torn};
use super::hash::LineHash;

/// No header is longer, in bytes with its line break. A foreign file may be one endless line, and is told by
/// its beginning.
pub const HEADER_LIMIT: usize = 4096;

/// No line is longer, in bytes without its line break; writers keep to it. It is thousands of times what
/// objects take in practice, and little enough to hold in memory: a damaged or foreign file may have a line
/// of any length.
pub const LINE_LIMIT: usize = 64 << 20;

/// What one line of a ledger is.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// The first line.
    Header(Header),
    /// A line after the first.
    Entry(Box<Entry>),
    /// A line that a killed writer did not finish. The next whole line accounts for it, or it is the end of the file.
    Torn,
}

/// Why a line cannot stand where it does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// There is no first line.
    #[error("the file is empty: no ledger has been begun in it")]
    Empty,
    /// The first line is the beginning of a header, and nothing follows.
    #[error("the ledger's header is cut off: its writer was stopped while it began the ledger")]
    TornHeader,
    /// The first line is not a header.
    #[error("this is not an equiform ledger: its first line is not a ledger's header")]
    NotALedger,
    /// The header is of another format version.
    #[error("the ledger has format version {found}, and this program reads version {FORMAT_VERSION}")]
    OtherVersion {
        /// The version that the header gives.
        found: u32,
    },
    /// The line does not end.
    #[error("the line is longer than {} MiB: no writer of ledgers leaves such a line", LINE_LIMIT >> 20)]
    TooLong,
    /// The line is neither an entry nor the beginning of one.
    #[error("not a ledger entry: {0}")]
    Malformed(String),
    /// `seq` does not follow on the line before.
    #[error("seq is {found} where {expected} is due: lines are missing, doubled or out of order")]
    Sequence {
        /// What should stand here.
        expected: u64,
        /// What stands here.
        found: u64,
    },
    /// `prev` is not the hash of the line before.
    #[error("prev is not the hash of the line before ({expected}): that line or this one was changed")]
    Chain {
        /// The hash of the line before.
        expected: LineHash,
    },
    /// An unfinished line that the next whole line does not account for.
    #[error("the line is cut off, and no later line accounts for it")]
    Unaccounted,
    /// An entry that accounts for torn bytes other than those that stand before it.
    #[error("the entry accounts for torn bytes that do not stand before it")]
    WrongTorn,
    /// A begin that names a begin itself, or belongs to an operation that is always a single line.
    #[error("begin of {op} cannot stand: it names another begin, or the operation is a single line")]
    NoSpan {
        /// The operation of this line.
        op: Operation,
    },
    /// An end that belongs to no open operation, or to another one.
    #[error("{phase} of {op} {}", no_begin(*begin))]
    NoBegin {
        /// The operation of this line.
        op: Operation,
        /// The phase of this line.
        phase: Phase,
        /// The begin that it names.
        begin: Option<u64>,
    },
}

impl BadLine {
    /// Whether this says that the file is no ledger (yet, or of this version), rather than a damaged one.
    pub fn is_no_ledger(&self) -> bool {
        matches!(self, Self::Empty | Self::TornHeader | Self::NotALedger | Self::OtherVersion { .. })
    }

    /// What it amounts to by where its line ends: only a header that the file breaks off in is torn. A line
    /// break after it, or more bytes than a header has, make the file somebody else's.
    pub fn of_first_line(self, breaks_off: bool) -> Self {
        match self {
            Self::TornHeader if !breaks_off => Self::NotALedger,
            other => other,
        }
    }

    fn malformed(error: &serde_json::Error) -> Self {
        // The parser counts lines within the text it is given, and that is always one line.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let text = error.to_string();
        match text.strip_suffix(&place) {
            Some(what) => Self::Malformed(format!("{what} at column {}", error.column())),
            None => Self::Malformed(text),
        }
    }
}

fn no_begin(begin: Option<u64>) -> String {
    match begin {
        Some(seq) => format!("names seq {seq} as its begin, where no such operation of this object is open"),
        None => "does not name its begin".to_owned(),
    }
}

/// A ledger that cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A line that is wrong, by its number (the header is line 1).
    #[error("line {line}: {reason}")]
    Bad {
        /// The line's number.
        line: u64,
        /// What is wrong with it.
        reason: BadLine,
    },
    /// The file could not be read.
    #[error("cannot read the ledger: {0}")]
    Io(#[from] std::io::Error),
}

/// The state of the chain between two lines. It takes whole lines one by one and says what each is.
///
/// A writer resumes a chain at a line it trusts, with [`Chain::resume`]; a reader starts with [`Chain::default`].
#[derive(Clone, Default)]
pub struct Chain {
    started: bool,
    last_seq: u64,
    last_hash: Option<LineHash>,
    torn: Option<TornRun>,
}

#[derive(Clone)]
struct TornRun {
    bytes: u64,
    hasher: Sha256,
}

impl Chain {
    /// A chain that stands just after the entry (or header, with `seq` 0) whose line has this hash.
    pub fn resume(seq: u64, hash: LineHash) -> Self {
        Self { started: true, last_seq: seq, last_hash: Some(hash), torn: None }
    }

    /// The `seq` of the last entry, 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// The hash of the last whole line; `None` before the header.
    pub fn last_hash(&self) -> Option<LineHash> {
        self.last_hash
    }

    /// The unfinished bytes since the last whole line, which the next entry has to account for.
    pub fn torn(&self) -> Option<Torn> {
        self.torn
            .as_ref()
            .map(|run| Torn { bytes: run.bytes, sha256: LineHash(run.hasher.clone().finalize().into()) })
    }

    /// Takes the next line, given without its line break. A line that is refused leaves the chain as it was.
    pub fn accept(&mut self, line: &[u8]) -> Result<Record, BadLine> {
        if line.len() > LINE_LIMIT {
            return Err(BadLine::TooLong);
        }
        if self.started { self.accept_entry(line) } else { self.accept_header(line) }
    }

    fn accept_header(&mut self, line: &[u8]) -> Result<Record, BadLine> {
        /// What headers of all versions have in common.
        #[derive(serde::Deserialize)]
        struct AnyHeader {
            equiform_ledger: u32,
        }

        match serde_json::from_slice::<AnyHeader>(line) {
            // A list can be read as any structure.
            Ok(_) if !begins_like_a_header(line) => return Err(BadLine::NotALedger),
            Ok(any) if any.equiform_ledger != FORMAT_VERSION => {
                return Err(BadLine::OtherVersion { found: any.equiform_ledger });
            }
            Ok(_) => {}
            Err(error) if error.classify() == Category::Eof && begins_like_a_header(line) => {
                return Err(BadLine::TornHeader);
            }
            Err(_) => return Err(BadLine::NotALedger),
        }
        let header: Header = serde_json::from_slice(line).map_err(|_| BadLine::NotALedger)?;
        self.started = true;
        self.last_hash = Some(LineHash::of(line));
        Ok(Record::Header(header))
    }

    fn accept_entry(&mut self, line: &[u8]) -> Result<Record, BadLine> {
        let entry: Entry = match serde_json::from_slice(line) {
            Ok(entry) => entry,
            Err(error) if error.classify() == Category::Eof && !line.is_empty() => {
                self.set_aside(line);
                return Ok(Record::Torn);
            }
            Err(error) => return Err(BadLine::malformed(&error)),
        };
        match (self.torn(), &entry.torn) {
            (None, None) => {}
            (Some(_), None) => return Err(BadLine::Unaccounted),
            (torn, accounted) if torn == *accounted => {}
            _ => return Err(BadLine::WrongTorn),
        }
        if entry.seq != self.last_seq + 1 {
            return Err(BadLine::Sequence { expected: self.last_seq + 1, found: entry.seq });
        }
        if let Some(expected) = self.last_hash
            && entry.prev != expected
        {
            return Err(BadLine::Chain { expected });
        }
        self.torn = None;
        self.last_seq = entry.seq;
        self.last_hash = Some(LineHash::of(line));
        Ok(Record::Entry(Box::new(entry)))
    }

    fn set_aside(&mut self, line: &[u8]) {
        match &mut self.torn {
            None => {
                let mut hasher = Sha256::new();
                hasher.update(line);
                self.torn = Some(TornRun { bytes: line.len() as u64, hasher });
            }
            Some(run) => {
                run.hasher.update(b"\n");
                run.hasher.update(line);
                run.bytes += 1 + line.len() as u64;
            }
        }
    }
}

/// Whether a line can only be the beginning of our header. Much JSON begins with a brace and a quote; what is
/// to be called ours has to show more than that.
fn begins_like_a_header(line: &[u8]) -> bool {
    const START: &[u8] = br#"{"equiform_ledger":"#;
    const UNMISTAKABLE: &[u8] = br#"{"equiform_"#;
    line.starts_with(START) || (line.starts_with(UNMISTAKABLE) && START.starts_with(line))
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain")
            .field("last_seq", &self.last_seq)
            .field("last_hash", &self.last_hash)
            .field("torn", &self.torn())
            .finish()
    }
}

/// One line of a ledger, with where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The line's number; the header is 1.
    pub number: u64,
    /// What the line is.
    pub record: Record,
}

/// How a ledger ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// With a whole line.
    Whole,
    /// With bytes that a killed writer left behind. They are no part of the ledger until the next writer accounts for
    /// them.
    Torn {
        /// How many.
        bytes: u64,
    },
}

/// Walks a ledger and checks it as it goes: the chain, and that every end belongs to an open begin.
///
/// An iterator over lines; it stops after the first error. Memory does not grow with the ledger, only with the number
/// of operations open at once.
pub struct Reader<R> {
    input: R,
    chain: Chain,
    open: HashMap<u64, (Operation, Option<String>)>,
    buffer: Vec<u8>,
    number: u64,
    first_torn: u64,
    done: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads from the first byte of a ledger.
    pub fn new(input: R) -> Self {
        Self {
            input,
            chain: Chain::default(),
            open: HashMap::new(),
            buffer: Vec::new(),
            number: 0,
            first_torn: 0,
            done: false,
        }
    }

    /// How what has been read so far ends. Meant for after the last line.
    pub fn tail(&self) -> Tail {
        match self.chain.torn() {
            None => Tail::Whole,
            Some(torn) => Tail::Torn { bytes: torn.bytes },
        }
    }

    /// The `seq` of the begins that no end has followed yet, in order.
    pub fn open_operations(&self) -> Vec<u64> {
        let mut open: Vec<u64> = self.open.keys().copied().collect();
        open.sort_unstable();
        open
    }

    /// The line read last as it stands in the file, without its line break.
    pub fn bytes(&self) -> &[u8] {
        self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer)
    }

    /// The `seq` of the entry read last, 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.chain.last_seq()
    }

    fn step(&mut self) -> Result<Option<Line>, LedgerError> {
        self.buffer.clear();
        let limit = if self.number == 0 { HEADER_LIMIT } else { LINE_LIMIT + 1 };
        let read = self.input.by_ref().take(limit as u64).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return match self.number {
                0 => Err(LedgerError::Bad { line: 1, reason: BadLine::Empty }),
                _ => Ok(None),
            };
        }
        self.number += 1;
        let line = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let unfinished = line.len() == self.buffer.len() && read < HEADER_LIMIT;
        let record = self.chain.accept(line).map_err(|reason| {
            let reason = reason.of_first_line(unfinished);
            // What is wrong is the unfinished line, not the one that fails to account for it.
            let line = match reason {
                BadLine::Unaccounted => self.first_torn,
                _ => self.number,
            };
            LedgerError::Bad { line, reason }
        })?;
        match &record {
            Record::Torn if self.first_torn == 0 => self.first_torn = self.number,
            Record::Torn => {}
            Record::Header(_) => {}
            Record::Entry(entry) => {
                self.first_torn = 0;
                self.pair(entry).map_err(|reason| LedgerError::Bad { line: self.number, reason })?;
            }
        }
        Ok(Some(Line { number: self.number, record }))
    }

    fn pair(&mut self, entry: &Entry) -> Result<(), BadLine> {
        match (entry.phase, entry.begin) {
            // Nothing is known of its lines, so nothing can be wrong with them.
            _ if entry.op == Operation::Unknown => Ok(()),
            (Phase::Begin, begin)
                if begin.is_some() || matches!(entry.op, Operation::Drift | Operation::Mark) =>
            {
                Err(BadLine::NoSpan { op: entry.op })
            }
            (Phase::Begin, _) => {
                self.open.insert(entry.seq, (entry.op, entry.id.clone()));
                Ok(())
            }
            (Phase::Commit | Phase::Fail, None) if entry.op.may_be_single_line() => Ok(()),
            (phase, begin) => match begin.and_then(|seq| self.open.remove(&seq)) {
                Some((op, id)) if op == entry.op && id == entry.id => Ok(()),
                _ => Err(BadLine::NoBegin { op: entry.op, phase, begin }),
            },
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Line, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let item = self.step().transpose();
        self.done = !matches!(item, Some(Ok(_)));
        item
    }
}

#[cfg(test)]
mod tests;
