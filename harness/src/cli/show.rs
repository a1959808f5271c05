//! `equiform show`: what happened to a variant, the cause first. [`text`] is how people read it.

mod text;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::format::OutputFormat;
use super::known_args::KnownArgs;
use super::leave_out_args::LeaveOutArgs;
use super::no_effect::refuse;
use super::{CannotRun, CliResult, Outcome, output};
use crate::campaign::place::{StoredCase, VariantNotFound};
use crate::campaign::{engine_of, stored};
use crate::engine_id::RecordedEngine;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::{ORACLES, Oracle};
use crate::judge::variant::variant_folder;
use crate::judge::view::VariantView;

/// The version of the JSON document.
const VERSION: u32 = 2;

/// Show what happened to a variant: first the cause, then its consequences and each stage
///
/// The cause is the finding that nothing else explains: in the first stage with a new finding, the one closest to
/// what the engine did. It comes with what is known about it, what the model expected, what the ledger shows, and
/// what changed in the program. Everything else takes one line each; `--all` shows it in full.
///
/// Operations are in the order in which they began, with the sequence numbers of their begin and end in the ledger: `+`
/// creates, `~` updates, `-` deletes.
///
/// For a case, the command lists the variants that did not pass and shows the first of them.
///
/// The exit code is 0 if nothing was found or all of it is known, 1 if something is new, 2 if it could not be judged.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  equiform show .equiform/campaign/case-0003/variant-0001
  equiform show .equiform/campaign/case-0003 --all
  equiform show .equiform/campaign/case-0003 --format json | jq '.variants[].cause'")]
pub struct ShowArgs {
    /// The folder of a variant, such as .equiform/campaign/case-0003/variant-0001, or of a case
    folder: PathBuf,
    #[command(flatten)]
    leave_out: LeaveOutArgs,
    /// Show all stages and findings in full
    #[arg(short = 'v', long, visible_alias = "verbose")]
    all: bool,
    /// Also show the graph after each stage; implies --all for stages
    #[arg(long)]
    graph: bool,
    /// The output format: text, or one JSON document with everything
    #[arg(long, default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    known: KnownArgs,
}

/// What is shown, as JSON: `docs/schema/show.json` describes it.
#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    case: usize,
    folder: &'a Path,
    engine: Option<&'a RecordedEngine>,
    /// The number of variants examined.
    passed: usize,
    /// The variant that was asked for, or all of the case that did not pass.
    variants: &'a [VariantView],
}

/// Shows.
pub fn run(args: ShowArgs) -> CliResult {
    let json = args.format == OutputFormat::Json;
    refuse(json && args.all, "--all", "with --format json, which contains everything")?;
    refuse(json && args.graph, "--graph", "with --format json, which has the graphs in it")?;
    let known = args.known.read()?;
    let mut place = StoredCase::find(&args.folder)?;
    place.case.left_out = args.leave_out.or(&place.case.left_out);
    place.case.engine = engine_of(&place.folder, &place.case);
    let (passed, views) = match place.variant {
        Some(variant) => {
            let view = view(&place, variant, &known)?;
            (usize::from(view.verdict == "pass"), vec![view])
        }
        None => of_case(&place, &known)?,
    };
    let document = Document {
        version: VERSION,
        case: place.number,
        folder: &place.folder,
        engine: place.case.engine.as_ref(),
        passed,
        variants: &views,
    };
    output(|out| match args.format {
        OutputFormat::Json => writeln!(out, "{}", serde_json::to_string_pretty(&document)?),
        OutputFormat::Text => {
            if place.variant.is_none() {
                text::list(out, &place, passed, &views)?;
            }
            let unfolded = text::Unfolded { all: args.all || args.graph, graph: args.graph };
            views.first().map_or(Ok(()), |view| text::tell(out, &place, view, unfolded))
        }
    })?;
    if views.iter().any(|view| view.has_new_findings) {
        return Ok(Outcome::Findings);
    }
    match views.into_iter().find_map(|view| view.inconclusive) {
        Some(reason) => Err(reason.into()),
        None => Ok(Outcome::Clean),
    }
}

/// How many variants of a case passed, and the others.
fn of_case(place: &StoredCase, known: &KnownFindings) -> Result<(usize, Vec<VariantView>), CannotRun> {
    let (mut passed, mut views) = (0, Vec::new());
    for variant in 0..place.case.variants.len() {
        // One that was never run, as in a replay of a single variant, has nothing to show.
        if !variant_folder(&place.folder, variant).exists() {
            continue;
        }
        if stored::is_removed(&place.folder, variant) {
            passed += 1;
            continue;
        }
        match view(place, variant, known)? {
            view if view.verdict == "pass" => passed += 1,
            view => views.push(view),
        }
    }
    if passed == 0 && views.is_empty() {
        return Err(format!(
            "{} has no evidence: its case was not run yet; `equiform replay` runs it",
            place.folder.display()
        )
        .into());
    }
    Ok((passed, views))
}

fn view(place: &StoredCase, variant: usize, known: &KnownFindings) -> Result<VariantView, CannotRun> {
    let (case, folder) = (&place.folder, variant_folder(&place.folder, variant));
    if stored::is_removed(case, variant) {
        return Err(format!(
            "variant {variant} passed, and its evidence was removed (`run --keep failed`); \
             `equiform replay {}` deploys it again",
            folder.display()
        )
        .into());
    }
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let engine = place.case.engine.as_ref().ok_or_else(|| VariantNotFound::NoEngine(case.clone()))?;
    Ok(VariantView::read(&place.case, variant, &folder, &oracles, (known, engine)))
}
