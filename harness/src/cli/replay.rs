//! `equiform replay`: a stored case on an engine once more.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;

use super::CliResult;
use super::campaign_text::ProgressDisplay;
use super::engine_args::EngineArgs;
use super::known_args::KnownArgs;
use super::layered::Layered;
use super::leave_out_args::LeaveOutArgs;
use super::no_effect::refuse;
use super::oracles::chosen;
use super::report_args::{ReportArgs, command_line, interrupted};
use crate::campaign::keep::Keep;
use crate::campaign::limits::Limits;
use crate::campaign::place::StoredCase;
use crate::campaign::programs::Programs;
use crate::campaign::report::Report;
use crate::campaign::shard::Shard;
use crate::campaign::{Campaign, engine_of};
use crate::case::CASE_FILE;
use crate::deploy::provider;
use crate::engines::{EngineChoice, RecordedEngine};
use crate::private;
use crate::util::files::{is_occupied, unused};

/// Run a stored case again: the same programs, batch by batch, on the engine that it was run on, or another.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The folder of a case, or of a variant if only that is to be run, such as …/case-0003/variant-0001
    folder: PathBuf,
    /// Only this variant of a case, counted from 0 [default: all]
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
    let place = StoredCase::find(&args.folder)?;
    args.variant.map_or(Ok(()), |variant| place.has(variant))?;
    let StoredCase { folder: from, mut case, number, variant } = place;
    case.left_out = args.leave_out.or(&case.left_out);
    refuse(variant.is_some() && args.variant.is_some(), "--variant", "with the folder of a variant")?;
    let variant = variant.or(args.variant);
    let given = Layered::own::<ReplayArgs>("replay")?;
    let args = match engine_of(&from, &case) {
        Some(engine) => given.with(&[("engine".to_owned(), EngineChoice::again(&engine).to_string())])?,
        None => args,
    };
    args.report.check()?;
    args.engine.how.refuse_idle(&|option| given.says(option))?;
    let (oracles, known) = (chosen(&args.oracles)?, args.known.read()?);
    let started = args.engine.start()?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => fresh(&from.file_name().unwrap_or_default().to_string_lossy(), &started.engine),
    };
    if is_occupied(&out) {
        return Err(format!("{} is not empty: name a new folder with --out", out.display()).into());
    }
    let programs = Programs::at(&started.runner.engine.engine().path, &provider::locate()?)?;
    let was_there = out.exists();
    private::create_folder(&out)
        .map_err(|error| format!("the folder {} cannot be used: {error}", out.display()))?;
    let folder = out.canonicalize()?;
    let all = if variant.is_some() { 1 } else { case.variants.len() };
    let watcher = ProgressDisplay::new(all as u64);
    let campaign = Campaign {
        runner: &started.runner,
        engine: &started.engine,
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
    let begun = Instant::now();
    let results = campaign.run_case(number, &case, variant, &folder);
    drop(watcher);
    if !was_there {
        // Best effort, and never with anything in it.
        let _ = fs::remove_dir(&folder);
    }
    let done = results.judged();
    let report = Report {
        title: folder.display().to_string(),
        engine: Some(started.engine.clone()),
        not_run: all - done,
        took: Some(begun.elapsed()),
        repeat: Some(repeat(&args.folder, variant, &started.engine)),
        workers: started.workers(),
        stages: started.runner.spent.stages.get(),
        cases: results.cases.into_iter().map(|verdict| (folder.clone(), verdict)).collect(),
        ..Report::default()
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

/// The command that does the same once more, into a folder of its own.
fn repeat(folder: &Path, variant: Option<usize>, engine: &RecordedEngine) -> String {
    let is_of_variant = folder.join(CASE_FILE).exists();
    let variant =
        variant.filter(|_| is_of_variant).map(|number| vec!["--variant".to_owned(), number.to_string()]);
    let fixed = [
        "replay".to_owned(),
        folder.display().to_string(),
        "--engine".to_owned(),
        EngineChoice::again(engine).to_string(),
    ];
    command_line(fixed.into_iter().chain(variant.into_iter().flatten()))
}

/// A folder that is not there yet.
fn fresh(case: &str, engine: &RecordedEngine) -> PathBuf {
    let engine = engine.to_string().replace(['/', ' '], "-");
    unused(Path::new(".equiform/replay"), &format!("{case}-{engine}"))
}
