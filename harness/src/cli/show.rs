//! `equiform show`: what happened to a variant, stage by stage.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::format::OutputFormat;
use super::known_args::KnownArgs;
use super::leave_out_args::LeaveOutArgs;
use super::{CannotRun, CliResult, Outcome, output};
use crate::campaign::{engine_of, stored};
use crate::case::{CASE_FILE, Case};
use crate::judge::oracles::{Finding, ORACLES, Oracle};
use crate::judge::view::{StageView, VariantView};

/// Show what happened to a variant, stage by stage: what the model expected, what the ledger shows, what was found.
///
/// Operations stand in the order in which they began, with the sequence numbers of their begin and end in the
/// ledger: `+` creates, `~` updates, `-` deletes. What a known engine bug explains is shown as known, with
/// its name.
///
/// Exit code 0 if nothing was found or all of it is known, 1 if something is new.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The variant's folder, such as .equiform/runs/…/case-0003/variant-0001
    folder: PathBuf,
    #[command(flatten)]
    leave_out: LeaveOutArgs,
    /// Show the graph after each stage too
    #[arg(long)]
    graph: bool,
    /// How it is written
    #[arg(long, default_value = "text")]
    format: OutputFormat,
    #[command(flatten)]
    known: KnownArgs,
}

/// Shows.
pub fn run(args: ShowArgs) -> CliResult {
    let folder = &args.folder;
    let known = args.known.read()?;
    let (place, mut case, variant) = place(folder)?;
    if stored::is_removed(&place, variant) {
        return Err(format!(
            "variant {variant} passed, and its evidence was removed (`run --keep failed`); \
             `equiform replay {} --variant {variant}` deploys it again",
            place.display()
        )
        .into());
    }
    case.left_out = args.leave_out.or(&case.left_out);
    let engine = engine_of(&place, &case).unwrap_or_default();
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let view = VariantView::read(&case, variant, folder, &oracles, (&known, &engine));
    output(|out| match args.format {
        OutputFormat::Text => tell(out, folder, &view, args.graph),
        OutputFormat::Json => writeln!(out, "{}", serde_json::to_string_pretty(&view)?),
    })?;
    match view.inconclusive {
        Some(reason) => Err(reason.into()),
        None if view.has_new_findings => Ok(Outcome::Findings),
        None => Ok(Outcome::Clean),
    }
}

/// The folder of the case that a variant's folder lies in, the case, and the variant's number.
fn place(folder: &Path) -> Result<(PathBuf, Case, usize), CannotRun> {
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let (Some(number), Some(place)) =
        (name.strip_prefix("variant-").and_then(|number| number.parse().ok()), folder.parent())
    else {
        let folder = folder.display();
        return Err(
            format!("{folder} is no variant's folder: name one such as …/case-0003/variant-0001").into()
        );
    };
    let case = Case::read(&place.join(CASE_FILE))?;
    if number >= case.variants.len() {
        return Err(format!(
            "the case has {} variants, and none with the number {number}",
            case.variants.len()
        )
        .into());
    }
    Ok((place.to_owned(), case, number))
}

fn tell(out: &mut dyn Write, folder: &Path, view: &VariantView, graph: bool) -> io::Result<()> {
    if !view.engine.is_empty() {
        writeln!(out, "variant {} on {}: {}", view.variant, view.engine, view.program)?;
    }
    view.stages.iter().try_for_each(|stage| tell_stage(out, folder, stage, graph))
}

fn tell_stage(out: &mut dyn Write, folder: &Path, view: &StageView, graph: bool) -> io::Result<()> {
    let StageView { record, expected, did, at_once, findings, .. } = view;
    let exit = match (record.exit, record.timed_out) {
        (_, true) => "ran out of time".to_owned(),
        (Some(code), false) => format!("exit {code}"),
        (None, false) => "killed".to_owned(),
    };
    let command = record.command.split(' ').next().unwrap_or_default();
    writeln!(out, "\n{}  {command}, {exit}, {} ms", record.stage, record.milliseconds)?;
    if !expected.is_empty() {
        writeln!(out, "  expected  {}", expected.join(" "))?;
    }
    if !did.is_empty() {
        writeln!(out, "  did       {}", did.join(" "))?;
    }
    let both: Vec<String> = at_once.iter().map(|[one, other]| format!("{one} with {other}")).collect();
    if !both.is_empty() {
        writeln!(out, "  at once   {}", both.join(", "))?;
    }
    for Finding { oracle, kind, text, known, .. } in findings {
        match known {
            Some(name) => writeln!(out, "  known     {name}: {oracle}: {kind}: {text}")?,
            None => writeln!(out, "  found     {oracle}: {kind}: {text}")?,
        }
    }
    if !findings.is_empty() {
        writeln!(out, "  look at   {}", folder.join(&record.stage).display())?;
    }
    if graph {
        writeln!(out, "  graph     {}", serde_json::to_string(&view.graph)?)?;
    }
    Ok(())
}
