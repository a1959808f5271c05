//! A variant as people read it: the cause, what is known of it, what changed, what follows, and each stage.

use std::io::{self, Write};
use std::path::Path;

use super::StoredCase;
use crate::cli::here::here;
use crate::judge::cause::{Folded, folded};
use crate::judge::finding::Finding;
use crate::judge::program_change::ProgramChange;
use crate::judge::variant::variant_folder;
use crate::judge::view::{CauseView, StageView, VariantView};

/// How many lines of a changed program are shown where not all is unfolded.
const CHANGED_LINES: usize = 40;

/// What is shown beside the cause.
#[derive(Debug, Clone, Copy)]
pub struct Unfolded {
    /// All stages and findings.
    pub all: bool,
    /// The graph after each stage.
    pub graph: bool,
}

/// Lists the variants of a case that did not pass.
pub fn list(out: &mut dyn Write, place: &StoredCase, passed: usize, views: &[VariantView]) -> io::Result<()> {
    let others = views.len();
    writeln!(out, "case {}: {passed} variants passed, {others} did not", place.number)?;
    for view in views {
        let why = match (&view.cause, &view.inconclusive) {
            (Some(cause), _) => format!("{} in {}", cause.finding.signature(), cause.finding.stage),
            (None, Some(reason)) => reason.clone(),
            (None, None) => String::new(),
        };
        let known = view.cause.as_ref().and_then(|cause| cause.bug.as_ref());
        let known = known.map(|bug| format!(", {}", bug.name)).unwrap_or_default();
        writeln!(out, "  variant {}: {}{known}: {why}", view.variant, view.verdict)?;
    }
    if others > 0 { writeln!(out) } else { Ok(()) }
}

/// Tells of a variant.
pub fn tell(
    out: &mut dyn Write,
    place: &StoredCase,
    view: &VariantView,
    unfolded: Unfolded,
) -> io::Result<()> {
    let folder = variant_folder(&place.folder, view.variant);
    let engine = format!(" on {}", view.engine);
    let (number, variant) = (place.number, view.variant);
    writeln!(out, "case {number} variant {variant}{engine}, driven by {}: {}", view.workflow, view.verdict)?;
    // Where nothing was found there is nothing that the stages could hide.
    let all = unfolded.all || view.cause.is_none();
    if let Some(cause) = &view.cause {
        tell_cause(out, &folder, view, cause, all)?;
    }
    writeln!(out, "\nstages{}", if all { "" } else { " (--all unfolds them)" })?;
    if all {
        writeln!(out, "  program   {}", view.program)?;
    }
    let names = view.stages.iter().map(|stage| stage.record.stage.len()).max().unwrap_or(0);
    for stage in &view.stages {
        if all {
            tell_stage(out, &folder, stage, unfolded.graph)?;
        } else {
            writeln!(out, "  {:names$}  {}", stage.record.stage, outline(stage))?;
        }
    }
    Ok(())
}

fn tell_cause(
    out: &mut dyn Write,
    folder: &Path,
    view: &VariantView,
    cause: &CauseView,
    all: bool,
) -> io::Result<()> {
    let CauseView { finding, bug, change, before, follows } = cause;
    writeln!(out, "\ncause, in {}", finding.stage)?;
    writeln!(out, "  {:8}  {}: {finding}", "found", finding.signature())?;
    if let Some(bug) = bug {
        writeln!(out, "  known     {}: {}", bug.name, bug.text)?;
        writeln!(out, "  page      {}", bug.case)?;
    }
    if let Some(stage) = view.stages.iter().find(|stage| finding.stage == stage.record.stage) {
        tell_operations(out, stage)?;
    }
    writeln!(out, "  look at   {}", here(&folder.join(finding.stage.as_str())).display())?;
    if let Some(change) = change {
        tell_change(out, change, all)?;
    }
    for (title, findings) in [("found before it", before), ("what follows", follows)] {
        if findings.is_empty() {
            continue;
        }
        writeln!(out, "\n{title}")?;
        let width = findings.iter().map(|finding| finding.stage.as_str().len()).max().unwrap_or(0);
        for finding in findings.iter().filter(|_| all) {
            writeln!(
                out,
                "  {:width$}  {}{}: {finding}",
                finding.stage,
                finding.signature(),
                known(finding)
            )?;
        }
        let lines = if all { Vec::new() } else { folded(&findings.iter().collect::<Vec<_>>()) };
        for Folded { first, count } in lines {
            let times = if count == 1 { String::new() } else { format!(" ({count})") };
            writeln!(out, "  {:width$}  {}{}{times}", first.stage, first.signature(), known(first))?;
        }
    }
    Ok(())
}

fn tell_change(out: &mut dyn Write, change: &ProgramChange, all: bool) -> io::Result<()> {
    let ProgramChange { from, lines } = change;
    match from {
        Some(from) if lines.is_empty() => return writeln!(out, "\nthe program is that of {from}"),
        Some(from) => writeln!(out, "\nwhat changed in the program since {from}")?,
        None => writeln!(out, "\nthe program, with nothing deployed before it")?,
    }
    let shown = if all { lines.len() } else { CHANGED_LINES };
    for line in lines.iter().take(shown) {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    match lines.len().saturating_sub(shown) {
        0 => Ok(()),
        more => writeln!(out, "  … {more} more lines: --all shows them"),
    }
}

fn known(finding: &Finding) -> String {
    finding.known.as_ref().map(|name| format!(", known: {name}")).unwrap_or_default()
}

/// How a stage went, in a line.
fn outline(view: &StageView) -> String {
    let record = &view.record;
    let exit = record.ending();
    let command = record.command.split(' ').next().unwrap_or_default();
    let operations = match view.did.len() {
        0 => "nothing done".to_owned(),
        1 => "1 operation".to_owned(),
        some => format!("{some} operations"),
    };
    let findings = match view.findings.len() {
        0 => String::new(),
        1 => ", 1 finding".to_owned(),
        some => format!(", {some} findings"),
    };
    format!("{command}, {exit}, {} ms, {operations}{findings}", record.milliseconds)
}

fn tell_operations(out: &mut dyn Write, view: &StageView) -> io::Result<()> {
    let StageView { expected, did, at_once, .. } = view;
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
    Ok(())
}

fn tell_stage(out: &mut dyn Write, folder: &Path, view: &StageView, graph: bool) -> io::Result<()> {
    writeln!(out, "\n{}  {}", view.record.stage, outline(view))?;
    tell_operations(out, view)?;
    for finding in &view.findings {
        match &finding.known {
            Some(name) => writeln!(out, "  known     {name}: {}: {finding}", finding.signature())?,
            None => writeln!(out, "  found     {}: {finding}", finding.signature())?,
        }
    }
    if !view.findings.is_empty() {
        writeln!(out, "  look at   {}", here(&folder.join(&view.record.stage)).display())?;
    }
    if graph {
        writeln!(out, "  graph     {}", serde_json::to_string(&view.graph)?)?;
    }
    Ok(())
}
