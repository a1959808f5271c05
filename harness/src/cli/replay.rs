//! `equiform replay`: a stored case on an engine once more.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::CliResult;
use super::campaign_text::ProgressDisplay;
use super::engine_args::EngineArgs;
use super::known_args::KnownArgs;
use super::layered::Layered;
use super::leave_out_args::LeaveOutArgs;
use super::oracles::chosen;
use super::report_args::{ReportArgs, interrupted};
use crate::campaign::keep::Keep;
use crate::campaign::limits::Limits;
use crate::campaign::programs::Programs;
use crate::campaign::report::Report;
use crate::campaign::shard::Shard;
use crate::campaign::{Campaign, case_number, engine_of};
use crate::case::{CASE_FILE, Case};
use crate::deploy::provider;
use crate::private;

/// Run a stored case again: the same programs, batch by batch, on the engine that it was run on, or another.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The case's folder
    folder: PathBuf,
    /// Only this variant, counted from 0 [default: all]
    #[arg(long, value_name = "N")]
    variant: Option<usize>,
    #[command(flatten)]
    engine: EngineArgs,
    /// A new or empty folder for the evidence [default: a new one in .equiform/replay, named after the case
    /// and the engine]
    #[arg(long)]
    out: Option<PathBuf>,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    /// Do not deploy a variant with a new finding a second time to see whether it comes again
    #[arg(long)]
    no_again: bool,
    #[command(flatten)]
    leave_out: LeaveOutArgs,
    #[command(flatten)]
    known: KnownArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// Replays.
pub fn run(args: ReplayArgs) -> CliResult {
    let mut case = Case::read(&args.folder.join(CASE_FILE))?;
    case.left_out = args.leave_out.or(&case.left_out);
    let last = case.variants.len() - 1;
    if let Some(variant) = args.variant.filter(|variant| *variant > last) {
        return Err(format!("the case has no variant {variant}: give a number from 0 to {last}").into());
    }
    let args = match engine_of(&args.folder, &case) {
        Some(engine) => Layered::own::<ReplayArgs>("replay")?.with(&[("engine".to_owned(), engine)])?,
        None => args,
    };
    let (oracles, known) = (chosen(&args.oracles)?, args.known.read()?);
    let started = args.engine.start()?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => fresh(
            &args.folder.canonicalize()?.file_name().unwrap_or_default().to_string_lossy(),
            &started.name,
        ),
    };
    if fs::read_dir(&out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{} is not empty: name a new folder with --out", out.display()).into());
    }
    let programs = Programs::at(started.runner.engine.executable(), &provider::locate()?)?;
    let was_there = out.exists();
    private::create_folder(&out)
        .map_err(|error| format!("the folder {} cannot be used: {error}", out.display()))?;
    let folder = out.canonicalize()?;
    let all = if args.variant.is_some() { 1 } else { case.variants.len() };
    let watcher = ProgressDisplay::new(all as u64);
    let campaign = Campaign {
        runner: &started.runner,
        engine: &started.name,
        programs: Some(&programs),
        oracles: &oracles,
        known: &known,
        shard: Shard::WHOLE,
        jobs: args.engine.how.jobs(),
        again: !args.no_again,
        limits: Limits::default(),
        keep: Keep::All,
        watcher: &watcher,
    };
    let results = campaign.run_case(case_number(&args.folder).unwrap_or(0), &case, args.variant, &folder);
    drop(watcher);
    if !was_there {
        // Best effort, and never with anything in it.
        let _ = fs::remove_dir(&folder);
    }
    let done = results.judged();
    let report = Report {
        title: folder.display().to_string(),
        engine: Some(started.name.clone()),
        settings: None,
        shard: None,
        not_run: all - done,
        earlier: 0,
        spent: None,
        workers: started.workers(),
        stages: started.runner.spent.stages.get(),
        cases: results.cases.into_iter().map(|verdict| (folder.clone(), verdict)).collect(),
    };
    let outcome = args.report.conclude(&report, &known);
    if report.not_run == 0 && results.error.is_none() {
        return outcome;
    }
    let stopped = format!("stopped after {done} of {all} variants; run it again to begin anew");
    let sentence = match results.error {
        Some(error) => format!("{error}; {stopped}"),
        None => stopped,
    };
    interrupted(outcome, &sentence, started.runner.stop.asked_now())
}

/// A folder that is not there yet.
fn fresh(case: &str, engine: &str) -> PathBuf {
    let place = |name: String| PathBuf::from(".equiform/replay").join(name);
    let name = format!("{case}-{}", engine.replace(['/', ' '], "-"));
    let again = (2..).map(|number| place(format!("{name}-{number}")));
    let mut folders = std::iter::once(place(name.clone())).chain(again);
    folders.find(|folder| !folder.exists()).expect("there is always a next number")
}
