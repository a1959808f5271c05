//! Walking a ledger file from its header on, with errors that say what to do next.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use equiform_proto::ledger::{BadLine, Conflict, Entry, Header, LedgerError, Reader, Record, Tail, World};

/// Why a ledger cannot be read, or cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// The path leads nowhere.
    #[error(
        "{}: there is no such file. A ledger appears with the first operation; check the path that the \
         provider was given",
        path.display()
    )]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The path leads to a directory.
    #[error("{}: this is a directory. Name the ledger file in it", path.display())]
    Directory {
        /// The path.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("{}: cannot be read: {error}. Check the file's permissions, and the disk", path.display())]
    Unreadable {
        /// The path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file is no ledger that this program reads.
    #[error("{}: {reason}. {}", path.display(), advice(reason))]
    NoLedger {
        /// The path.
        path: PathBuf,
        /// How that shows.
        reason: BadLine,
    },
    /// A line is wrong.
    #[error("{}: line {line}: {reason}", path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// The line's number; the header is 1.
        line: u64,
        /// What is wrong with it.
        reason: BadLine,
    },
    /// A line near the end is wrong. Its number is not known, since the lines before were not counted.
    #[error("{}: the line after seq {after}: {reason}", path.display())]
    DamagedEnd {
        /// The path.
        path: PathBuf,
        /// The last entry that is right.
        after: u64,
        /// What is wrong with the line.
        reason: BadLine,
    },
    /// A line is whole, but what it says cannot have happened after the lines before it.
    #[error("{}: line {line}: {conflict}", path.display())]
    Contradiction {
        /// The path.
        path: PathBuf,
        /// The line's number.
        line: u64,
        /// What contradicts.
        conflict: Conflict,
    },
    /// The file got shorter while it was followed.
    #[error(
        "{}: the ledger became shorter: it was replaced or truncated. Start again to see the current one",
        path.display()
    )]
    Shrunk {
        /// The path.
        path: PathBuf,
    },
    /// A point that the ledger does not reach.
    #[error("{}: there is no seq {asked}: the ledger ends at seq {last}", path.display())]
    NotReached {
        /// The path.
        path: PathBuf,
        /// What was asked for.
        asked: u64,
        /// The last entry's `seq`.
        last: u64,
    },
}

impl AuditError {
    /// Whether this speaks of a ledger that is damaged, rather than of one that could not be looked at.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. } | Self::DamagedEnd { .. } | Self::Contradiction { .. } | Self::Shrunk { .. }
        )
    }

    /// Whether a ledger may still appear where there is none: its writer has not come to it yet.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            // The header's line may be just being written.
            Self::Missing { .. } | Self::NoLedger { reason: BadLine::Empty | BadLine::TornHeader, .. }
        )
    }

    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            _ => Self::Unreadable { path, error },
        }
    }

    fn ledger(path: &Path, error: LedgerError) -> Self {
        match error {
            LedgerError::Io(error) => Self::io(path, error),
            LedgerError::Bad { reason, .. } if reason.is_no_ledger() => {
                Self::NoLedger { path: path.to_owned(), reason }
            }
            LedgerError::Bad { line, reason } => Self::Damaged { path: path.to_owned(), line, reason },
        }
    }
}

fn advice(reason: &BadLine) -> &'static str {
    match reason {
        BadLine::OtherVersion { .. } => {
            "Read it with the equiform that belongs to the provider that wrote it"
        }
        BadLine::Empty => "It becomes a ledger when a provider writes to it",
        BadLine::TornHeader => {
            "Nothing was recorded in it. If this is the path that the provider was given, move the file away, and \
             the provider begins it anew"
        }
        _ => "Check that this is the path the provider was given",
    }
}

/// Walks the entries of a ledger file. Nothing is kept but the operations that are open.
pub struct Walk {
    path: PathBuf,
    header: Header,
    reader: Reader<BufReader<Box<dyn Read>>>,
}

impl Walk {
    /// Opens a ledger and reads its header. `wrap` may put something between the file and the reader, such as a
    /// progress display.
    pub fn open(path: &Path, wrap: impl FnOnce(File) -> Box<dyn Read>) -> Result<Self, AuditError> {
        let file = File::open(path).map_err(|error| AuditError::io(path, error))?;
        let mut reader = Reader::new(BufReader::with_capacity(1 << 17, wrap(file)));
        match reader.next() {
            Some(Ok(line)) => match line.record {
                Record::Header(header) => Ok(Self { path: path.to_owned(), header, reader }),
                Record::Entry(_) | Record::Torn => unreachable!("a reader gives the header first"),
            },
            Some(Err(error)) => Err(AuditError::ledger(path, error)),
            None => unreachable!("a reader gives a header or an error first"),
        }
    }

    /// The ledger's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next entry and the number of its line; `None` at the end.
    pub fn next_entry(&mut self) -> Result<Option<(u64, Entry)>, AuditError> {
        for line in &mut self.reader {
            let line = line.map_err(|error| AuditError::ledger(&self.path, error))?;
            if let Record::Entry(entry) = line.record {
                return Ok(Some((line.number, *entry)));
            }
        }
        Ok(None)
    }

    /// Walks on to the end, or to the entry `until`, and folds what is passed.
    pub fn fold(&mut self, until: Option<u64>) -> Result<World, AuditError> {
        let mut world = World::default();
        while until.is_none_or(|until| self.last_seq() < until) {
            match (self.next_entry()?, until) {
                (Some((line, entry)), _) => world.apply(entry).map_err(|conflict| {
                    AuditError::Contradiction { path: self.path.clone(), line, conflict }
                })?,
                (None, Some(asked)) => {
                    return Err(AuditError::NotReached {
                        path: self.path.clone(),
                        asked,
                        last: self.last_seq(),
                    });
                }
                (None, None) => break,
            }
        }
        Ok(world)
    }

    /// The entry read last as it stands in the file, without its line break.
    pub fn bytes(&self) -> &[u8] {
        self.reader.bytes()
    }

    /// The `seq` of the entry read last, 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.reader.last_seq()
    }

    /// How many bytes of an unfinished line stand at the end. Meant for after the last entry.
    pub fn torn_bytes(&self) -> u64 {
        match self.reader.tail() {
            Tail::Whole => 0,
            Tail::Torn { bytes } => bytes,
        }
    }

    /// The `seq` of the begins that no end has followed yet, in order.
    pub fn open_operations(&self) -> Vec<u64> {
        self.reader.open_operations()
    }
}
