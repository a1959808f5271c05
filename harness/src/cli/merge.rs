//! `equiform merge`: the parts of a campaign, joined.

use std::path::PathBuf;

use clap::Args;

use super::CliResult;
use super::known_args::KnownArgs;
use super::report_args::ReportArgs;
use crate::campaign::merge::merge;
use crate::campaign::report::Report;
use crate::campaign::{case_folder, stored};

/// Join the parts of a campaign that were run with `--shard` into one folder, and report on the whole.
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
    let known = args.known.read()?;
    let claim = merge(&args.folders, &args.out)?;
    let mut cases = Vec::new();
    for number in claim.cases() {
        let folder = case_folder(&args.out, number);
        let verdict = stored(number, &folder, &known, claim.engine())?;
        cases.extend(verdict.map(|verdict| (folder, verdict)));
    }
    let report = Report {
        title: args.out.display().to_string(),
        engine: Some(claim.engine().to_owned()),
        settings: Some(claim.settings().clone()),
        shard: None,
        complete: true,
        spent: None,
        cases,
    };
    args.report.conclude(&report, &known)
}
