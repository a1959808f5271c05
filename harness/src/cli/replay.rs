//! `equiform replay`: a stored case on an engine once more.

use std::fs;
use std::path::PathBuf;

use clap::Args;

use super::CliResult;
use super::campaign_text::{Display, conclude};
use super::engine_args::EngineArgs;
use super::oracles::chosen;
use crate::campaign::Campaign;
use crate::campaign::tally::Tally;
use crate::case::{CASE_FILE, Case};

/// Run a stored case again: the same programs, batch by batch, on this or another engine.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The case's folder
    folder: PathBuf,
    #[command(flatten)]
    engine: EngineArgs,
    /// A new folder for the evidence
    #[arg(long, default_value = ".equiform/replay")]
    out: PathBuf,
    /// The oracles to ask [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
}

/// Replays.
pub fn run(args: ReplayArgs) -> CliResult {
    let oracles = chosen(&args.oracles)?;
    let case = Case::read(&args.folder.join(CASE_FILE))?;
    let out = args.out.display();
    if fs::read_dir(&args.out).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{out} is not empty: name a new folder with --out").into());
    }
    fs::create_dir_all(&args.out).map_err(|error| format!("the folder {out} cannot be used: {error}"))?;
    let folder = args.out.canonicalize()?;
    let started = args.engine.start()?;
    let watcher = Display::new(case.variants.len() as u64);
    let campaign =
        Campaign { runner: &started.runner, oracles: &oracles, jobs: args.engine.jobs(), watcher: &watcher };
    let verdict = campaign.run_case(0, &case, &folder)?;
    drop(watcher);
    match verdict {
        Some(verdict) => {
            conclude(&format!("{} on {}", folder.display(), started.name), &Tally::of([&verdict]))
        }
        None => Err("stopped; run it again to begin anew".into()),
    }
}
