//! `equiform judge`: judges cases again from their evidence.

use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::CliResult;
use super::campaign_text::{lines, note};
use super::format::OutputFormat;
use super::report_args::{ReportArgs, command_line};
use super::verdict_args::VerdictArgs;
use crate::campaign::judging::{JudgedAgain, Judging, JudgingObserver};
use crate::judge::verdict::CaseVerdict;

/// Judge cases again, from their evidence alone; no engine runs and nothing is written
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Folders of cases, or of campaigns
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    verdict: VerdictArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// A bar that is drawn on a terminal only, and what was found beside it.
struct Display {
    bar: ProgressBar,
    shows_findings: bool,
}

impl JudgingObserver for Display {
    fn found(&self, cases: usize) {
        self.bar.inc_length(cases as u64);
    }

    fn judged(&self, verdict: &CaseVerdict, differences: &[String]) {
        let place = format!("case {}", verdict.case);
        let variants = verdict.variants.iter().filter(|_| self.shows_findings);
        let found = variants.flat_map(|variant| lines(&place, variant));
        self.bar.suspend(|| differences.iter().cloned().chain(found).for_each(|line| note(&line)));
        self.bar.inc(1);
    }
}

/// Judges.
pub fn run(args: JudgeArgs) -> CliResult {
    args.report.check()?;
    let (oracles, known) = args.verdict.read()?;
    // indicatif draws it only on a terminal.
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} cases judged, {eta} left");
    let bar = ProgressBar::new(0).with_style(style.expect("the template is valid"));
    let display = Display { bar, shows_findings: args.report.format == OutputFormat::Text };
    let judging = Judging { oracles: &oracles, known: &known, left_out: args.verdict.leave_out.given() };
    let JudgedAgain { mut report, not_judged_again } = judging.judge(&args.folders, &display)?;
    display.bar.finish_and_clear();
    if not_judged_again > 0 {
        note(&format!(
            "{not_judged_again} variants that passed cannot be judged again, because their evidence was removed \
             (`run --keep failed`): their stored verdicts count"
        ));
    }
    let folders = args.folders.iter().map(|folder| folder.display().to_string());
    report.repeat = Some(command_line(["judge".to_owned()].into_iter().chain(folders)));
    args.report.conclude(&report, &known)
}
