//! `equiform ledger report`: a ledger as pictures.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::LedgerFile;
use super::output::{self, Stop};
use super::state_args::StateArgs;
use crate::cli::Outcome;
use crate::html::ledger::{self, LedgerPageError};

/// Show a ledger in one HTML file: a timeline, the world and its graph at any point, the history of a resource
///
/// The file needs no network and no other file. It contains what the ledger contains, so only its owner can read it,
/// unless you name it with --out. There is no report for a damaged ledger.
#[derive(Debug, Args)]
pub(super) struct Report {
    #[command(flatten)]
    file: LedgerFile,

    #[command(flatten)]
    state: StateArgs,

    /// The file to write [default: the ledger's name with .html appended]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Report {
    pub(super) fn run(self) -> Result<Outcome, Stop> {
        let ledger = &self.file.path;
        let book = self.state.book(ledger)?;
        let mut walk = output::open(ledger)?;
        let path = self.out.clone().unwrap_or_else(|| {
            let mut name = ledger.clone().into_os_string();
            name.push(".html");
            name.into()
        });
        let bytes =
            ledger::write(&mut walk, ledger, &book, &path, self.out.is_none()).map_err(
                |error| match error {
                    LedgerPageError::Ledger(error) => Stop::Audit(error),
                    LedgerPageError::Page(error) => Stop::Page(error),
                },
            )?;
        output::note_torn(ledger, walk.torn_bytes());
        let mut out = output::stdout();
        writeln!(out, "  report        {} ({:.1} MB)", path.display(), bytes as f64 / 1e6)?;
        out.flush()?;
        Ok(Outcome::Clean)
    }
}
