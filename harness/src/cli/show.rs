//! `equiform show`: what happened to a variant, stage by stage.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::known_args::KnownArgs;
use super::leave_out_args::LeaveOutArgs;
use super::{CannotRun, CliResult, Outcome, output};
use crate::campaign::judge;
use crate::case::{CASE_FILE, Case};
use crate::deploy::evidence::{Evidence, Observed, StageEvidence};
use crate::model::ExpectedOperation;
use crate::observe::{graph_of, overlaps};
use crate::oracle::{Finding, ORACLES, Trial, expected};

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
    #[command(flatten)]
    known: KnownArgs,
}

/// Shows.
pub fn run(args: ShowArgs) -> CliResult {
    let folder = &args.folder;
    let known = args.known.read()?;
    let (place, mut case, variant) = place(folder)?;
    case.left_out = args.leave_out.or(&case.left_out);
    let engine = judge::engine(&place, &case).unwrap_or_default();
    let batches = case.batches(variant)?;
    let mut evidence = Evidence::open(folder, batches.len())?;
    let mut text = Vec::new();
    let mut new = false;
    if let Some(engine) = &case.engine {
        writeln!(text, "variant {variant} on {engine}: {}", case.variants[variant])?;
    }
    while let Some((stage, world)) = evidence.next_stage()? {
        let expectation = expected(&batches, stage.stage, &case.left_out);
        let trial = Trial {
            source: &case.source,
            batches: &batches,
            expectation: &expectation,
            stage: &stage,
            world,
        };
        let mut findings: Vec<Finding> = ORACLES.iter().flat_map(|oracle| oracle.judge(&trial)).collect();
        known.mark(&engine, &batches, true, &mut findings);
        new |= findings.iter().any(|finding| finding.known.is_none());
        tell(&mut text, folder, &trial, &findings)?;
        if args.graph {
            writeln!(text, "  graph     {}", serde_json::to_string(&graph_of(world).0)?)?;
        }
    }
    output(|out| out.write_all(&text))?;
    Ok(if new { Outcome::Findings } else { Outcome::Clean })
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

fn tell(out: &mut Vec<u8>, folder: &Path, trial: &Trial<'_>, findings: &[Finding]) -> io::Result<()> {
    let StageEvidence { stage, record, operations, .. } = trial.stage;
    let exit = match (record.exit, record.timed_out) {
        (_, true) => "ran out of time".to_owned(),
        (Some(code), false) => format!("exit {code}"),
        (None, false) => "killed".to_owned(),
    };
    let command = record.command.split(' ').next().unwrap_or_default();
    writeln!(out, "\n{}  {command}, {exit}, {} ms", stage.name(), record.milliseconds)?;
    let expected: Vec<String> = trial.expectation.operations.iter().map(ExpectedOperation::signed).collect();
    if !expected.is_empty() {
        writeln!(out, "  expected  {}", expected.join(" "))?;
    }
    if !operations.is_empty() {
        let did: Vec<String> = operations.iter().map(spanned).collect();
        writeln!(out, "  did       {}", did.join(" "))?;
    }
    let both: Vec<String> = overlaps(operations)
        .iter()
        .map(|(first, second)| format!("{} with {}", first.operation.signed(), second.operation.signed()))
        .collect();
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
        writeln!(out, "  look at   {}", folder.join(stage.name()).display())?;
    }
    Ok(())
}

fn spanned(observed: &Observed) -> String {
    let end = match observed.end {
        Some((end, true)) => end.to_string(),
        Some((end, false)) => format!("{end}, failed"),
        None => "never".to_owned(),
    };
    format!("{}[{}..{end}]", observed.operation.signed(), observed.begin)
}
