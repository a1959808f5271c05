//! `equiform ledger diff`: compares two worlds.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::LedgerFile;
use super::output::{self, Stop};
use crate::audit::{AuditError, WorldDiff, Worlds};
use crate::cli::Outcome;
use crate::cli::format::OutputFormat;

/// Compare the world at two points of a ledger, or the final worlds of two ledgers
///
/// Objects are compared by key, and ids inside attributes by the key of the object that they refer to. Within one
/// ledger, the same key with a different id is a replacement; between two ledgers ids have no meaning.
///
/// The exit code is 0 if the worlds are the same, 1 if they differ.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    equiform ledger diff run.ledger.jsonl --from 12\n  \
    equiform ledger diff first.ledger.jsonl second.ledger.jsonl")]
pub(super) struct Diff {
    #[command(flatten)]
    file: LedgerFile,

    /// Another ledger; without it, two points of the same ledger are compared
    #[arg(value_name = "OTHER", conflicts_with_all = ["from", "to"])]
    other: Option<PathBuf>,

    /// The world just after this entry
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    from: u64,

    /// The world to compare with [default: the end of the ledger]
    #[arg(long, value_name = "SEQ")]
    to: Option<u64>,

    /// An attribute to ignore (repeatable). Between two ledgers, `revision` is always ignored: it says how often an
    /// object was changed, not what it is
    #[arg(long, value_name = "ATTRIBUTE")]
    ignore: Vec<String>,

    /// Text, or one line of JSON
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

impl Diff {
    pub(super) fn run(mut self) -> Result<Outcome, Stop> {
        let diff = match &self.other {
            Some(other) => {
                self.ignore.push("revision".to_owned());
                let from = world(&self.file.path, None)?;
                let to = world(other, None)?;
                WorldDiff::between(&from, &to, Worlds::OfTwoLedgers, &self.ignore)
            }
            None => {
                let from = world(&self.file.path, Some(self.from))?;
                let to = world(&self.file.path, self.to)?;
                WorldDiff::between(&from, &to, Worlds::OfOneLedger, &self.ignore)
            }
        };
        let mut out = output::stdout();
        match self.format {
            OutputFormat::Json => {
                writeln!(out, "{}", serde_json::to_string(&diff).expect("changes serialise"))?
            }
            OutputFormat::Text if diff.same => writeln!(out, "the worlds are the same")?,
            OutputFormat::Text => write!(out, "{}", diff.to_text(output::palette()))?,
        }
        out.flush()?;
        Ok(if diff.same { Outcome::Clean } else { Outcome::Findings })
    }
}

fn world(path: &std::path::Path, at: Option<u64>) -> Result<equiform_proto::ledger::World, AuditError> {
    output::open(path)?.fold(at)
}
