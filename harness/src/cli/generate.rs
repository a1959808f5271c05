//! `equiform generate`: programs that mean the same, one a line, or as [`files`] for other tools.

mod files;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::amount::{Amount, at_least_one};
use super::cases_args::{EXPECTED, no_room};
use super::egraph::{CacheArgs, saturation_progress};
use super::layered::Layered;
use super::no_effect::refuse;
use super::rules::AlgebraArgs;
use super::size::{Programs, SizeArgs};
use super::{CannotRun, CliResult, Outcome, output};
use crate::algebra::batch::{Cuts, cut};
use crate::algebra::egraph::{Cache, ClassId, Extraction, Frozen, Limits};
use crate::algebra::generate::{Batching, CHUNK, Generator, Variant, generate, stream};
use crate::algebra::graph::{NamedGraph, Names};
use crate::algebra::implicit::{Escape, Pace};
use crate::algebra::program::{Program, print};
use crate::algebra::rewrite::Budget;
use crate::algebra::rules::Rules;
use crate::algebra::signature::Signature;
use crate::algebra::source::{Source, most_edges};

/// Generate programs that mean the same as a source graph.
///
/// The first line is the source's canonical program, then come the variants, a line each; with `--format hcl --out
/// DIR`, folders of the same with the programs for Terraform and OpenTofu. The same seed gives the same output on any
/// number of threads. `(cut G)` in a program is `G` itself and says that a batch ends there.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  equiform generate --resources 5 --edges 4 --variants 10
  equiform generate --shape real --seed 7 --variants 1000 --batches 4 --format json
  equiform generate --source graph.json --variants 100 --length 40 | equiform eval | sort -u
  equiform generate --resources 5 --batches 3 --format hcl --out programs")]
pub struct GenerateArgs {
    /// The source's resources: a number or a range such as 3..8.
    #[arg(long, value_name = "N", default_value = "5")]
    resources: Amount,
    /// The source's edges: a number or a range [default: four for each five resources, as far as there is room].
    #[arg(long, value_name = "M")]
    edges: Option<Amount>,
    /// Where the source's shape comes from; `real` draws nodes and edges as real programs have them.
    #[arg(long, value_enum, default_value_t = Shape::Random)]
    shape: Shape,
    /// Read the source from a file of graph JSON instead; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["resources", "edges", "shape"])]
    source: Option<PathBuf>,
    /// The seed of all random choices.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many variants to make.
    #[arg(long, value_name = "V", default_value_t = 10)]
    variants: u64,
    /// How variants are made.
    #[arg(long, value_enum, default_value_t = GeneratorName::Implicit)]
    generator: GeneratorName,
    /// The escape probability, from 0 (shortest programs only) to 1 (a naive random walk).
    #[arg(long, value_name = "E", default_value_t = 0.25)]
    epsilon: f64,
    /// The number of steps each variant has, in place of an escape probability (implicit generator).
    #[arg(long, value_name = "STEPS", conflicts_with = "epsilon")]
    length: Option<usize>,
    /// The most steps a variant may have [default: four times the canonical program and 16 more].
    #[arg(long, value_name = "STEPS")]
    max_length: Option<usize>,
    /// How many resources beside the source's there are for programs to add and remove again [default: one in five].
    #[arg(long, value_name = "N")]
    foreign: Option<u32>,
    /// Of the detours through an absent resource, the share that takes one that is not in the source
    /// (implicit generator).
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    leave: f64,
    /// Cut each program into so many batches.
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = at_least_one::<usize>)]
    batches: usize,
    /// Where to cut.
    #[arg(long, value_enum, default_value_t = Cuts::Random)]
    cuts: Cuts,
    /// What to write: terms or JSON, a line each, or HCL for other tools, in files below --out.
    #[arg(long, value_enum, default_value_t = ProgramFormat::Sexpr)]
    format: ProgramFormat,
    /// A new or empty folder for `--format hcl`: source/ and variant-0000/ and so on, and in each batch-1/main.tf and
    /// so on. The programs need no engine to be written; they use the mock provider.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many rewrites make a variant (rewrite generator).
    #[arg(long, value_name = "N", default_value_t = 381)]
    rewrites: usize,
    /// Rewrite each variant for so many milliseconds instead; the output then depends on the machine.
    #[arg(long, value_name = "MS", conflicts_with = "rewrites")]
    rewrite_time: Option<u64>,
    /// Use these rules instead of the algebra's (egraph and rewrite generators).
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Stop saturation after so many seconds (egraph generator with more than 6 resources in all); the output then
    /// depends on the machine.
    #[arg(long, value_name = "S")]
    timeout: Option<u64>,
    /// Stop saturation at so many classes (egraph generator with more than 6 resources in all).
    #[arg(long, value_name = "M", default_value_t = 10_000)]
    max_classes: usize,
    /// How many threads to use [default: all cores].
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    algebra: AlgebraArgs,
    #[command(flatten)]
    size: SizeArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    Random,
    Real,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProgramFormat {
    /// Terms, a line each.
    Sexpr,
    /// Terms with their numbers, a line of JSON each.
    Json,
    /// What Terraform and OpenTofu read, a folder for each variant and batch.
    Hcl,
}

/// A line of JSON output.
#[derive(Serialize)]
struct Line<'a> {
    /// The number of the variant; none for the source.
    variant: Option<u64>,
    program: &'a str,
    steps: usize,
    cuts: &'a [usize],
}

/// Runs the subcommand.
pub fn run(args: GenerateArgs) -> CliResult {
    refuse_idle(&Layered::own::<GenerateArgs>("generate")?, &args)?;
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    let source = read_source(&args)?;
    let rules = args.algebra.rules(args.rules.as_deref())?;
    let (signature, weights) = (args.algebra.signature(), args.algebra.weights());
    let canonical = Program::canonical(&source.graph);
    let bound = args.max_length.unwrap_or(4 * canonical.len() + 16);
    let escape = Escape::new(args.epsilon).ok_or("--epsilon is a probability: from 0 to 1")?;
    if !(0.0..=1.0).contains(&args.leave) {
        return Err("--leave is a share: from 0 to 1".into());
    }
    match args.generator {
        GeneratorName::Implicit => {
            let pace = args.length.map_or(Pace::Escape { escape, bound }, Pace::Length);
            let generator = Generator::Implicit { pace, leave: args.leave, weights: &weights };
            write_variants(&args, &source, generator)
        }
        GeneratorName::Egraph => {
            let (extraction, class) = extraction(&args, &source, &canonical, &rules)?;
            write_variants(
                &args,
                &source,
                Generator::EGraph { extraction: &extraction, class, escape, bound },
            )
        }
        GeneratorName::Rewrite => {
            let time = args.rewrite_time.map(|time| Budget::Time(Duration::from_millis(time)));
            let budget = time.unwrap_or(Budget::Rewrites(args.rewrites));
            write_variants(&args, &source, Generator::Rewrite { rules: &rules, signature, budget, bound })
        }
    }
}

/// Refuses options that have no effect beside the others.
fn refuse_idle(given: &Layered, args: &GenerateArgs) -> Result<(), CannotRun> {
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
        let because = format!("but with --generator {}", names.join(" or "));
        refuse(
            given.says(option) && !generators.contains(&args.generator),
            &format!("--{option}"),
            &because,
        )?;
    }
    refuse(args.length.is_some() && args.max_length.is_some(), "--max-length", "with --length")?;
    refuse(given.says("cuts") && args.batches == 1, "--cuts", "with one batch; give --batches")?;
    let real = args.shape == Shape::Real;
    for option in ["resources", "edges"] {
        refuse(real && given.says(option), &format!("--{option}"), "with --shape real, which draws them")?;
    }
    match (args.format, &args.out) {
        (ProgramFormat::Hcl, None) => Err("--format hcl writes files: name a folder with --out".into()),
        (ProgramFormat::Hcl, Some(_)) => Ok(()),
        (_, out) => refuse(out.is_some(), "--out", "but with --format hcl"),
    }
}

fn read_source(args: &GenerateArgs) -> Result<Source, CannotRun> {
    let mut rng = stream(args.seed, None);
    let source = match (&args.source, args.shape) {
        (Some(path), _) => source_from_file(path, args.algebra.signature())?,
        (None, Shape::Real) => Source::real(&mut rng),
        (None, Shape::Random) => {
            let Amount { least, most } = args.resources;
            let edges = args.edges.unwrap_or(Amount { least: least * 4 / 5, most: most * 4 / 5 });
            let room = most_edges(most);
            if args.edges.is_some() && u64::from(edges.least) > room {
                return Err(no_room(most, edges.least).into());
            }
            let edges = u64::from(edges.least)..=u64::from(edges.most);
            affordable(args, Programs::new(most, *edges.end()))?;
            Source::random(args.resources.range(), edges, &mut rng)
        }
    };
    let drawn = args.source.is_none();
    let source = if drawn { source.dressed(&args.algebra.weights(), &mut rng) } else { source };
    let foreign = args.foreign.unwrap_or(source.names.count().div_ceil(5));
    let (nodes, edges) = (source.names.count(), source.graph.edges().len() as u64);
    affordable(args, Programs { foreign, ..Programs::new(nodes, edges) })?;
    Ok(source.with_foreign(foreign, &mut rng))
}

/// Refuses programs that are too large to be generated unasked.
fn affordable(args: &GenerateArgs, programs: Programs) -> Result<(), CannotRun> {
    let usual = 2.0 * (f64::from(programs.resources) + programs.edges as f64);
    let steps = args.length.map_or(usual, |length| length as f64);
    // Programs are written a chunk at a time; the room for the longest is taken before the first step.
    let (held, room) = (args.variants.min(CHUNK) as f64, args.max_length.unwrap_or(0) as f64);
    args.size.check(&programs.generating(held, steps.max(room / held.max(1.0))))
}

fn source_from_file(path: &Path, signature: &Signature) -> Result<Source, CannotRun> {
    let text =
        if path == Path::new("-") { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(path) };
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = text.map_err(|error| told(&error))?;
    let graph: NamedGraph = serde_json::from_str(&text)
        .map_err(|error| told(&format!("it is not a graph: {error}. {EXPECTED}")))?;
    let source = Source::named(&graph).map_err(|error| told(&error))?;
    if signature.is_bare() && !(graph.attributes.is_empty() && graph.kinds.is_empty()) {
        return Err(told(&"it has attributes or kinds; give --algebra attributed").into());
    }
    Ok(source)
}

/// Up to so many resources an e-graph saturates in seconds, and serves every source over them.
const MOST_TO_SATURATE: u32 = 6;
/// The same with attributes and kinds.
const MOST_TO_SATURATE_ATTRIBUTED: u32 = 1;

fn extraction(
    args: &GenerateArgs,
    source: &Source,
    canonical: &Program,
    rules: &Rules,
) -> Result<(Extraction, ClassId), CannotRun> {
    let resources = source.names.count();
    let progress = saturation_progress();
    let signature = args.algebra.signature();
    let most = if signature.is_bare() { MOST_TO_SATURATE } else { MOST_TO_SATURATE_ATTRIBUTED };
    let frozen = if resources <= most {
        let cache = Cache::new(&args.cache.cache_dir);
        cache.load_or_build(resources, signature, rules, Limits::default(), |now| progress.show(now))?.0
    } else {
        let time = args.timeout.map(Duration::from_secs);
        let limits = Limits { time, classes: Some(args.max_classes), nodes: None };
        let seeds = std::slice::from_ref(canonical);
        Frozen::build(resources, signature, seeds, rules, limits, |now| progress.show(now))?
    };
    progress.finish();
    let class = frozen.lookup(&frozen.operations(), canonical.steps());
    let class = class.ok_or("these rules do not lead to the source; use rules that can build every graph")?;
    Ok((Extraction::new(&frozen), class))
}

fn write_variants(args: &GenerateArgs, source: &Source, generator: Generator) -> CliResult {
    let batching = Batching { batches: args.batches, cuts: args.cuts };
    let canonical = Program::canonical(&source.graph);
    let cuts = cut(canonical.len(), args.batches, args.cuts, &mut stream(args.seed, None));
    if let Some(out) = &args.out {
        let mut files = files::Programs::new(out, source)?;
        files.write("source", &print(&canonical, &cuts, &source.names))?;
        let mut written = Ok(());
        generate(
            source,
            generator,
            batching,
            args.seed,
            args.variants,
            |number, variant| (number, print(&variant.program, &variant.cuts, &source.names)),
            |(number, term)| {
                written = files.write(&format!("variant-{number:04}"), &term);
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        written?;
        files.finish()?;
        return Ok(Outcome::Clean);
    }
    let first = render(args.format, &source.names, None, &Variant { program: canonical, cuts });
    output(|out| {
        out.write_all(first.as_bytes())?;
        let mut written = Ok(());
        generate(
            source,
            generator,
            batching,
            args.seed,
            args.variants,
            |number, variant| render(args.format, &source.names, Some(number), variant),
            |line| {
                written = out.write_all(line.as_bytes());
                if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        written
    })?;
    Ok(Outcome::Clean)
}

fn render(format: ProgramFormat, names: &Names, number: Option<u64>, variant: &Variant) -> String {
    let term = print(&variant.program, &variant.cuts, names);
    match format {
        ProgramFormat::Sexpr | ProgramFormat::Hcl => term + "\n",
        ProgramFormat::Json => {
            let line =
                Line { variant: number, program: &term, steps: variant.program.len(), cuts: &variant.cuts };
            serde_json::to_string(&line).expect("a line is plain data") + "\n"
        }
    }
}
