//! `equiform merge`: joins the parts of a campaign.

use std::path::PathBuf;

use clap::Args;

use super::CliResult;
use super::known_args::KnownArgs;
use super::oracles::chosen;
use super::report::leave_page;
use super::report_args::ReportArgs;
use super::run::stored::repeat;
use crate::campaign::case_folder;
use crate::campaign::merge::merge;
use crate::campaign::report::Report;
use crate::campaign::stored::{self, Bench};

/// Join the parts of a campaign that were run with `--shard` into one folder, and report on the whole
///
/// The report is `report.html` in that folder.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The folders of all parts
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// A new folder for the whole campaign
    #[arg(long)]
    out: PathBuf,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Joins.
pub fn run(args: MergeArgs) -> CliResult {
    args.report.check()?;
    let known = args.known.read()?;
    let claim = merge(&args.folders, &args.out)?;
    let oracles = chosen(claim.oracles())?;
    let bench = Bench { oracles: &oracles, known: &known, engine: &claim.engine().id };
    let (mut cases, mut not_run) = (Vec::new(), 0);
    for number in claim.cases() {
        let (folder, case) = (case_folder(&args.out, number), claim.settings().case(number));
        let verdict = stored::read(number, &folder, &case, &bench);
        not_run += case.variants.len() - verdict.variants.len();
        cases.push((folder, verdict));
    }
    let report = Report {
        title: args.out.display().to_string(),
        engine: Some(claim.engine().clone()),
        settings: Some(claim.settings().clone()),
        not_run,
        repeat: Some(repeat(&claim, None, &args.out)?),
        cases,
        ..Report::default()
    };
    let outcome = args.report.conclude(&report, &known);
    leave_page(&args.out, &report, &oracles, &known, args.report.format)?;
    outcome
}
