//! `equiform ledger verify`: checks the whole ledger, line by line.

use std::io::Write;

use clap::Args;
use serde::Serialize;

use super::LedgerFile;
use super::output::{self, Stop};
use crate::audit::AuditError;
use crate::cli::Outcome;
use crate::cli::format::OutputFormat;

/// Check a ledger line by line: the chain of hashes, begins and ends, and whether its operations can have happened
///
/// A torn line that a killed writer left behind is not damage. Lines missing at the very end cannot be detected,
/// because nothing follows them.
#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    file: LedgerFile,

    /// A summary, or one line of JSON
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

/// The result for a ledger, as JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Verdict<'a> {
    Good {
        ok: bool,
        ledger: &'a str,
        entries: u64,
        /// The `seq` of the begins without an end.
        open: &'a [u64],
        torn_bytes: u64,
        objects: usize,
    },
    Bad {
        ok: bool,
        line: u64,
        reason: String,
    },
}

impl Verify {
    pub(super) fn run(self) -> Result<Outcome, Stop> {
        let mut out = output::stdout();
        let mut walk = output::open(&self.file.path)?;
        let world = match walk.fold(None) {
            Ok(world) => world,
            Err(error) => {
                let bad = match &error {
                    AuditError::Damaged { line, reason, .. } => Some((*line, reason.to_string())),
                    AuditError::Contradiction { line, conflict, .. } => Some((*line, conflict.to_string())),
                    _ => None,
                };
                if let (OutputFormat::Json, Some((line, reason))) = (self.format, bad) {
                    let verdict = Verdict::Bad { ok: false, line, reason };
                    writeln!(out, "{}", json(&verdict))?;
                    out.flush()?;
                }
                return Err(error.into());
            }
        };
        let open = walk.open_operations();
        match self.format {
            OutputFormat::Json => {
                let verdict = Verdict::Good {
                    ok: true,
                    ledger: &walk.header().id,
                    entries: walk.last_seq(),
                    open: &open,
                    torn_bytes: walk.torn_bytes(),
                    objects: world.len(),
                };
                writeln!(out, "{}", json(&verdict))?;
            }
            OutputFormat::Text => {
                writeln!(out, "{}: the ledger is intact", self.file.path.display())?;
                writeln!(out, "  entries       {}", walk.last_seq())?;
                writeln!(out, "  objects       {}", world.len())?;
                writeln!(out, "  open          {}", open_text(&open))?;
                writeln!(out, "  torn at end   {}", torn_text(walk.torn_bytes()))?;
            }
        }
        out.flush()?;
        Ok(Outcome::Clean)
    }
}

fn json(verdict: &Verdict<'_>) -> String {
    serde_json::to_string(verdict).expect("numbers and texts serialise")
}

/// The operations without an end; if there are many, the first few.
fn open_text(open: &[u64]) -> String {
    const SHOWN: usize = 8;
    if open.is_empty() {
        return "none".to_owned();
    }
    let mut seqs: Vec<String> = open.iter().take(SHOWN).map(u64::to_string).collect();
    if open.len() > SHOWN {
        seqs.push("...".to_owned());
    }
    format!("{}, begun at seq {}: running, or their provider was killed", open.len(), seqs.join(", "))
}

fn torn_text(bytes: u64) -> String {
    match bytes {
        0 => "none".to_owned(),
        _ => format!("{bytes} bytes of an unfinished line; the next writer accounts for them"),
    }
}
