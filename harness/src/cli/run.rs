//! `equiform run`: a campaign on an engine. [`stored`] are options that come from files.

pub mod stored;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;

use super::CliResult;
use super::campaign_text::{ProgressDisplay, note};
use super::cases_args::CasesArgs;
use super::engine_args::EngineArgs;
use super::known_args::KnownArgs;
use super::limit_args::LimitArgs;
use super::oracles::chosen;
use super::reduce_failures_args::ReduceFailuresArgs;
use super::report::AtTheEnd;
use super::report_args::{ReportArgs, interrupted};
use crate::campaign::claim::Claim;
use crate::campaign::keep::Keep;
use crate::campaign::programs::Programs;
use crate::campaign::reductions;
use crate::campaign::report::Report;
use crate::campaign::shard::Shard;
use crate::campaign::{Campaign, case_folder, stored as stored_verdicts};
use crate::deploy::provider;

/// Run a campaign: generate equivalent programs, deploy them batch by batch on an engine, judge it by the ledger.
///
/// Ctrl-C ends it after the commands in flight and keeps what was judged; a second one ends them too. The
/// same command, or `--resume`, resumes it.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    cases: CasesArgs,
    /// The folder for cases and evidence; a campaign with the same settings is resumed
    #[arg(long, default_value = ".equiform/campaign")]
    out: PathBuf,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    /// Only a part of the cases: 1/4 is the first of four parts, which `equiform merge` joins
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Only this case of the campaign, by its number from 0 on. The others stay as they are in the folder: run them by
    /// the same command without it, or with --resume
    #[arg(long, value_name = "N")]
    case: Option<usize>,
    /// A TOML file with any of these options, by their long names; the command line wins
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    settings: Option<PathBuf>,
    /// Resume the campaign in this folder, on the engine and with the settings that are stored there
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Do not deploy a variant with a new finding a second time to see whether it comes again
    #[arg(long)]
    no_again: bool,
    #[command(flatten)]
    reduce: ReduceFailuresArgs,
    /// Whose evidence stays on disk. It is removed once all variants of a case are judged
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
    let args = stored::complete(args)?;
    args.report.check()?;
    let given = stored::given(&args)?;
    args.cases.refuse_idle(&given)?;
    args.engine.how.refuse_idle(&given)?;
    let (oracles, known) = (chosen(&args.oracles)?, args.known.read()?);
    args.cases.affordable(1, args.engine.how.jobs(), args.limits.time)?;
    let settings = args.cases.settings();
    let part = args.shard.unwrap_or(Shard::WHOLE);
    let part = args.case.map_or(Ok(part), |case| part.only_case(case, settings.sources))?;
    let limits = args.limits.begin();
    let started = args.engine.start()?;
    started.can_be_driven_by(&settings.workflows)?;
    let mode = args.engine.how.mode();
    let programs = Programs::at(&started.runner.engine.engine().path, &provider::locate()?)?;
    let claim = Claim::new(started.engine.clone(), mode, &oracles, args.shard, settings.clone());
    let claim = claim.on(programs.clone());
    let held = claim.lock(&args.out)?;
    let out = args.out.canonicalize()?;
    started.keep_provider_log_in(&out);
    let variants = usize::try_from(settings.variants)?;
    let cases = || part.cases(settings.sources);
    let all = cases().count() * variants;
    let missing = |number| {
        let folder = case_folder(&out, number);
        // Of a case that was not begun all are missing, however many that are.
        if folder.exists() { stored_verdicts::missing(&folder, variants).len() } else { variants }
    };
    let left: usize = cases().map(missing).sum();
    if left < all || args.resume.is_some() {
        note(&format!("{} of {all} variants are from an earlier run, {left} are left", all - left));
    }
    if left < all && held.untold {
        note("this folder does not tell which builds of the engine and the provider they were judged with");
    }
    let watcher = ProgressDisplay::new(all as u64);
    let campaign = Campaign {
        runner: &started.runner,
        engine: &started.engine,
        programs: Some(&programs),
        oracles: &oracles,
        known: &known,
        shard: part,
        jobs: args.engine.how.jobs(),
        again: !args.no_again,
        limits,
        keep: args.keep,
        watcher: &watcher,
    };
    let began = Instant::now();
    let results = campaign.run(&settings, &out);
    drop(watcher);
    let took = began.elapsed();
    let done = results.judged();
    if results.error.is_none() {
        args.reduce.run(&started, &args.engine.how, &oracles, &known, &results.cases, &out);
    }
    let cases = results.cases.into_iter().map(|verdict| (case_folder(&out, verdict.case), verdict)).collect();
    let report = Report {
        title: out.display().to_string(),
        engine: Some(started.engine.clone()),
        settings: Some(settings),
        shard: args.shard,
        only_case: args.case,
        took: Some(took),
        repeat: Some(stored::repeat(&claim, args.case, &args.out)?),
        not_run: all - done,
        earlier: results.earlier,
        spent: started.spent(),
        workers: started.workers(),
        stages: started.runner.spent.stages.get(),
        reductions: reductions::read(&out),
        cases,
    };
    let outcome = args.report.conclude(&report, &known);
    let jobs = args.engine.how.jobs();
    let end = AtTheEnd { folder: &out, report: &report, oracles: &oracles, known: &known, began, jobs };
    end.leave_and_tell(args.report.format)?;
    if report.not_run == 0 && results.error.is_none() {
        return outcome;
    }
    let go_on = format!("`equiform run --resume {}` resumes it", args.out.display());
    if let (Some(limit), None, false) = (results.limit, &results.error, started.runner.stopped()) {
        // It went as far as it was to go: that is no error.
        note(&format!(
            "{}: {} of {all} variants were not run; {go_on}",
            args.limits.why(limit),
            report.not_run
        ));
        return outcome;
    }
    let stopped = format!("stopped after {done} of {all} variants; {go_on}");
    let sentence = match results.error {
        Some(error) => format!("{error}; {stopped}"),
        None => stopped,
    };
    interrupted(outcome, &sentence, started.runner.stop.asked_now())
}
