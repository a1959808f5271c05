//! `equiform run`: a campaign on an engine. [`files`] takes options from a settings file, [`plan`] is what they come
//! to, or what a stored campaign says, [`mod@repeat`] the command that does the same once more.

mod files;
mod plan;
pub mod repeat;

use std::path::PathBuf;

use clap::Args;

use super::CliResult;
use super::campaign_text::note;
use super::cases_args::CasesArgs;
use super::engine_args::EngineArgs;
use super::known_args::KnownArgs;
use super::limit_args::LimitArgs;
use super::observer::SessionDisplay;
use super::reduce_failures_args::ReduceFailuresArgs;
use super::report::leave_page;
use super::report_args::{ReportArgs, interrupted};
use crate::campaign::keep::Keep;
use crate::campaign::session::{Finished, RunRequest, Session};
use crate::campaign::shard::{Part, Shard};
use crate::deploy::stop::Stop;
use plan::RunPlan;

/// Run a campaign: generate equivalent programs, deploy them batch by batch on an engine, and judge it by the ledger
///
/// Ctrl-C ends it after the running commands and keeps what was judged; a second one ends the commands too. The same
/// command, or `--resume`, continues.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    cases: CasesArgs,
    /// The folder for cases and evidence; a campaign with the same settings is resumed
    #[arg(long, default_value = ".equiform/campaign")]
    out: PathBuf,
    /// The oracles to run [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    /// Run only a part of the cases: 1/4 is the first of four parts, which `equiform merge` joins
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Run only this case of the campaign, counted from 0. The others stay unchanged in the folder; the same command
    /// without this option, or --resume, runs them
    #[arg(long, value_name = "N")]
    case: Option<usize>,
    /// A TOML file with any of these options, by their long names; the command line takes precedence
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Resume the campaign in this folder, with the engine and the settings stored there
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Run one in N of the variants that passed on a warm engine again in fresh processes; 0 for none [default: 50, and
    /// 0 with --algebra bare]
    #[arg(long, value_name = "N")]
    cold_every: Option<u64>,
    /// Do not deploy a variant with a new finding a second time to check whether it occurs again
    #[arg(long)]
    no_again: bool,
    #[command(flatten)]
    reduce: ReduceFailuresArgs,
    /// Which variants keep their evidence. Other evidence is removed once all variants of a case are judged
    #[arg(long, value_enum, default_value_t = Keep::All)]
    keep: Keep,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Runs the campaign.
pub fn run(args: RunArgs) -> CliResult {
    let args = files::complete(args)?;
    args.report.check()?;
    let plan = RunPlan::of(&args)?;
    // A case that there is not is refused before an engine is looked for.
    Part::of(plan.shard, args.case, plan.settings.sources)?;
    let (known, jobs) = (args.known.read()?, args.engine.how.jobs());
    args.cases.affordable(&plan.settings, 1, jobs, args.limits.time)?;
    let limits = args.limits.begin();
    let host = args.engine.how.start_choice(&plan.engine, plan.mode)?;
    let session = Session {
        host: &host,
        oracles: &plan.oracles,
        known: &known,
        jobs,
        again: !args.no_again,
        observer: &SessionDisplay { is_resumed: args.resume.is_some() },
    };
    let (manifest, mut finished) = session.run(&RunRequest {
        settings: &plan.settings,
        shard: plan.shard,
        only_case: args.case,
        limits,
        keep: args.keep,
        reduce_for: args.reduce.time(),
        out: &plan.out,
    })?;
    finished.report.repeat = Some(repeat::repeat(&manifest, args.case, &plan.out)?);
    let outcome = args.report.conclude(&finished.report, &known);
    if finished.judged() > 0 {
        leave_page(&finished.folder, &finished.report, &plan.oracles, &known, args.report.format)?;
    }
    args.ended(finished, outcome, &plan, &host.runner.stop)
}

impl RunArgs {
    /// The outcome of a campaign that may have ended early.
    fn ended(&self, finished: Finished, outcome: CliResult, plan: &RunPlan, stop: &Stop) -> CliResult {
        if finished.is_whole() {
            return outcome;
        }
        let (done, all) = (finished.judged(), finished.variants);
        let go_on = format!("`equiform run --resume {}` resumes it", plan.out.display());
        if let (Some(limit), None, false) = (finished.limit, &finished.error, stop.asked()) {
            // It went as far as it was to go: that is not an error.
            let why = self.limits.why(limit);
            note(&format!("{why}: {} of {all} variants were not run; {go_on}", all - done));
            return outcome;
        }
        let stopped = format!("stopped after {done} of {all} variants; {go_on}");
        let sentence = match finished.error {
            Some(error) => format!("{error}; {stopped}"),
            None => stopped,
        };
        interrupted(outcome, &sentence, stop.asked_now())
    }
}
