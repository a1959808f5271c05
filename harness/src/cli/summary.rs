//! What a campaign says in the end to people: the most important in at most 20 lines. What was exercised,
//! and where the time went, is for those who ask.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use super::exercised_text;
use super::here::here;
use crate::campaign::reduce::Reduction;
use crate::campaign::report::Report;
use crate::campaign::tally::Tally;
use crate::deploy::time_spent::StageTime;
use crate::judge::cause::Cause;
use crate::judge::exercised::Exercised;
use crate::judge::variant::variant_folder;
use crate::judge::verdict::{VariantResult, VariantVerdict};
use crate::spec::Rule;

/// More lines than these are not read. A test holds the longest summary to it.
#[cfg(test)]
const MOST_LINES: usize = 20;

/// The most lines for things of one kind.
const MOST: usize = 3;

/// The most reasons why variants could not be judged that are listed.
const MOST_REASONS: usize = 2;

/// How many names of what was not exercised are listed.
const MOST_NEVER_DUE: usize = 3;

/// Variants with the same signature, of the same known bug, or not judged for the same reason.
struct Group {
    variants: usize,
    example: PathBuf,
}

/// Writes the summary, and all that there is to say if that is wished.
pub fn write(out: &mut dyn Write, report: &Report, tally: &Tally, verbose: bool) -> io::Result<()> {
    let exercised = report.exercised();
    write_counts(out, report, tally, &exercised)?;
    let failed = groups(report, |variant| matches!(variant.result, VariantResult::Fail { .. }));
    write_some(out, "failed", "signatures", MOST, &failed)?;
    write_reductions(out, report)?;
    let known = groups(report, |variant| matches!(variant.result, VariantResult::Known { .. }));
    write_some(out, "known", "bugs", MOST, &known)?;
    write_some(out, "inconclusive", "reasons", MOST_REASONS, &reasons(report))?;
    write_not_exercised(out, &exercised, report.rules(), verbose)?;
    if let Some(repeat) = &report.repeat {
        writeln!(out, "  repeat it     {repeat}")?;
    }
    writeln!(out, "  look next     {}", next(report))?;
    if verbose {
        write_details(out, report, &exercised)?;
    }
    Ok(())
}

fn write_counts(
    out: &mut dyn Write,
    report: &Report,
    tally: &Tally,
    exercised: &Exercised,
) -> io::Result<()> {
    let on = report.engine.as_ref().map(|engine| format!(" on {engine}")).unwrap_or_default();
    let verdict = match (tally.failed, tally.inconclusive, report.not_run) {
        (0, 0, 0) => "nothing new was found",
        (0, 0, _) => "nothing new was found so far",
        (0, ..) => "not all of it could be judged",
        _ => "something new was found",
    };
    writeln!(out, "{}{on}: {verdict}", here(report.title.as_ref()).display())?;
    let not_again = match tally.not_again {
        0 => String::new(),
        some => format!(" ({some} not again)"),
    };
    writeln!(
        out,
        "  verdicts      {} passed, {} failed{not_again}, {} known, {} inconclusive",
        tally.passed, tally.failed, tally.known, tally.inconclusive
    )?;
    if let Some(judged_as) = report.judged_as() {
        writeln!(out, "  judged as     {judged_as}, the newest version that equiform was tested with")?;
    }
    let variants: usize = report.cases.iter().map(|(_, verdict)| verdict.variants.len()).sum();
    let mut size = vec![format!(
        "{} of {}",
        counted(variants as u64, "variant"),
        counted(report.cases.len() as u64, "case")
    )];
    let (applies, destroys) = exercised.applies();
    size.extend((applies > 0).then(|| counted(applies, "apply")));
    size.extend((destroys > 0).then(|| counted(destroys, "destroy")));
    size.extend(report.took.map(|took| format!("in {}", rounded(took))));
    size.extend(report.settings.as_ref().map(|settings| format!("seed {}", settings.seed)));
    size.extend(report.shard.map(|shard| format!("part {shard}")));
    size.extend(report.only_case.map(|case| format!("case {case} only")));
    writeln!(out, "  size          {}", size.join(", "))?;
    let mut missing = Vec::new();
    missing.extend(
        (report.not_run > 0).then(|| format!("{} not run", counted(report.not_run as u64, "variant"))),
    );
    missing.extend((report.earlier > 0).then(|| format!("{} from an earlier run", report.earlier)));
    if tally.stages_not_reached > 0 {
        let Tally { stages_not_reached, cut_short, .. } = tally;
        missing.push(format!(
            "{stages_not_reached} stages of {cut_short} variants not reached, because one before them failed"
        ));
    }
    if let Some(stages) = exercised.one_at_a_time() {
        missing.push(format!(
            "never more than one operation at a time, although {} allow more",
            counted(stages, "stage")
        ));
    }
    match &report.outliers[..] {
        [] => {}
        [outlier] => missing.push(outlier.to_string()),
        [outlier, others @ ..] => {
            missing.push(format!(
                "{outlier}, and {} more such costs (--format json has them all)",
                others.len()
            ));
        }
    }
    if !missing.is_empty() {
        writeln!(out, "  note          {}", missing.join("; "))?;
    }
    if tally.warm_only > 0 {
        writeln!(
            out,
            "  warm only     {} showed on a warm engine what fresh processes do not show",
            counted(tally.warm_only as u64, "variant")
        )?;
    }
    Ok(())
}

/// What failures were cut down to.
fn write_reductions(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    for (folder, Reduction { symptom, after, .. }) in report.reductions.iter().take(MOST) {
        let size = [
            counted(after.resources as u64, "resource"),
            counted(after.edges as u64, "edge"),
            counted(after.commands as u64, "command"),
        ];
        let size = size.join(", ");
        writeln!(out, "  reduced       {} to {size}: {}", symptom.text(), here(folder).display())?;
    }
    Ok(())
}

/// A number of things.
fn counted(number: u64, thing: &str) -> String {
    let many = match thing.strip_suffix('y') {
        Some(beginning) if thing != "destroy" => format!("{beginning}ies"),
        _ => format!("{thing}s"),
    };
    if number == 1 { format!("1 {thing}") } else { format!("{number} {many}") }
}

/// A duration in the units that people use of it.
fn rounded(took: Duration) -> String {
    let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    let coarse = if took < Duration::from_secs(10) { milliseconds } else { milliseconds / 1000 * 1000 };
    humantime::format_duration(Duration::from_millis(coarse)).to_string()
}

/// Lines for the first of many groups, each with a folder, and how many more there are.
fn write_some(
    out: &mut dyn Write,
    title: &str,
    things: &str,
    most: usize,
    groups: &BTreeMap<String, Group>,
) -> io::Result<()> {
    for (name, Group { variants, example }) in groups.iter().take(most) {
        writeln!(out, "  {title:12}  {variants} × {name}, such as {}", here(example).display())?;
    }
    match groups.len().saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "  {title:12}  and {more} more {things}: --format json has them all"),
    }
}

fn write_not_exercised(
    out: &mut dyn Write,
    exercised: &Exercised,
    rules: &[Rule],
    all: bool,
) -> io::Result<()> {
    if exercised.is_empty() {
        return Ok(());
    }
    if !exercised.left_out.is_empty() {
        let rules = exercised.left_out.iter().map(|rule| format!("rule {} ({})", rule.number(), rule.name()));
        writeln!(out, "  left out      {}", rules.collect::<Vec<_>>().join(", "))?;
    }
    let never = exercised.not_exercised(rules);
    let most = if all { never.len() } else { MOST_NEVER_DUE };
    let named = never.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    match never.len().saturating_sub(most) {
        _ if never.is_empty() => writeln!(out, "  not exercised nothing"),
        0 => writeln!(out, "  not exercised {named}"),
        more => writeln!(out, "  not exercised {named}, and {more} more (-v lists them)"),
    }
}

/// What to type next.
fn next(report: &Report) -> String {
    let show = |place: PathBuf| format!("equiform show {}", here(&place).display());
    let found =
        |wanted: fn(&VariantVerdict) -> bool| variants(report, wanted).next().map(|(place, _)| show(place));
    found(|variant| matches!(variant.result, VariantResult::Fail { .. }))
        .or_else(|| found(|variant| matches!(variant.result, VariantResult::Inconclusive { .. })))
        .or_else(|| found(|variant| !variant.warm_only.is_empty()))
        .or_else(|| found(|variant| matches!(variant.result, VariantResult::Known { .. })))
        .unwrap_or_else(|| match &report.settings {
            Some(settings) => format!("other programs: --seed {}", settings.seed.wrapping_add(1)),
            None => "nothing to look at".to_owned(),
        })
}

/// The variants of a kind, with their folders.
fn variants(
    report: &Report,
    wanted: impl Fn(&VariantVerdict) -> bool + Copy,
) -> impl Iterator<Item = (PathBuf, &VariantVerdict)> {
    report.cases.iter().flat_map(move |(folder, verdict)| {
        let found = verdict.variants.iter().filter(move |variant| wanted(variant));
        found.map(|variant| (variant_folder(folder, variant.variant), variant))
    })
}

/// The variants of a kind by what caused it: a known bug by its name, anything else by its signature.
fn groups(report: &Report, wanted: impl Fn(&VariantVerdict) -> bool + Copy) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (place, variant) in variants(report, wanted) {
        let Some(cause) = Cause::among(variant.result.findings()) else { continue };
        let finding = cause.finding;
        let name = finding.known.clone().unwrap_or_else(|| finding.signature().to_string());
        groups.entry(name).or_insert(Group { variants: 0, example: place }).variants += 1;
    }
    groups
}

/// The variants that could not be judged, by the reason.
fn reasons(report: &Report) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (place, variant) in variants(report, |_| true) {
        if let VariantResult::Inconclusive { reason } = &variant.result {
            groups.entry(reason.clone()).or_insert(Group { variants: 0, example: place }).variants += 1;
        }
    }
    groups
}

/// What was exercised, and where the time went.
fn write_details(out: &mut dyn Write, report: &Report, exercised: &Exercised) -> io::Result<()> {
    writeln!(out)?;
    if let Some(spent) = &report.spent {
        writeln!(out, "  time          {spent}")?;
    }
    if !report.stages.is_empty() {
        let stage = |(stage, time): (&String, &StageTime)| {
            format!("{} {stage} of {:.0} ms", time.commands, time.mean().as_secs_f64() * 1000.0)
        };
        let stages: Vec<String> = report.stages.iter().map(stage).collect();
        writeln!(out, "  stages        {}", stages.join(", "))?;
    }
    if let Some(workers) = &report.workers {
        writeln!(out, "  kept warm     {workers}")?;
    }
    exercised_text::write(out, exercised, report.rules())
}

#[cfg(test)]
mod tests;
