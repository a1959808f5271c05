//! `equiform judge`: judges cases again from their evidence.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::CliResult;
use super::campaign_text::{lines, note};
use super::format::OutputFormat;
use super::known_args::KnownArgs;
use super::leave_out_args::LeaveOutArgs;
use super::oracles::chosen;
use super::report_args::{ReportArgs, command_line};
use crate::campaign::report::Report;
use crate::campaign::{engine_of, number_of, stored};
use crate::case::{CASE_FILE, Case};
use crate::judge::variant as judge;

/// Judge cases again, from their evidence alone; no engine runs and nothing is written
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Folders of cases, or of campaigns
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// The oracles to run [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    #[command(flatten)]
    leave_out: LeaveOutArgs,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Judges.
pub fn run(args: JudgeArgs) -> CliResult {
    args.report.check()?;
    let (oracles, known) = (chosen(&args.oracles)?, args.known.read()?);
    let (mut cases, mut engines, mut not_judged_again) = (Vec::new(), Vec::new(), 0);
    let begun = Instant::now();
    // indicatif draws it only on a terminal.
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} cases judged, {eta} left");
    let bar = ProgressBar::new(0).with_style(style.expect("the template is valid"));
    for folder in &args.folders {
        let name = folder.display();
        let folders =
            judge::case_folders(folder).map_err(|error| format!("{name} cannot be read: {error}"))?;
        if folders.is_empty() {
            return Err(format!(
                "{name} is neither a case nor a campaign: there is no case.json in it or below it"
            )
            .into());
        }
        bar.inc_length(folders.len() as u64);
        for folder in folders {
            let mut case = Case::read(&folder.join(CASE_FILE))?;
            case.left_out = args.leave_out.or(&case.left_out);
            case.engine = engine_of(&folder, &case);
            let number = number_of(&folder, &case).unwrap_or(cases.len());
            let mut verdict = judge::stored_case(number, &case, &folder, &oracles);
            for variant in &mut verdict.variants {
                if let Some(engine) = &case.engine {
                    judge::sort_out(&known, &engine.id, &case, variant);
                }
                let place = judge::variant_folder(&folder, variant.variant);
                judge::mark_again(&case, variant, &place, &oracles);
                judge::mark_warm_only(&case, variant, &place, &oracles);
            }
            let comparison = stored::hold_against(&folder, &mut verdict, &oracles);
            bar.suspend(|| comparison.told.iter().for_each(|told| note(told)));
            not_judged_again += comparison.not_judged_again;
            verdict.compare_worlds();
            if args.report.format == OutputFormat::Text {
                let place = format!("case {number}");
                let found = verdict.variants.iter().flat_map(|variant| lines(&place, variant));
                bar.suspend(|| found.for_each(|line| note(&line)));
            }
            bar.inc(1);
            engines.extend(case.engine);
            cases.push((folder, verdict));
        }
    }
    bar.finish_and_clear();
    if not_judged_again > 0 {
        note(&format!(
            "{not_judged_again} variants that passed cannot be judged again, because their evidence was removed \
             (`run --keep failed`): their stored verdicts count"
        ));
    }
    let title = format!("{} cases", cases.len());
    // Cases of several engines have none in common.
    engines.sort_unstable();
    engines.dedup();
    let engine = if engines.len() == 1 { engines.pop() } else { None };
    let folders = args.folders.iter().map(|folder| folder.display().to_string());
    let report = Report {
        title,
        engine,
        took: Some(begun.elapsed()),
        repeat: Some(command_line(["judge".to_owned()].into_iter().chain(folders))),
        cases,
        ..Report::default()
    };
    args.report.conclude(&report, &known)
}
