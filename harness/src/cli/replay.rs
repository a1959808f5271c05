//! `equiform replay`: a stored case on an engine once more.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::campaign_text::Display;
use super::engine_args::EngineArgs;
use super::known_args::KnownArgs;
use super::layered::Layered;
use super::leave_out_args::LeaveOutArgs;
use super::oracles::chosen;
use super::report_args::ReportArgs;
use super::{CliResult, Outcome};
use crate::campaign::Campaign;
use crate::campaign::judge;
use crate::campaign::report::Report;
use crate::campaign::shard::Shard;
use crate::case::{CASE_FILE, Case};

/// Run a stored case again: the same programs, batch by batch, on the engine that it was run on, or another.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The case's folder
    folder: PathBuf,
    #[command(flatten)]
    engine: EngineArgs,
    /// A new or empty folder for the evidence [default: a new one in .equiform/replay, named after the case and the engine]
    #[arg(long)]
    out: Option<PathBuf>,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
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
    let args = match judge::engine(&args.folder, &case) {
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
    let was_there = out.exists();
    fs::create_dir_all(&out)
        .map_err(|error| format!("the folder {} cannot be used: {error}", out.display()))?;
    let folder = out.canonicalize()?;
    let watcher = Display::new(case.variants.len() as u64);
    let campaign = Campaign {
        runner: &started.runner,
        engine: &started.name,
        oracles: &oracles,
        known: &known,
        shard: Shard::WHOLE,
        jobs: args.engine.how.jobs(),
        watcher: &watcher,
    };
    let verdict = campaign.run_case(0, &case, &folder);
    drop(watcher);
    if !was_there && !matches!(verdict, Ok(Some(_))) {
        // Best effort, and never with anything in it.
        let _ = fs::remove_dir(&folder);
    }
    let verdict = verdict?;
    let Some(verdict) = verdict else {
        let now = started.runner.stop.asked_now();
        return if now {
            Ok(Outcome::Interrupted)
        } else {
            Err("stopped; run it again to begin anew".into())
        };
    };
    let report = Report {
        title: folder.display().to_string(),
        engine: Some(started.name.clone()),
        settings: None,
        shard: None,
        complete: true,
        spent: None,
        cases: vec![(folder, verdict)],
    };
    args.report.conclude(&report, &known)
}

/// A folder that is not there yet.
fn fresh(case: &str, engine: &str) -> PathBuf {
    let place = |name: String| PathBuf::from(".equiform/replay").join(name);
    let name = format!("{case}-{}", engine.replace(['/', ' '], "-"));
    let again = (2..).map(|number| place(format!("{name}-{number}")));
    let mut folders = std::iter::once(place(name.clone())).chain(again);
    folders.find(|folder| !folder.exists()).expect("there is always a next number")
}
