//! `equiform ledger show`: the entries, one line each.

use std::io::{IsTerminal, Write};

use clap::Args;

use super::output::{self, Stop};
use super::{FilterArgs, LedgerFile};
use crate::audit::{EntryText, Names, Walk};
use crate::cli::Outcome;
use crate::cli::format::OutputFormat;

/// Show a ledger's entries, one line each
///
/// Every line is checked before it is shown. At a line that is wrong the command stops and names it; what
/// stands above is right.
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

    /// Text in columns, or the ledger's own lines
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

impl Show {
    pub(super) fn run(self) -> Result<Outcome, Stop> {
        let filter = self.filter.into_filter();
        let mut walk = match std::io::stdout().is_terminal() {
            // A progress bar would be drawn over the entries.
            true => Walk::open(&self.file.path, |file| Box::new(file))?,
            false => output::open(&self.file.path)?,
        };
        let mut out = output::stdout();
        let mut text = EntryText::new(output::palette());
        let mut names = Names::default();
        let mut shown = false;
        while walk.last_seq() < filter.seqs.last {
            let entry = match walk.next_entry() {
                Ok(Some((_, entry))) => entry,
                Ok(None) => {
                    output::note_torn(&self.file.path, walk.torn_bytes());
                    break;
                }
                Err(error) => {
                    out.flush()?;
                    return Err(error.into());
                }
            };
            if filter.passes(&entry) {
                shown = true;
                match self.format {
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
        if !shown {
            output::note_nothing_matches(&self.file.path, filter.requests);
        }
        Ok(Outcome::Clean)
    }
}
