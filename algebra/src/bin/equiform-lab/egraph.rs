//! `equiform-lab egraph`: builds the explicit e-graph, prints its figures, draws it.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use equiform_algebra::cli::algebra_args::AlgebraArgs;
use equiform_algebra::cli::format::OutputFormat;
use equiform_algebra::cli::{CannotRun, output};
use equiform_algebra::egraph::{Cache, Ending, Frozen, GraphOrigin, Limits, Packed, Progress, draw};
use equiform_algebra::graph::Names;
use equiform_algebra::program::parse;
use indicatif::{ProgressBar, ProgressStyle};

use super::{CliResult, Outcome, rules};

/// Build the e-graph over a number of resources, print its figures, or draw it.
///
/// The e-graph starts from `empty` and grows by the rules alone. Saturated, it has a class for each graph: 5, 18, 113,
/// 1,450, 40,069 and 2,350,602 for 2 to 7 resources; with attributes and kinds 49 for one resource and 13,921 for two.
/// A saturated e-graph is kept in the cache and read from there the next time. If the file is damaged, or was made with
/// other rules or by another version, the e-graph is built again.
#[derive(Debug, Args)]
pub struct EgraphArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Build it, or find it in the cache, and print one line about it.
    Build(BuildArgs),
    /// Print classes, e-nodes, how saturation ended, time and memory.
    Stats(StatsArgs),
    /// Draw it as DOT or SVG, for a few resources or for one program.
    Draw(DrawArgs),
}

#[derive(Debug, Args)]
struct BuildArgs {
    /// How many resources.
    #[arg(long, value_name = "N")]
    resources: u32,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

#[derive(Debug, Args)]
struct LimitArgs {
    /// Stop after this many seconds.
    #[arg(long, value_name = "S")]
    timeout: Option<u64>,
    /// Stop at this many classes.
    #[arg(long, value_name = "M")]
    max_classes: Option<usize>,
    /// Stop at this many e-nodes.
    #[arg(long, value_name = "M")]
    max_nodes: Option<usize>,
    /// Use these rules instead of the algebra's, if they pass the check.
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    algebra: AlgebraArgs,
}

impl LimitArgs {
    fn limits(&self) -> Limits {
        Limits {
            time: self.timeout.map(Duration::from_secs),
            classes: self.max_classes,
            nodes: self.max_nodes,
        }
    }
}

/// Where saturated e-graphs are kept.
#[derive(Debug, Args)]
pub(super) struct CacheArgs {
    /// The folder in which saturated e-graphs are kept.
    #[arg(long, value_name = "DIR", default_value = ".equiform/cache")]
    pub(super) cache_dir: PathBuf,
}

#[derive(Debug, Args)]
struct StatsArgs {
    #[command(flatten)]
    build: BuildArgs,
    /// What to write.
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

#[derive(Debug, Args)]
struct DrawArgs {
    /// How many resources.
    #[arg(long, value_name = "N", required_unless_present = "program")]
    resources: Option<u32>,
    /// Draw the e-graph over the resources of this program, under its names.
    #[arg(long, value_name = "TERM", conflicts_with = "resources")]
    program: Option<String>,
    /// What to write.
    #[arg(long, value_enum, default_value_t = Picture::Svg)]
    format: Picture,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Picture {
    /// For Graphviz: each class a dashed box around its e-nodes.
    Dot,
    /// A drawing.
    Svg,
}

/// Runs the subcommand.
pub fn run(args: EgraphArgs) -> CliResult {
    match args.action {
        Action::Build(args) => {
            let (frozen, origin) = build(&args)?;
            let whence = if origin == GraphOrigin::Cache { "read from the cache" } else { "built" };
            let stats = frozen.stats;
            let ending = ending(stats.ending);
            output(|out| {
                writeln!(out, "{} classes, {} e-nodes, {ending}; {whence}", stats.classes, stats.nodes)
            })?;
        }
        Action::Stats(args) => {
            let (frozen, _) = build(&args.build)?;
            let stats = frozen.stats;
            output(|out| match args.format {
                OutputFormat::Json => writeln!(out, "{}", serde_json::to_string(&stats)?),
                OutputFormat::Text => {
                    writeln!(out, "resources     {}", stats.resources)?;
                    writeln!(out, "classes       {}", stats.classes)?;
                    writeln!(out, "e-nodes       {}", stats.nodes)?;
                    writeln!(out, "classes made  {}", stats.classes_made)?;
                    writeln!(out, "ending        {}", ending(stats.ending))?;
                    writeln!(out, "time          {:.3} s", stats.seconds)?;
                    writeln!(out, "memory        {:.1} MiB", stats.bytes as f64 / f64::from(1 << 20))
                }
            })?;
        }
        Action::Draw(args) => run_draw(&args)?,
    }
    Ok(Outcome::Clean)
}

fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Saturated => "saturated",
        Ending::TimeOut => "stopped by the time-out",
        Ending::ClassLimit => "stopped by the limit on classes",
        Ending::NodeLimit => "stopped by the limit on e-nodes",
    }
}

fn build(args: &BuildArgs) -> Result<(Frozen, GraphOrigin), CannotRun> {
    let algebra = args.limits.algebra;
    let (signature, rules) = (algebra.signature(), rules::read(algebra, args.limits.rules.as_deref())?);
    let unlimited =
        args.limits.timeout.is_none() && args.limits.max_classes.is_none() && args.limits.max_nodes.is_none();
    let most = if signature.is_bare() { 8 } else { 2 };
    if unlimited && args.resources > most {
        let message = format!(
            "saturation over {} resources would take too long; give --timeout or --max-classes",
            args.resources
        );
        return Err(message.into());
    }
    let cache = Cache::new(&args.cache.cache_dir);
    let progress = saturation_progress();
    let limits = args.limits.limits();
    let (frozen, origin) =
        cache.load_or_build(args.resources, signature, &rules, limits, |now| progress.show(now))?;
    progress.finish();
    if let GraphOrigin::Rebuilt(reason) = &origin {
        let path = cache.path(args.resources, signature, &rules);
        eprintln!("note: {} was not used: {reason}; the e-graph was built again", path.display());
    }
    Ok((frozen, origin))
}

fn run_draw(args: &DrawArgs) -> Result<(), CannotRun> {
    let algebra = args.limits.algebra;
    let rules = rules::read(algebra, args.limits.rules.as_deref())?;
    let (names, seeds) = match &args.program {
        Some(text) => {
            let parsed = parse(text).map_err(|error| format!("--program, {error}"))?;
            parsed.eval().map_err(|error| format!("--program, {error}"))?;
            if algebra.signature().is_bare()
                && parsed.derivation.steps().iter().any(|step| step.is_attributed())
            {
                return Err("--program has attributes or kinds; give --algebra attributed".into());
            }
            (parsed.names, vec![parsed.derivation])
        }
        None => (Names::numbered(args.resources.unwrap_or(0)), Vec::new()),
    };
    if names.count() > Packed::MOST_RESOURCES {
        return Err(
            format!("{} resources make too many classes to draw; give at most 4", names.count()).into()
        );
    }
    let mut limits = args.limits.limits();
    limits.classes = Some(limits.classes.unwrap_or(2 * draw::MOST_CLASSES));
    let frozen = Frozen::build(names.count(), algebra.signature(), &seeds, &rules, limits, |_| {})?;
    if frozen.stats.classes > draw::MOST_CLASSES {
        let (classes, most) = (frozen.stats.classes, draw::MOST_CLASSES);
        return Err(format!(
            "a picture has room for {most} classes, and there are at least {classes}; give fewer resources"
        )
        .into());
    }
    let picture = match args.format {
        Picture::Dot => draw::dot(&frozen, &names),
        Picture::Svg => draw::svg(&frozen, &names),
    };
    output(|out| out.write_all(picture.as_bytes()))
}

/// Shows the progress of a saturation on a terminal.
pub(super) struct SaturationProgress(ProgressBar);

/// A progress display on standard error; hidden if that is not a terminal.
pub(super) fn saturation_progress() -> SaturationProgress {
    let style = ProgressStyle::with_template("{spinner} saturating: {msg} ({elapsed})")
        .expect("the template is sound");
    SaturationProgress(ProgressBar::new_spinner().with_style(style))
}

impl SaturationProgress {
    /// Shows the current figures.
    pub(super) fn show(&self, now: Progress) {
        if !self.0.is_hidden() {
            self.0.set_message(format!("{} classes, {} e-nodes", now.classes, now.nodes));
            self.0.tick();
        }
    }

    /// Removes the display.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
