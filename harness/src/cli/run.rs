//! `equiform run`: a campaign on an engine. [`stored`] are options that come from files.

mod stored;

use std::path::PathBuf;

use clap::Args;

use super::campaign_text::{Display, note};
use super::cases_args::CasesArgs;
use super::engine_args::EngineArgs;
use super::known_args::KnownArgs;
use super::oracles::chosen;
use super::report_args::ReportArgs;
use super::{CliResult, Outcome};
use crate::campaign::claim::Claim;
use crate::campaign::report::Report;
use crate::campaign::shard::Shard;
use crate::campaign::verdict::CaseVerdict;
use crate::campaign::{Campaign, case_folder};

/// Run a campaign: generate equivalent programs, deploy them batch by batch on an engine, judge it by the ledger.
///
/// Ctrl-C ends it after the commands in flight and keeps whole cases; a second one ends them too. The same command, or
/// `--resume`, goes on from there.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    cases: CasesArgs,
    /// The folder for cases and evidence; a campaign with the same settings is gone on with
    #[arg(long, default_value = ".equiform/campaign")]
    out: PathBuf,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    /// Only a part of the cases: 1/4 is the first of four parts, which `equiform merge` joins
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// A TOML file with any of these options, by their long names; the command line wins
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Go on with the campaign in this folder, on the engine and with the settings that are stored there
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Runs the campaign.
pub fn run(args: RunArgs) -> CliResult {
    let args = stored::complete(args)?;
    let (oracles, known) = (chosen(&args.oracles)?, args.known.read()?);
    args.cases.affordable(1, args.engine.how.jobs())?;
    let started = args.engine.start()?;
    let settings = args.cases.settings();
    let manner = args.engine.how.manner();
    let claim = Claim::new(started.name.clone(), manner, &oracles, args.shard, settings.clone());
    let _held = claim.stake(&args.out)?;
    let out = args.out.canonicalize()?;
    let all = claim.cases().count();
    if args.resume.is_some() {
        let finished =
            |number: &usize| CaseVerdict::read(&case_folder(&out, *number)).is_ok_and(|it| it.is_some());
        let done = claim.cases().filter(finished).count();
        note(&format!("{done} of {all} cases are done, {} are left", all - done));
    }
    let watcher = Display::new(all as u64 * settings.variants);
    let campaign = Campaign {
        runner: &started.runner,
        engine: &started.name,
        oracles: &oracles,
        known: &known,
        shard: args.shard.unwrap_or(Shard::WHOLE),
        jobs: args.engine.how.jobs(),
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
        spent: started.spent(),
        cases,
    };
    let outcome = args.report.conclude(&report, &known)?;
    if report.complete {
        return Ok(outcome);
    }
    let sentence = format!(
        "stopped after {done} of {all} cases; `equiform run --resume {}` goes on from there",
        args.out.display()
    );
    if started.runner.stop.asked_now() {
        note(&sentence);
        return Ok(Outcome::Interrupted);
    }
    Err(sentence.into())
}
