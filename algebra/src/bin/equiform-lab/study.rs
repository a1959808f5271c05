//! `equiform-lab study`: experiments that compare the generators.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use equiform_algebra::cli::amount::at_least_one;
use equiform_algebra::cli::output;
use equiform_algebra::cli::size::{ProgramSize, SizeArgs};
use equiform_algebra::study::{Grid, run as run_study};
use indicatif::{ProgressBar, ProgressStyle};

use super::{CliResult, Outcome};

/// Run an experiment.
#[derive(Debug, Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// Diversity, redundancy and size by resources, escape probability and time-out, for all three generators.
    ///
    /// Writes diversity.csv, curves.csv and charts as SVG into a folder. Existing results are not measured again, so an
    /// interrupted study continues where it stopped. The full grid takes days; `--quick` takes minutes.
    Diversity(DiversityArgs),
}

#[derive(Debug, Args)]
struct DiversityArgs {
    /// The folder for tables and charts.
    #[arg(long, value_name = "DIR", default_value = ".equiform/study")]
    out: PathBuf,
    /// A small grid.
    #[arg(long)]
    quick: bool,
    /// The resources of the sources, separated by commas.
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = at_least_one::<u32>)]
    resources: Vec<u32>,
    /// The escape probabilities in percent, separated by commas.
    #[arg(long, value_name = "E,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=100))]
    epsilons: Vec<u32>,
    /// The time-outs in milliseconds, separated by commas.
    #[arg(long, value_name = "MS,…", value_delimiter = ',', value_parser = at_least_one::<u64>)]
    timeouts: Vec<u64>,
    /// How many sources for each setting.
    #[arg(long, value_name = "N", value_parser = at_least_one::<u32>)]
    sources: Option<u32>,
    /// How many tests for each source.
    #[arg(long, value_name = "N", value_parser = at_least_one::<usize>)]
    tests: Option<usize>,
    /// The seed of all random choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    size: SizeArgs,
}

/// Runs the subcommand.
pub fn run(args: StudyArgs) -> CliResult {
    let Experiment::Diversity(args) = args.experiment;
    let mut grid = if args.quick { Grid::quick() } else { Grid::full() };
    grid.seed = args.seed;
    grid.sources = args.sources.unwrap_or(grid.sources);
    grid.tests = args.tests.unwrap_or(grid.tests);
    if !args.resources.is_empty() {
        grid.resources = args.resources;
    }
    if !args.epsilons.is_empty() {
        grid.epsilons = args.epsilons;
    }
    if !args.timeouts.is_empty() {
        grid.timeouts = args.timeouts;
    }
    let most = grid.resources.iter().copied().max().unwrap_or(0);
    let size = ProgramSize::new(most, u64::from(most));
    args.size.check(&size.generating(grid.tests as f64, 4.0 * f64::from(most)))?;
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} settings, {elapsed}, {eta} to go")
        .expect("the template is sound");
    let bar = ProgressBar::new(0).with_style(style);
    let results = run_study(&args.out, &grid, |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    output(|out| out.write_all(results.summary().as_bytes()))?;
    Ok(Outcome::Clean)
}
