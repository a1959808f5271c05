//! `equiform-lab generate`: programs that mean the same, by any of the three generators.

use std::path::PathBuf;
use std::slice::from_ref;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, ValueEnum};
use equiform_algebra::cli::CannotRun;
use equiform_algebra::cli::generate::{LineFormat, ProgramArgs};
use equiform_algebra::cli::no_effect::refuse;
use equiform_algebra::egraph::{Cache, ClassId, Extraction, Frozen, Limits};
use equiform_algebra::generate::Generator;
use equiform_algebra::program::Derivation;
use equiform_algebra::rewrite::Budget;
use equiform_algebra::rules::Rules;
use equiform_algebra::source::Source;

use super::egraph::{CacheArgs, saturation_progress};
use super::{CliResult, Outcome, rules};

/// Generate programs that mean the same as a source graph, with any of three generators.
///
/// The first line is the source's canonical program, followed by the variants, one line each. The same seed gives the
/// same output on any number of threads. `(cut G)` in a program is `G` itself and marks the end of a batch.
/// `equiform generate` has only the implicit generator, which campaigns use, and also writes HCL.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  equiform-lab generate --resources 5 --edges 4 --variants 10 --generator egraph
  equiform-lab generate --generator rewrite --rewrites 1000 --batches 4 --format json
  equiform-lab generate --source graph.json --variants 100 --length 40 | equiform-lab eval | sort -u")]
pub struct GenerateArgs {
    /// How variants are made. --length and --leave are for `implicit`, --epsilon is for `implicit` and `egraph`.
    #[arg(long, value_enum, default_value_t = GeneratorName::Implicit)]
    generator: GeneratorName,
    #[command(flatten)]
    programs: ProgramArgs,
    /// The output format, one line for each program.
    #[arg(long, value_enum, default_value_t = LineFormat::Sexpr)]
    format: LineFormat,
    /// How many rewrites make a variant (rewrite generator).
    #[arg(long, value_name = "N", default_value_t = 381)]
    rewrites: usize,
    /// Rewrite each variant for this many milliseconds instead; the output then depends on the machine.
    #[arg(long, value_name = "MS", conflicts_with = "rewrites")]
    rewrite_time: Option<u64>,
    /// Use these rules instead of the algebra's (egraph and rewrite generators).
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Stop saturation after this many seconds (egraph generator with more than 6 resources in all); the output then
    /// depends on the machine.
    #[arg(long, value_name = "S")]
    timeout: Option<u64>,
    /// Stop saturation at this many classes (egraph generator with more than 6 resources in all).
    #[arg(long, value_name = "M", default_value_t = 10_000)]
    max_classes: usize,
    #[command(flatten)]
    cache: CacheArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GeneratorName {
    /// Walks on the implicit e-graph: any number of resources.
    Implicit,
    /// Walks on a saturated e-graph, or on one that stopped at a limit.
    Egraph,
    /// Random rewriting.
    Rewrite,
}

/// Runs the subcommand. `matches` are its own options, as they were given.
pub fn run(args: &GenerateArgs, matches: &ArgMatches) -> CliResult {
    refuse_idle(args, &|option| {
        matches.value_source(&option.replace('-', "_")) == Some(ValueSource::CommandLine)
    })?;
    let programs = &args.programs;
    programs.limit_threads()?;
    let source = programs.source()?;
    let rules = rules::read(programs.algebra, args.rules.as_deref())?;
    let (signature, weights) = (programs.algebra.signature(), programs.algebra.weights());
    let canonical = Derivation::canonical(&source.graph);
    let bound = programs.bound(&canonical);
    let extraction: Extraction;
    let generator = match args.generator {
        GeneratorName::Implicit => programs.implicit(&source, &weights)?,
        GeneratorName::Egraph => {
            let class;
            (extraction, class) = extract(args, &source, &canonical, &rules)?;
            Generator::EGraph { extraction: &extraction, class, escape: programs.escape()?, bound }
        }
        GeneratorName::Rewrite => {
            let time = args.rewrite_time.map(|time| Budget::Time(Duration::from_millis(time)));
            let budget = time.unwrap_or(Budget::Rewrites(args.rewrites));
            Generator::Rewrite { rules: &rules, signature, budget, bound }
        }
    };
    programs.print(&source, generator, args.format)?;
    Ok(Outcome::Clean)
}

/// Refuses options that have no effect in combination with others. `given` says which options were given.
fn refuse_idle(args: &GenerateArgs, given: &dyn Fn(&str) -> bool) -> Result<(), CannotRun> {
    let (implicit, egraph, rewrite) =
        (GeneratorName::Implicit, GeneratorName::Egraph, GeneratorName::Rewrite);
    let of_generators: [(&str, &[GeneratorName]); 9] = [
        ("rules", &[egraph, rewrite]),
        ("timeout", &[egraph]),
        ("max-classes", &[egraph]),
        ("cache-dir", &[egraph]),
        ("rewrites", &[rewrite]),
        ("rewrite-time", &[rewrite]),
        ("leave", &[implicit]),
        ("epsilon", &[implicit, egraph]),
        ("length", &[implicit]),
    ];
    for (option, generators) in of_generators {
        let names: Vec<String> = generators.iter().map(|name| format!("{name:?}").to_lowercase()).collect();
        let because = format!("except with --generator {}", names.join(" or "));
        refuse(given(option) && !generators.contains(&args.generator), &format!("--{option}"), &because)?;
    }
    args.programs.refuse_idle(given)
}

/// Up to this many resources an e-graph saturates in seconds, and serves every source over them.
const MOST_TO_SATURATE: u32 = 6;
/// The same with attributes and kinds.
const MOST_TO_SATURATE_ATTRIBUTED: u32 = 1;

fn extract(
    args: &GenerateArgs,
    source: &Source,
    canonical: &Derivation,
    rules: &Rules,
) -> Result<(Extraction, ClassId), CannotRun> {
    let resources = source.names.count();
    let progress = saturation_progress();
    let signature = args.programs.algebra.signature();
    let most = if signature.is_bare() { MOST_TO_SATURATE } else { MOST_TO_SATURATE_ATTRIBUTED };
    let frozen = if resources <= most {
        let cache = Cache::new(&args.cache.cache_dir);
        cache.load_or_build(resources, signature, rules, Limits::default(), |now| progress.show(now))?.0
    } else {
        let time = args.timeout.map(Duration::from_secs);
        let limits = Limits { time, classes: Some(args.max_classes), nodes: None };
        Frozen::build(resources, signature, from_ref(canonical), rules, limits, |now| progress.show(now))?
    };
    progress.finish();
    let class = frozen.lookup(&frozen.operations(), canonical.steps());
    let class = class.ok_or("these rules do not lead to the source; use rules that can build every graph")?;
    Ok((Extraction::new(&frozen), class))
}
