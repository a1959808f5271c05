//! `equiform model`: the rules that engines are judged by, and their sources.

use std::io::{self, Write};

use clap::Args;

use super::{CliResult, Outcome, output};
use crate::spec::Rule;

/// List the rules of the reference model, each with its sources: documentation, tests, what maintainers wrote, or the
/// versions on which it was observed.
///
/// Rules 1 to 8 order operations, and `--leave-out-rules` leaves them out of a campaign. Rules that upstream disputes
/// are marked as contested.
#[derive(Debug, Args)]
pub struct ModelArgs {}

/// Prints the rules.
pub fn run(_: ModelArgs) -> CliResult {
    output(|out| Rule::ALL.into_iter().try_for_each(|rule| tell(out, rule)))?;
    Ok(Outcome::Clean)
}

fn tell(out: &mut dyn Write, rule: Rule) -> io::Result<()> {
    let contested = if rule.contested().is_empty() { "" } else { " (contested)" };
    writeln!(out, "{:2}  {}{contested}\n    {}", rule.number(), rule.name(), rule.text())?;
    for source in rule.sources() {
        writeln!(out, "      {:13}  {}", source.evidence, source.place)?;
    }
    for source in rule.contested() {
        writeln!(out, "      {:13}  {}", "contested", source.place)?;
    }
    Ok(())
}
