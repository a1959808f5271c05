//! `equiform run`: a campaign on an engine.

use std::path::PathBuf;

use clap::Args;

use super::CliResult;
use super::amount::Amount;
use super::campaign_text::Display;
use super::engine_args::EngineArgs;
use super::known_args::KnownArgs;
use super::oracles::chosen;
use super::report_args::ReportArgs;
use crate::campaign::claim::Claim;
use crate::campaign::report::Report;
use crate::campaign::shard::Shard;
use crate::campaign::{Campaign, Settings, case_folder};

/// Run a campaign: generate equivalent programs, deploy them batch by batch on an engine, judge it by the ledger.
///
/// Ctrl-C ends it after the commands in flight and keeps whole cases; the same command goes on from there.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    engine: EngineArgs,
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many sources
    #[arg(long, default_value_t = 10)]
    sources: usize,
    /// How many variants of each source
    #[arg(long, default_value_t = 10)]
    variants: u64,
    /// Into how many batches each variant is cut
    #[arg(long, default_value_t = 4)]
    batches: usize,
    /// How many resources a source has: a number or a range
    #[arg(long, value_name = "N", default_value = "3..12")]
    resources: Amount,
    /// How many edges a source has: a number or a range
    #[arg(long, value_name = "M", default_value = "1..16")]
    edges: Amount,
    /// The share of resources with create_before_destroy
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = share)]
    create_before_destroy: f64,
    /// The folder for cases and evidence; a campaign with the same settings is gone on with
    #[arg(long, default_value = ".equiform/campaign")]
    out: PathBuf,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    /// Only a part of the cases: 1/4 is the first of four parts, which `equiform merge` joins
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Runs the campaign.
pub fn run(args: RunArgs) -> CliResult {
    let (oracles, known) = (chosen(&args.oracles)?, args.known.read()?);
    let started = args.engine.start()?;
    let settings = Settings {
        seed: args.seed,
        sources: args.sources,
        variants: args.variants,
        batches: args.batches,
        resources: args.resources.range(),
        edges: args.edges.range(),
        create_before_destroy: args.create_before_destroy,
    };
    let names = oracles.iter().map(|oracle| oracle.name.to_owned()).collect();
    let claim = Claim::new(started.name.clone(), names, args.shard, settings.clone());
    let _held = claim.stake(&args.out)?;
    let out = args.out.canonicalize()?;
    let all = claim.cases().count();
    let watcher = Display::new(all as u64 * args.variants);
    let campaign = Campaign {
        runner: &started.runner,
        engine: &started.name,
        oracles: &oracles,
        known: &known,
        shard: args.shard.unwrap_or(Shard::WHOLE),
        jobs: args.engine.jobs(),
        watcher: &watcher,
    };
    let verdicts = campaign.run(&settings, &out)?;
    drop(watcher);
    let done = verdicts.len();
    let cases = verdicts.into_iter().map(|verdict| (case_folder(&out, verdict.case), verdict)).collect();
    let report = Report {
        title: out.display().to_string(),
        engine: Some(started.name.clone()),
        settings: Some(settings),
        shard: args.shard,
        complete: done == all,
        cases,
    };
    let outcome = args.report.conclude(&report, &known)?;
    if !report.complete {
        return Err(
            format!("stopped after {done} of {all} cases; the same command goes on from there").into()
        );
    }
    Ok(outcome)
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| format!("`{text}` is no share; give a number from 0 to 1"))
}
