//! What can go wrong with a ledger, each with what the user can do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform_proto::ledger::{BadLine, FORMAT_VERSION, LINE_LIMIT};

/// A ledger that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerFailure {
    /// The path leads to a folder, a device, a pipe.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// There is no ledger where one must be.
    #[error("there is no ledger at {}", path.display())]
    Missing {
        /// The path, from the root on.
        path: PathBuf,
    },
    /// An entry is too long to be read again.
    #[error(
        "an entry of {bytes} bytes does not fit into {}: a line has at most {LINE_LIMIT} bytes",
        path.display()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
        /// How long it would be.
        bytes: usize,
    },
    /// The folder of the ledger is missing.
    #[error("the folder of {} does not exist", path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The ledger, or its folder, may not be written.
    #[error("{} cannot be opened for writing: {source}", path.display())]
    NotWritable {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The disk is full.
    #[error("there is no room to append to {}: {source}", path.display())]
    Full {
        /// The path.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Anything else that went wrong with the file.
    #[error("{} cannot be {doing}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// The operating system's error.
        source: io::Error,
    },
    /// The file is there, but it is something else, or damaged.
    #[error("{}: {reason}", path.display())]
    Bad {
        /// The path.
        path: PathBuf,
        /// What is wrong.
        reason: BadLine,
    },
    /// The file was removed or replaced while in use.
    #[error("{} was removed or replaced while it was in use", path.display())]
    Gone {
        /// The path.
        path: PathBuf,
    },
    /// The file became shorter while in use.
    #[error("{} became shorter while it was in use", path.display())]
    Shrunk {
        /// The path.
        path: PathBuf,
    },
    /// Another process holds the lock.
    #[error("another process has held the lock on {} for {} seconds", path.display(), timeout.as_secs())]
    Locked {
        /// The path.
        path: PathBuf,
        /// How long this one waited.
        timeout: Duration,
    },
}

impl LedgerFailure {
    /// The failure that an error while opening amounts to.
    pub fn on_open(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::IsADirectory => Self::NotAFile { path },
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NoFolder { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::NotWritable { path, source }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path, source },
            _ => Self::Io { path, doing: "opened", source },
        }
    }

    /// The failure that an error while appending amounts to.
    pub fn on_append(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full { path, source }
            }
            _ => Self::Io { path, doing: "appended to", source },
        }
    }

    /// What the user can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::NotAFile { .. } => {
                "Give the name of a file, new or an equiform ledger, as `ledger` in the \
                 provider block or in EQUIFORM_LEDGER."
                    .to_owned()
            }
            Self::Missing { .. } | Self::Bad { reason: BadLine::Empty, .. } => {
                "Nothing was written. Run the command in the folder of a program that has been applied, or name its \
                 ledger with `--ledger FILE` or in EQUIFORM_LEDGER."
                    .to_owned()
            }
            Self::TooLong { .. } => {
                "The operation has had no effect. Give the object smaller values: the ledger holds it as it was before \
                 and as it is after."
                    .to_owned()
            }
            Self::NoFolder { .. } => {
                "Make the folder first, or name another file as `ledger` in the provider \
                 block or in EQUIFORM_LEDGER."
                    .to_owned()
            }
            Self::NotWritable { .. } => {
                "Make the file and its folder writable, or name another file as `ledger` \
                 in the provider block or in EQUIFORM_LEDGER."
                    .to_owned()
            }
            Self::Full { .. } => {
                "Free some room and run the command again. What the ledger held is intact, and \
                 the operation that did not fit has had no effect."
                    .to_owned()
            }
            Self::Io { .. } => {
                "The ledger was left as it was. See to the file or its disk, then run the command \
                 again."
                    .to_owned()
            }
            Self::Bad { reason: BadLine::NotALedger, .. } => {
                "Nothing was written to it. Name another file as \
                 `ledger` in the provider block or in EQUIFORM_LEDGER."
                    .to_owned()
            }
            Self::Bad { reason: BadLine::TornHeader, .. } => {
                "Whoever began it was killed before the first line was \
                 whole, so it holds nothing. Move it away and run the command again."
                    .to_owned()
            }
            Self::Bad { reason: BadLine::OtherVersion { .. }, .. } => format!(
                "Nothing was written to it. Use the provider that wrote it, or begin a new ledger (this provider \
                 writes format version {FORMAT_VERSION})."
            ),
            Self::Bad { .. } => {
                "Nothing was written to it. `equiform ledger verify FILE` tells which line is bad; \
                 begin a new ledger, or restore this one from a copy."
                    .to_owned()
            }
            Self::Gone { .. } | Self::Shrunk { .. } => "Leave a ledger alone while an engine uses it: it is \
                 the provider's world. Put it back if you still have it, then run the command again."
                .to_owned(),
            Self::Locked { .. } => {
                "Find out which process uses the ledger (`fuser FILE`), end it or wait for it, \
                 then run the command again."
                    .to_owned()
            }
        }
    }
}
