//! `equiform explain`: what went wrong with a variant, so that somebody can act on it.

use clap::Args;

use super::engine_args::installed_engines;
use super::format::OutputFormat;
use super::steps_shown::StepsShown;
use super::variant_args::VariantArgs;
use super::{CliResult, Outcome, interrupt, output};
use crate::campaign::trial::TrialHost;
use crate::deploy::stop::Stop;
use crate::engines::{EngineChoice, Engines};
use crate::judge::explain::Explanation;

/// Explain what went wrong with a variant: what was deployed, what the model expected and by which rule, what the
/// ledger shows, the first difference and the lines that prove it, and what is known about it
///
/// The command explains the finding closest to the cause. It deploys nothing, unless `--engines` asks which installed
/// engines show it. `equiform bundle` turns it into something to send to the engine's maintainers.
///
/// The exit code is 0 if a known engine bug explains it, 1 if it is new, 2 if there is nothing to explain.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  equiform explain .equiform/runs/…/case-0024/variant-0003\n  \
                  equiform explain .equiform/runs/…/case-0024 --engines")]
pub struct ExplainArgs {
    #[command(flatten)]
    variant: VariantArgs,
    /// Deploy the variant on every installed engine, and say which of them show it
    #[arg(long)]
    engines: bool,
    /// The output format
    #[arg(long, default_value = "text")]
    format: OutputFormat,
}

/// Explains.
pub fn run(args: ExplainArgs) -> CliResult {
    let (place, known) = args.variant.find()?;
    let mut explanation = Explanation::of(&place.case, place.variant, &place.folder, &known, &place.engine)?;
    if args.engines {
        let mut engines = installed_engines()?;
        // The one that it was found on may stand elsewhere, or be gone.
        let own = Engines::from_env()?.find(&EngineChoice::again(&place.engine)).ok();
        engines.extend(own.filter(|own| engines.iter().all(|engine| engine.recorded() != own.recorded())));
        let stop = Stop::default();
        interrupt::watch(stop.clone())?;
        let host = TrialHost::start(stop)?;
        let shown = StepsShown::new(engines.len() as u64);
        for engine in &engines {
            shown.next(&format!("deploying it on {engine}"));
            let tried = host.try_on(engine, &place.case, place.variant, &explanation.cause)?;
            explanation.tried.push(tried);
        }
    }
    output(|out| match args.format {
        OutputFormat::Text => write!(out, "{explanation}"),
        OutputFormat::Json => writeln!(out, "{}", serde_json::to_string_pretty(&explanation)?),
    })?;
    Ok(if explanation.cause.known.is_some() { Outcome::Clean } else { Outcome::Findings })
}
