//! How campaigns speak: a bar and failures on standard error while they run, a summary on standard output.

use std::io::{self, Write};

use indicatif::{ProgressBar, ProgressStyle};

use super::{CannotRun, CliResult, Outcome, output};
use crate::campaign::Watcher;
use crate::campaign::tally::Tally;
use crate::campaign::verdict::{Result as TrialResult, VariantVerdict};

/// A bar where there is a terminal, and a line for each failure everywhere.
pub struct Display {
    bar: ProgressBar,
}

impl Display {
    /// For so many variants.
    pub fn new(variants: u64) -> Self {
        let bar = ProgressBar::new(variants);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} variants, {per_sec}, {eta} left");
        bar.set_style(style.expect("the template is valid"));
        Self { bar }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Watcher for Display {
    fn judged(&self, case: usize, variant: &VariantVerdict) {
        for line in lines(&format!("case {case}"), variant) {
            self.bar.suspend(|| eprintln!("{line}"));
        }
        self.bar.inc(1);
    }
}

/// What there is to say of a variant that did not pass, a line for each finding.
pub fn lines(case: &str, variant: &VariantVerdict) -> Vec<String> {
    let place = format!("{case} variant {}", variant.variant);
    match &variant.result {
        TrialResult::Pass => Vec::new(),
        TrialResult::Inconclusive { reason } => vec![format!("{place}: inconclusive: {reason}")],
        TrialResult::Fail { findings } => findings
            .iter()
            .map(|finding| {
                format!("{place} {}: {}: {}: {}", finding.stage, finding.oracle, finding.kind, finding.text)
            })
            .collect(),
    }
}

/// Prints the numbers and turns them into an outcome. What could not be judged is no pass.
pub fn conclude(title: &str, tally: &Tally) -> CliResult {
    output(|out| summary(out, title, tally))?;
    if tally.failed > 0 {
        Ok(Outcome::Findings)
    } else if tally.inconclusive > 0 {
        let variants = tally.inconclusive;
        Err(CannotRun::from(format!("{variants} variants could not be judged: their reasons are above")))
    } else {
        Ok(Outcome::Clean)
    }
}

fn summary(out: &mut dyn Write, title: &str, tally: &Tally) -> io::Result<()> {
    writeln!(out, "{title}")?;
    writeln!(out, "  passed        {}", tally.passed)?;
    writeln!(out, "  failed        {}", tally.failed)?;
    writeln!(out, "  inconclusive  {}", tally.inconclusive)?;
    for ((oracle, kind), count) in &tally.signatures {
        writeln!(out, "  {count:5} × {oracle}: {kind}")?;
    }
    Ok(())
}
