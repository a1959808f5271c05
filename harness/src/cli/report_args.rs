//! What commands that judge share: how they report in the end.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::campaign_text::{lines, note};
use super::format::OutputFormat;
use super::{CannotRun, CliResult, Outcome, exercised_text, output};
use crate::campaign::junit;
use crate::campaign::report::Report;
use crate::campaign::tally::Tally;
use crate::deploy::time_spent::StageTime;
use crate::judge::known::KnownFindings;
use crate::judge::variant::variant_folder;
use crate::judge::verdict::{VariantResult, VariantVerdict};

/// How many places to look at are named: the first will do, and the folder has them all.
const PLACES: usize = 5;

/// How a command reports.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// What is printed in the end: a summary, or one JSON document
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    pub format: OutputFormat,
    /// Write a JUnit file too: a suite for each case, a test for each variant; known findings are skipped tests
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

impl ReportArgs {
    /// Reports, and turns the numbers into an outcome: new findings are findings, and what could not be judged, or was
    /// stopped before its end, is no pass.
    pub fn conclude(&self, report: &Report, known: &KnownFindings) -> CliResult {
        let junit = self.junit.as_ref().map_or(Ok(()), |path| {
            junit::write(report, path)
                .map_err(|error| format!("cannot write the JUnit file {}: {error}", path.display()))
        });
        let tally = report.tally();
        output(|out| match self.format {
            OutputFormat::Json => writeln!(out, "{}", report.json(known)),
            OutputFormat::Text => summary(out, report, &tally, known),
        })?;
        if tally.failed > 0 {
            // Findings are told by the exit code, whatever else went wrong.
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

/// What comes of something that was stopped before its end, with a sentence that says so: what was found counts.
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

fn summary(out: &mut dyn Write, report: &Report, tally: &Tally, known: &KnownFindings) -> io::Result<()> {
    match &report.engine {
        Some(engine) => writeln!(out, "{} on {engine}", report.title)?,
        None => writeln!(out, "{}", report.title)?,
    }
    writeln!(out, "  passed        {}", tally.passed)?;
    match tally.not_again {
        0 => writeln!(out, "  failed        {}", tally.failed)?,
        not_again => writeln!(out, "  failed        {} ({not_again} not again)", tally.failed)?,
    }
    writeln!(out, "  known         {}", tally.known)?;
    writeln!(out, "  inconclusive  {}", tally.inconclusive)?;
    if tally.warm_only > 0 {
        writeln!(
            out,
            "  warm only     {} of these showed on a warm engine what fresh processes do not show",
            tally.warm_only
        )?;
    }
    if tally.stages_not_reached > 0 {
        let Tally { stages_not_reached, cut_short, .. } = tally;
        writeln!(
            out,
            "  not reached   {stages_not_reached} stages of {cut_short} variants, because one before them failed"
        )?;
    }
    if report.not_run > 0 {
        writeln!(out, "  not run       {}", report.not_run)?;
    }
    if report.earlier > 0 {
        let all: usize = report.cases.iter().map(|(_, verdict)| verdict.variants.len()).sum();
        let all = all + report.not_run;
        writeln!(out, "  earlier run   {} of {all} variants are from an earlier run", report.earlier)?;
    }
    if let Some(spent) = &report.spent {
        writeln!(out, "  time          {spent}")?;
    }
    if !report.stages.is_empty() {
        let stage = |(stage, time): (&String, &StageTime)| {
            format!("{} {stage} of {:.0} ms", time.commands, time.mean().as_secs_f64() * 1000.0)
        };
        let stages: Vec<String> = report.stages.iter().map(stage).collect();
        writeln!(out, "  stages        {}", stages.join(", "))?;
    }
    if let Some(workers) = &report.workers {
        writeln!(out, "  kept warm     {workers}")?;
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
        let is_told = |variant: &&VariantVerdict| {
            matches!(variant.result, VariantResult::Inconclusive { .. }) || !variant.warm_only.is_empty()
        };
        for variant in verdict.variants.iter().filter(is_told) {
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
    let of = |wanted: fn(&VariantResult) -> bool| {
        report.cases.iter().flat_map(move |(folder, verdict)| {
            let found = verdict.variants.iter().filter(move |variant| wanted(&variant.result));
            found.map(|variant| variant_folder(folder, variant.variant))
        })
    };
    let new = of(|result| matches!(result, VariantResult::Fail { .. }));
    new.chain(of(|result| matches!(result, VariantResult::Known { .. })))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::deploy::worker::WorkerCounts;
    use crate::judge::oracles::Finding;
    use crate::judge::verdict::CaseVerdict;

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
            VariantResult::Pass,
            VariantResult::of(vec![finding("missing", Some("old-bug"))]),
            VariantResult::of(vec![finding("extra", None)]),
            VariantResult::Inconclusive { reason: "the disk is full".to_owned() },
        ];
        let variants = results.into_iter().enumerate().map(|(variant, result)| VariantVerdict {
            again: matches!(result, VariantResult::Fail { .. }).then_some(false),
            not_reached: result.findings().len() * 3,
            ..VariantVerdict::new(variant, result)
        });
        let report = Report {
            title: "runs/1".to_owned(),
            engine: Some("terraform@1.15.5".to_owned()),
            settings: None,
            shard: None,
            not_run: 5,
            earlier: 2,
            spent: None,
            workers: Some(WorkerCounts { started: 2, broken: 1, first_error: Some("it hung".to_owned()) }),
            stages: [("batch".to_owned(), StageTime { commands: 3, took: Duration::from_millis(100) })]
                .into(),
            cases: vec![("runs/1/case-0007".into(), CaseVerdict { case: 7, variants: variants.collect() })],
        };
        let mut text = Vec::new();
        summary(&mut text, &report, &report.tally(), &KnownFindings::none()).unwrap();
        insta::assert_snapshot!(String::from_utf8(text).unwrap());
    }
}
