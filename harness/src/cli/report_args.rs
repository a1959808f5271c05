//! Options that commands which judge share: how they report.

use std::path::PathBuf;

use clap::Args;

use super::campaign_text::note;
use super::format::OutputFormat;
use super::no_effect::refuse;
use super::{CannotRun, CliResult, Outcome, output, summary};
use crate::campaign::junit;
use crate::campaign::report::Report;
use crate::judge::known::KnownFindings;
use crate::util::shell;

/// How a command reports.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// What to print at the end: a summary, or one JSON document
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    /// Add to the summary what was exercised, rule by rule, and where the time went
    #[arg(short, long)]
    verbose: bool,
    /// Also write a JUnit file: a suite for each case, a test for each variant; known findings are skipped tests
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

impl ReportArgs {
    /// Refuses options that have no effect together.
    pub fn check(&self) -> Result<(), CannotRun> {
        let json = self.format == OutputFormat::Json;
        refuse(json && self.verbose, "--verbose", "with --format json, which contains everything")
    }

    /// Prints the report and returns the outcome: new findings are findings, and what could not be judged or was
    /// stopped early is not a pass.
    pub fn conclude(&self, report: &Report, known: &KnownFindings) -> CliResult {
        let junit = self.junit.as_ref().map_or(Ok(()), |path| {
            junit::write(report, known, path)
                .map_err(|error| format!("cannot write the JUnit file {}: {error}", path.display()))
        });
        let tally = report.tally();
        output(|out| match self.format {
            OutputFormat::Json => writeln!(out, "{}", report.json(known)),
            OutputFormat::Text => summary::write(out, report, &tally, self.verbose),
        })?;
        if tally.failed > 0 {
            // The exit code reports findings, whatever else went wrong.
            if let Err(error) = junit {
                note(&format!("error: {error}"));
            }
            return Ok(Outcome::Findings);
        }
        junit?;
        if tally.inconclusive > 0 {
            let variants = tally.inconclusive;
            Err(CannotRun::from(format!("{variants} variants could not be judged, for the reasons above")))
        } else {
            Ok(Outcome::Clean)
        }
    }
}

/// The outcome of a command that was stopped early, with a sentence that says so: findings still count.
pub fn interrupted(outcome: CliResult, sentence: &str, now: bool) -> CliResult {
    match outcome {
        Ok(Outcome::Findings) => {
            note(sentence);
            Ok(Outcome::Findings)
        }
        _ if now => {
            note(sentence);
            Ok(Outcome::Interrupted)
        }
        Err(error) => {
            note(sentence);
            Err(error)
        }
        Ok(_) => Err(sentence.into()),
    }
}

/// A command line of this program, quoted for a shell.
pub fn command_line(arguments: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = std::iter::once("equiform".to_owned()).chain(arguments).collect();
    shell::line(words.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_into_a_shell_whatever_is_in_it() {
        let line = command_line(["run", "--seed", "7", "--source", "{\"a\":1}", "it's"].map(str::to_owned));
        assert_eq!(line, "equiform run --seed 7 --source '{\"a\":1}' \"it's\"");
    }
}
