//! `equiform bundle`: a folder from which an engine's maintainers can see a bug.

use std::path::PathBuf;

use clap::Args;

use super::engine_args::installed_engines;
use super::steps_shown::StepsShown;
use super::variant_args::VariantArgs;
use super::{CannotRun, CliResult, Outcome, interrupt, output};
use crate::campaign::bundle::{Bundler, Form, SCRIPT};
use crate::campaign::place::StoredVariant;
use crate::deploy::stop::Stop;
use crate::engines::{Engine, EngineChoice, Engines};
use crate::judge::explain::{Explanation, Tried};

/// Make a folder that shows a bug to an engine's maintainers: the programs, a script that needs only the engine and
/// reports whether the bug occurs, what is expected and what happens, and the text of an issue
///
/// The programs use the built-in terraform_data if the bug occurs with it, which is tried first; otherwise they use
/// the mock provider, whose binary the script then needs. The script runs on the engine of the case, where the bug
/// must occur, and on all other installed engines. Reduce the case first with `equiform reduce`.
///
/// The exit code is 0 if a bundle was made, otherwise 2.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  equiform bundle .equiform/runs/…/case-0024/variant-0003\n  \
                  equiform bundle .equiform/reduced/case-0024 --out cycle-when-removed --title 'A cycle when …'\n\n\
                  docs/findings.md tells how to read a bundle and how to send it upstream.")]
pub struct BundleArgs {
    #[command(flatten)]
    variant: VariantArgs,
    /// A new or empty folder, or that of an earlier bundle [default: one in .equiform/bundles, named after the case
    /// and the variant]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The engine on which the bug must occur [default: the engine of the case]
    #[arg(long)]
    engine: Option<EngineChoice>,
    /// Try it only on that engine
    #[arg(long)]
    only: bool,
    /// The title of the issue [default: the known bug, or what was found]
    #[arg(long)]
    title: Option<String>,
    /// A file with text to add to the issue, such as where the bug comes from
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
}

/// Makes a bundle.
pub fn run(args: BundleArgs) -> CliResult {
    let (place, known) = args.variant.find()?;
    let explanation = Explanation::of(&place.case, place.variant, &place.folder, &known, &place.engine)?;
    let choice = match &args.engine {
        Some(engine) => engine.clone(),
        None => EngineChoice::again(&place.engine),
    };
    let engine = Engines::from_env()?.find(&choice).map_err(|error| {
        format!("the engine that it has to show on is gone: {error}; or name another with --engine")
    })?;
    let others: Vec<Engine> = if args.only { Vec::new() } else { installed_engines()? };
    let others: Vec<Engine> =
        others.into_iter().filter(|other| other.recorded() != engine.recorded()).collect();
    let context = match &args.context {
        None => None,
        Some(path) => {
            let text = std::fs::read_to_string(path);
            Some(text.map_err(|error| CannotRun::from(format!("{}: {error}", path.display())))?)
        }
    };
    let out = args.out.unwrap_or_else(|| usual_folder(&place));
    let stop = Stop::default();
    interrupt::watch(stop.clone())?;
    let shown = StepsShown::new(0);
    let bundler = Bundler {
        engine: &engine,
        others: &others,
        title: args.title.as_deref(),
        context: context.as_deref(),
        stop,
        watch: &|step| shown.next(step),
    };
    let made = bundler.make(&place, &explanation, &out)?;
    drop(shown);
    output(|out_| {
        let out = out.display();
        match &made.form {
            Form::Builtin => writeln!(out_, "{out} shows it with the built-in terraform_data")?,
            Form::Mock { why } => writeln!(out_, "{out} shows it with the mock provider: {why}")?,
        }
        Tried::lines(&made.tried).iter().try_for_each(|line| writeln!(out_, "  {line}"))?;
        writeln!(out_, "run it by    {out}/{SCRIPT} ENGINE")?;
        writeln!(out_, "send it by   {out}/ISSUE.md, after you have read it")
    })?;
    Ok(Outcome::Clean)
}

fn usual_folder(place: &StoredVariant) -> PathBuf {
    let case = place.case_folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    PathBuf::from(".equiform/bundles").join(format!("{case}-variant-{:04}", place.variant))
}
