//! What commands that judge share: how they report in the end.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::campaign_text::lines;
use super::{CannotRun, CliResult, Outcome, exercised_text, output};
use crate::campaign::judge::variant_folder;
use crate::campaign::junit;
use crate::campaign::known::KnownFindings;
use crate::campaign::report::Report;
use crate::campaign::tally::Tally;
use crate::campaign::verdict::Result as TrialResult;

/// How many places to look at are named: the first will do, and the folder has them all.
const PLACES: usize = 5;

/// How the end is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// One JSON document; docs/campaigns.md names its fields.
    Json,
}

/// How a command reports.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// What is printed in the end: a summary, or one JSON document
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write a JUnit file too: a suite for each case, a test for each variant; known findings are skipped tests
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

impl ReportArgs {
    /// Reports, and turns the numbers into an outcome: new findings are findings, and what could not be judged, or was
    /// stopped before its end, is no pass.
    pub fn conclude(&self, report: &Report, known: &KnownFindings) -> CliResult {
        if let Some(path) = &self.junit {
            junit::write(report, path)
                .map_err(|error| format!("cannot write the JUnit file {}: {error}", path.display()))?;
        }
        let tally = report.tally();
        output(|out| match self.format {
            Format::Json => writeln!(out, "{}", report.json(known)),
            Format::Text => summary(out, report, &tally, known),
        })?;
        if tally.failed > 0 {
            Ok(Outcome::Findings)
        } else if tally.inconclusive > 0 {
            let variants = tally.inconclusive;
            Err(CannotRun::from(format!("{variants} variants could not be judged, for the reasons above")))
        } else {
            Ok(Outcome::Clean)
        }
    }
}

fn summary(out: &mut dyn Write, report: &Report, tally: &Tally, known: &KnownFindings) -> io::Result<()> {
    match &report.engine {
        Some(engine) => writeln!(out, "{} on {engine}", report.title)?,
        None => writeln!(out, "{}", report.title)?,
    }
    writeln!(out, "  passed        {}", tally.passed)?;
    writeln!(out, "  failed        {}", tally.failed)?;
    writeln!(out, "  known         {}", tally.known)?;
    writeln!(out, "  inconclusive  {}", tally.inconclusive)?;
    if let Some(spent) = &report.spent {
        writeln!(out, "  time          {spent}")?;
    }
    exercised_text::write(out, &report.exercised())?;
    for ((oracle, kind), count) in &tally.signatures {
        writeln!(out, "  {count:5} × {oracle}: {kind}")?;
    }
    for (name, count) in &tally.names {
        let text = known.get(name).map(|entry| format!(": {}", entry.text)).unwrap_or_default();
        writeln!(out, "  {count:5} × known, {name}{text}")?;
    }
    for (folder, verdict) in &report.cases {
        let inconclusive = |result: &TrialResult| matches!(result, TrialResult::Inconclusive { .. });
        for variant in verdict.variants.iter().filter(|variant| inconclusive(&variant.result)) {
            for line in lines(&folder.display().to_string(), variant) {
                writeln!(out, "  {line}")?;
            }
        }
    }
    for place in places(report).take(PLACES) {
        writeln!(out, "  look at       equiform show {}", place.display())?;
    }
    Ok(())
}

/// The folders of variants in which something was found, new findings first.
fn places(report: &Report) -> impl Iterator<Item = PathBuf> {
    let of = |wanted: fn(&TrialResult) -> bool| {
        report.cases.iter().flat_map(move |(folder, verdict)| {
            let found = verdict.variants.iter().filter(move |variant| wanted(&variant.result));
            found.map(|variant| variant_folder(folder, variant.variant))
        })
    };
    let new = of(|result| matches!(result, TrialResult::Fail { .. }));
    new.chain(of(|result| matches!(result, TrialResult::Known { .. })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::verdict::{CaseVerdict, VariantVerdict};
    use crate::oracle::Finding;

    fn finding(kind: &str, known: Option<&str>) -> Finding {
        Finding {
            oracle: "steps".to_owned(),
            kind: kind.to_owned(),
            stage: "batch-2".to_owned(),
            text: "create a".to_owned(),
            known: known.map(str::to_owned),
        }
    }

    #[test]
    fn a_summary_counts_and_says_where_to_look() {
        let results = [
            TrialResult::Pass,
            TrialResult::of(vec![finding("missing", Some("old-bug"))]),
            TrialResult::of(vec![finding("extra", None)]),
            TrialResult::Inconclusive { reason: "the disk is full".to_owned() },
        ];
        let variants = results.into_iter().enumerate().map(|(variant, result)| VariantVerdict {
            variant,
            result,
            exercised: Default::default(),
        });
        let report = Report {
            title: "runs/1".to_owned(),
            engine: Some("terraform@1.15.5".to_owned()),
            settings: None,
            shard: None,
            complete: true,
            spent: None,
            cases: vec![("runs/1/case-0007".into(), CaseVerdict::new(7, variants.collect()))],
        };
        let mut text = Vec::new();
        summary(&mut text, &report, &report.tally(), &KnownFindings::none()).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }
}
