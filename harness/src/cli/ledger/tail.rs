//! `equiform ledger tail`: the last entries, and those to come.

use std::io::Write;
use std::thread;
use std::time::Duration;

use clap::Args;
use equiform_proto::ledger::Entry;

use super::output::{self, Stop};
use super::{FilterArgs, LedgerFile};
use crate::audit::{EntryText, Filter, Names, Tailed, last_entries};
use crate::cli::Outcome;
use crate::cli::format::OutputFormat;

/// How long to wait between two checks of a ledger that is followed: unnoticeable to people, cheap for the machine.
const PAUSE: Duration = Duration::from_millis(100);

/// Show the last entries of a ledger, and wait for more with --follow
///
/// Reads from the end and checks only what it reads, so it is fast on a long ledger. Use `verify` to check the whole.
#[derive(Debug, Args)]
pub(super) struct Tail {
    #[command(flatten)]
    file: LedgerFile,

    /// How many entries to show
    #[arg(short = 'n', long = "entries", value_name = "N", default_value_t = 10)]
    count: usize,

    /// Continue with new entries as they are written, until Ctrl-C. The ledger need not exist yet
    #[arg(short, long)]
    follow: bool,

    #[command(flatten)]
    filter: FilterArgs,

    /// Text in columns, or the ledger's own lines
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

impl Tail {
    pub(super) fn run(self) -> Result<Outcome, Stop> {
        let filter = self.filter.into_filter();
        let mut tailed = self.file.tail(self.count, &filter, self.follow)?;
        let mut lines =
            Lines { format: self.format, text: EntryText::new(output::palette()), names: tailed.names };
        lines.print(&tailed.entries)?;
        output::note_torn(&self.file.path, tailed.torn_bytes);
        if !self.follow {
            if tailed.entries.is_empty() && self.count > 0 {
                output::note_nothing_matches(&self.file.path, filter.requests);
            }
            return Ok(Outcome::Clean);
        }
        loop {
            thread::sleep(PAUSE);
            let mut entries = tailed.follow.more()?;
            for (entry, _) in &entries {
                lines.names.learn(entry);
            }
            entries.retain(|(entry, _)| filter.passes(entry));
            lines.print(&entries)?;
        }
    }
}

impl LedgerFile {
    /// The last entries; with --follow, waits for the ledger to appear.
    fn tail(&self, count: usize, filter: &Filter, wait: bool) -> Result<Tailed, Stop> {
        let mut told = false;
        loop {
            match last_entries(&self.path, count, filter) {
                Err(error) if wait && error.may_pass() => {
                    if !told {
                        eprintln!("note: waiting for a ledger at {}", self.path.display());
                        told = true;
                    }
                    thread::sleep(PAUSE);
                }
                result => return Ok(result?),
            }
        }
    }
}

struct Lines {
    format: OutputFormat,
    text: EntryText,
    names: Names,
}

impl Lines {
    fn print(&mut self, entries: &[(Entry, Vec<u8>)]) -> Result<(), Stop> {
        let mut out = output::stdout();
        for (entry, line) in entries {
            match self.format {
                OutputFormat::Text => writeln!(out, "{}", self.text.line(entry, &self.names))?,
                OutputFormat::Json => {
                    out.write_all(line)?;
                    out.write_all(b"\n")?;
                }
            }
        }
        Ok(out.flush()?)
    }
}
