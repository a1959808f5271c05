//! `equiform merge`: joins the parts of a campaign.

use std::path::PathBuf;

use clap::Args;

use super::CliResult;
use super::known_args::KnownArgs;
use super::report::leave_page;
use super::report_args::ReportArgs;
use super::run::repeat::repeat;
use crate::campaign::folder::oracles;
use crate::campaign::merge::merge;

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
    let (manifest, mut report) = merge(&args.folders, &args.out, &known)?;
    report.repeat = Some(repeat(&manifest, None, &args.out)?);
    let outcome = args.report.conclude(&report, &known);
    leave_page(&args.out, &report, &oracles(&manifest), &known, args.report.format)?;
    outcome
}
