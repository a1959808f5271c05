//! Options that commands which generate programs share: the source, the number of variants, where they are cut.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::algebra_args::AlgebraArgs;
use super::amount::{Amount, at_least_one};
use super::graph_file::{no_room, parse_graph};
use super::no_effect::refuse;
use super::size::{ProgramSize, SizeArgs};
use super::{CannotRun, output};
use crate::batch::{Cuts, cut};
use crate::generate::{Batching, CHUNK, Generator, Variant, generate, stream};
use crate::graph::Names;
use crate::implicit::{Escape, Pace};
use crate::program::{Derivation, print};
use crate::signature::Signature;
use crate::source::{Source, most_edges};
use crate::weights::Weights;

/// Which programs to generate.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// The source's resources: a number or a range such as 3..8.
    #[arg(long, value_name = "N", default_value = "5")]
    resources: Amount,
    /// The source's edges: a number or a range [default: four for each five resources, if there are that many pairs].
    #[arg(long, value_name = "M")]
    edges: Option<Amount>,
    /// The source's shape; `real` draws nodes and edges as in real programs.
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
    /// The escape probability, from 0 (shortest programs only) to 1 (a naive random walk).
    #[arg(long, value_name = "E", default_value_t = 0.25)]
    epsilon: f64,
    /// The number of steps of each variant, instead of an escape probability.
    #[arg(long, value_name = "STEPS", conflicts_with = "epsilon")]
    length: Option<usize>,
    /// The most steps a variant may have [default: four times the canonical program plus 16].
    #[arg(long, value_name = "STEPS")]
    max_length: Option<usize>,
    /// How many additional resources programs may add and remove again [default: one for each five].
    #[arg(long, value_name = "N")]
    foreign: Option<u32>,
    /// The share of detours through an absent resource that use one that is not in the source.
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    leave: f64,
    /// Cut each program into this many batches.
    #[arg(long, value_name = "B", default_value_t = 1, value_parser = at_least_one::<usize>)]
    batches: usize,
    /// Where to cut.
    #[arg(long, value_enum, default_value_t = Cuts::Random)]
    cuts: Cuts,
    /// How many threads to use [default: all cores].
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The algebra of the programs.
    #[command(flatten)]
    pub algebra: AlgebraArgs,
    #[command(flatten)]
    size: SizeArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Shape {
    Random,
    Real,
}

/// The format of a program on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LineFormat {
    /// Terms, one line each.
    Sexpr,
    /// Terms with their numbers, one line of JSON each.
    Json,
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

impl ProgramArgs {
    /// Refuses options that have no effect in combination with others. `given` says which options were given.
    pub fn refuse_idle(&self, given: &dyn Fn(&str) -> bool) -> Result<(), CannotRun> {
        refuse(self.length.is_some() && self.max_length.is_some(), "--max-length", "with --length")?;
        refuse(given("cuts") && self.batches == 1, "--cuts", "with one batch; give --batches")?;
        let real = self.shape == Shape::Real;
        for option in ["resources", "edges"] {
            refuse(real && given(option), &format!("--{option}"), "with --shape real, which draws them")?;
        }
        Ok(())
    }

    /// The source, drawn or read. A source that is too large is refused before it is drawn.
    pub fn source(&self) -> Result<Source, CannotRun> {
        let mut rng = stream(self.seed, None);
        let source = match (&self.source, self.shape) {
            (Some(path), _) => source_from_file(path, self.algebra.signature())?,
            (None, Shape::Real) => Source::real(&mut rng),
            (None, Shape::Random) => {
                let Amount { least, most } = self.resources;
                let edges = self.edges.unwrap_or(Amount { least: least * 4 / 5, most: most * 4 / 5 });
                if self.edges.is_some() && u64::from(edges.least) > most_edges(most) {
                    return Err(no_room(most, edges.least).into());
                }
                let edges = u64::from(edges.least)..=u64::from(edges.most);
                self.affordable(ProgramSize::new(most, *edges.end()))?;
                Source::random(self.resources.range(), edges, &mut rng)
            }
        };
        let drawn = self.source.is_none();
        let source = if drawn { source.dressed(&self.algebra.weights(), &mut rng) } else { source };
        let foreign = self.foreign.unwrap_or(source.names.count().div_ceil(5));
        let (nodes, edges) = (source.names.count(), source.graph.edges().len() as u64);
        self.affordable(ProgramSize { foreign, ..ProgramSize::new(nodes, edges) })?;
        Ok(source.with_foreign(foreign, &mut rng))
    }

    /// Refuses programs that are too large.
    fn affordable(&self, size: ProgramSize) -> Result<(), CannotRun> {
        let usual = 2.0 * (f64::from(size.resources) + size.edges as f64);
        let steps = self.length.map_or(usual, |length| length as f64);
        // Programs are written a chunk at a time; the room for the longest is taken before the first step.
        let (held, room) = (self.variants.min(CHUNK) as f64, self.max_length.unwrap_or(0) as f64);
        self.size.check(&size.generating(held, steps.max(room / held.max(1.0))))
    }

    /// The most steps that a variant may have.
    pub fn bound(&self, canonical: &Derivation) -> usize {
        self.max_length.unwrap_or(4 * canonical.len() + 16)
    }

    /// The escape probability.
    pub fn escape(&self) -> Result<Escape, CannotRun> {
        Ok(Escape::new(self.epsilon).ok_or("--epsilon is a probability: from 0 to 1")?)
    }

    /// Walks on the implicit e-graph.
    pub fn implicit<'a>(&self, source: &Source, weights: &'a Weights) -> Result<Generator<'a>, CannotRun> {
        let (escape, bound) = (self.escape()?, self.bound(&Derivation::canonical(&source.graph)));
        if !(0.0..=1.0).contains(&self.leave) {
            return Err("--leave is a share: from 0 to 1".into());
        }
        let pace = self.length.map_or(Pace::Escape { escape, bound }, Pace::Length);
        Ok(Generator::Implicit { pace, leave: self.leave, weights })
    }

    /// Makes the source's canonical program and then the variants on all cores, renders each on the core that made
    /// it, and passes the results on in order, up to the first error.
    pub fn each<T: Send, E>(
        &self,
        source: &Source,
        generator: Generator,
        render: impl Fn(Option<u64>, &Variant) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let canonical = Derivation::canonical(&source.graph);
        let cuts = cut(canonical.len(), self.batches, self.cuts, &mut stream(self.seed, None));
        take(render(None, &Variant { derivation: canonical, cuts }))?;
        let mut taken = Ok(());
        generate(
            source,
            generator,
            Batching { batches: self.batches, cuts: self.cuts },
            self.seed,
            self.variants,
            |number, variant| render(Some(number), variant),
            |item| {
                taken = take(item);
                if taken.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            },
        );
        taken
    }

    /// Prints the programs, one line each.
    pub fn print(&self, source: &Source, generator: Generator, format: LineFormat) -> Result<(), CannotRun> {
        output(|out| {
            self.each(
                source,
                generator,
                |number, variant| line(format, &source.names, number, variant),
                |line| out.write_all(line.as_bytes()),
            )
        })
    }

    /// Limits the threads of this process to the requested number.
    pub fn limit_threads(&self) -> Result<(), CannotRun> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
        }
        Ok(())
    }
}

fn source_from_file(path: &Path, signature: &Signature) -> Result<Source, CannotRun> {
    let text =
        if path == Path::new("-") { io::read_to_string(io::stdin()) } else { std::fs::read_to_string(path) };
    let located = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let graph = parse_graph(&text.map_err(|error| located(&error))?).map_err(|error| located(&error))?;
    let source = Source::named(&graph).map_err(|error| located(&error))?;
    if signature.is_bare() && !graph.is_bare() {
        return Err(located(&"it has attributes or kinds; give --algebra attributed").into());
    }
    Ok(source)
}

fn line(format: LineFormat, names: &Names, number: Option<u64>, variant: &Variant) -> String {
    let term = print(&variant.derivation, &variant.cuts, names);
    match format {
        LineFormat::Sexpr => term + "\n",
        LineFormat::Json => {
            let (steps, cuts) = (variant.derivation.len(), &*variant.cuts);
            let line = Line { variant: number, program: &term, steps, cuts };
            serde_json::to_string(&line).expect("a line is plain data") + "\n"
        }
    }
}
