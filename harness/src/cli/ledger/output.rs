//! Standard output and standard error of the ledger commands.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Read, StdoutLock};
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::audit::{AuditError, Palette, Walk};
use crate::engines::terraform::instances::InvalidState;
use crate::html::page::PageError;

/// Why a command ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// The reader of the output has gone away.
    ClosedPipe,
    /// The output cannot be written.
    Output(io::Error),
    /// The ledger cannot be read, or not beyond some line.
    Audit(AuditError),
    /// A page cannot be written.
    Page(PageError),
    /// A state cannot be read.
    State(InvalidState),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Output(error),
        }
    }
}

impl From<InvalidState> for Stop {
    fn from(error: InvalidState) -> Self {
        Self::State(error)
    }
}

impl From<AuditError> for Stop {
    fn from(error: AuditError) -> Self {
        Self::Audit(error)
    }
}

/// Standard output, buffered: the caller flushes it at the end.
pub(super) fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Colours, if standard output is a terminal that supports them.
pub(super) fn palette() -> Palette {
    match anstream::AutoStream::choice(&io::stdout()) {
        anstream::ColorChoice::Never => Palette::Plain,
        _ => Palette::Coloured,
    }
}

/// Opens a ledger. Reading a long one shows progress, unless entries are printed on the terminal meanwhile.
pub(super) fn open(path: &Path) -> Result<Walk, AuditError> {
    /// Reading this many bytes takes about two seconds at worst.
    const LONG: u64 = 1 << 27;
    Walk::open(path, |file: File| -> Box<dyn Read> {
        match file.metadata() {
            Ok(metadata) if metadata.len() >= LONG && io::stderr().is_terminal() => {
                let bar = ProgressBar::with_draw_target(Some(metadata.len()), ProgressDrawTarget::stderr());
                let style =
                    ProgressStyle::with_template("reading {bar:40} {bytes}/{total_bytes}, {eta} left");
                bar.set_style(style.expect("the template is well formed"));
                Box::new(bar.wrap_read(file))
            }
            _ => Box::new(file),
        }
    })
}

/// Reports bytes that a killed writer left at the end. They are not damage.
pub(super) fn note_torn(path: &Path, bytes: u64) {
    if bytes > 0 {
        eprintln!(
            "note: {}: the last {bytes} bytes are an unfinished line (its writer was stopped, or is still writing); \
             they are not part of the ledger",
            path.display()
        );
    }
}

/// Reports that no entry matches. That is not an error.
pub(super) fn note_nothing_matches(path: &Path, all: bool) {
    let hint = if all { "" } else { "; --all also shows what changes nothing, such as plans and reads" };
    eprintln!("note: {}: no entry matches{hint}", path.display());
}
