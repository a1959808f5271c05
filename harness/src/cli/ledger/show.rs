//! `equiform ledger show`: the entries, one line each.

use std::io::{IsTerminal, Write};
use std::path::Path;

use clap::Args;

use super::output::{self, Stop};
use super::state_args::StateArgs;
use super::{FilterArgs, LedgerFile};
use crate::audit::{AddressBook, EntryText, Filter, Names, Walk};
use crate::cli::Outcome;
use crate::cli::format::OutputFormat;

/// Show a ledger's entries, one line each
///
/// Every line is checked before it is shown. At a bad line the command stops and names it; everything above it is
/// correct. Objects without a key, such as those of stand-ins, are shown by their type, or by their address if
/// --state names the engine's state.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    equiform ledger show run.ledger.jsonl --key r1 --op create,delete\n  \
    equiform ledger show run.ledger.jsonl --phase fail\n  \
    equiform ledger show run.ledger.jsonl --seq 10.. --format json | jq .after")]
pub(super) struct Show {
    #[command(flatten)]
    file: LedgerFile,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    state: StateArgs,

    /// Text in columns, or the ledger's own lines
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

impl Show {
    pub(super) fn run(self) -> Result<Outcome, Stop> {
        let filter = self.filter.into_filter();
        let book = self.state.book(&self.file.path)?;
        if !entries(&self.file.path, &book, &filter, self.format)? {
            output::note_nothing_matches(&self.file.path, filter.requests);
        }
        Ok(Outcome::Clean)
    }
}

/// Prints the entries that match. Returns whether there are any.
pub(super) fn entries(
    path: &Path,
    book: &AddressBook,
    filter: &Filter,
    format: OutputFormat,
) -> Result<bool, Stop> {
    let mut walk = match std::io::stdout().is_terminal() {
        // A progress bar would be drawn over the entries.
        true => Walk::open(path, |file| Box::new(file))?,
        false => output::open(path)?,
    };
    let mut out = output::stdout();
    let mut text = EntryText::new(output::palette());
    let mut names = Names::default();
    let mut shown = false;
    while walk.last_seq() < filter.seqs.last {
        let mut entry = match walk.next_entry() {
            Ok(Some((_, entry))) => entry,
            Ok(None) => {
                output::note_torn(path, walk.torn_bytes());
                break;
            }
            Err(error) => {
                out.flush()?;
                return Err(error.into());
            }
        };
        book.name_entry(&mut entry);
        if filter.passes(&entry) {
            shown = true;
            match format {
                OutputFormat::Text => writeln!(out, "{}", text.line(&entry, &names))?,
                OutputFormat::Json => {
                    out.write_all(walk.bytes())?;
                    out.write_all(b"\n")?;
                }
            }
        }
        names.learn(&entry);
    }
    out.flush()?;
    Ok(shown)
}
