//! Judging from evidence alone: no engine, no generator.

use std::path::{Path, PathBuf};

use super::claim::Claim;
use super::known::KnownFindings;
use super::verdict::{CaseVerdict, Result as TrialResult, VariantVerdict};
use crate::case::{Batch, CASE_FILE, Case, CaseError};
use crate::coverage::{Exercised, OPERATIONS_COMPARED};
use crate::deploy::evidence::{Evidence, STAGES, Stage, StageRecord, Unreadable};
use crate::oracle::{Finding, Oracle, Trial, expected};

/// The folder of a second deployment's evidence, in the variant's.
pub const AGAIN: &str = "again";

/// The folder of a variant's evidence.
pub fn variant_folder(case: &Path, variant: usize) -> PathBuf {
    case.join(format!("variant-{variant:04}"))
}

/// The case folders that a folder stands for: itself, or those in it, sorted.
pub fn case_folders(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if folder.join(CASE_FILE).exists() {
        return Ok(vec![folder.to_owned()]);
    }
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.join(CASE_FILE).exists() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// Judges all variants of the case in a folder. Nothing is known: see [`sort_out`].
pub fn case(number: usize, folder: &Path, oracles: &[&Oracle]) -> Result<CaseVerdict, CaseError> {
    let case = Case::read(&folder.join(CASE_FILE))?;
    Ok(stored_case(number, &case, folder, oracles))
}

/// Judges all variants of a case by the evidence in a folder.
pub fn stored_case(number: usize, case: &Case, folder: &Path, oracles: &[&Oracle]) -> CaseVerdict {
    let judged = |number| verdict(case, number, &variant_folder(folder, number), oracles);
    CaseVerdict { case: number, variants: (0..case.variants.len()).map(judged).collect() }
}

/// How many stages of a variant were not reached, because one before them failed.
fn not_reached(case: &Case, variant: usize, folder: &Path) -> usize {
    let records = std::fs::read(folder.join(STAGES)).ok();
    let records: Option<Vec<StageRecord>> = records.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let stages = case.batches(variant).map(|batches| Stage::all(batches.len()).count()).ok();
    // Where there is no record, or one that cannot be read, it is not known which stages were reached.
    stages.zip(records).map_or(0, |(stages, records)| stages.saturating_sub(records.len()))
}

/// Marks a new finding by what a second deployment left, if there was one.
pub fn mark_again(case: &Case, verdict: &mut VariantVerdict, folder: &Path, oracles: &[&Oracle]) {
    let second = folder.join(AGAIN);
    if matches!(verdict.result, TrialResult::Fail { .. }) && second.join(STAGES).exists() {
        verdict.again = verdict.result.came_again(&variant(case, verdict.variant, &second, oracles));
    }
}

/// The engine that the case in a folder was run on: the case says so, or the campaign that it lies in.
pub fn engine(folder: &Path, case: &Case) -> Option<String> {
    let of_campaign = || Some(Claim::read(folder.parent()?).ok()??.engine().to_owned());
    case.engine.clone().or_else(of_campaign)
}

/// Tells known findings from new ones, by what is known now.
pub fn sort_out(known: &KnownFindings, engine: &str, case: &Case, verdict: &mut VariantVerdict) {
    let findings = match &mut verdict.result {
        TrialResult::Fail { findings } | TrialResult::Known { findings } => std::mem::take(findings),
        TrialResult::Pass | TrialResult::Inconclusive { .. } => return,
    };
    let mut findings = findings;
    if let Ok(batches) = case.batches(verdict.variant) {
        let compared = verdict.exercised.checks.contains_key(OPERATIONS_COMPARED);
        known.mark(engine, &batches, compared, &mut findings);
    }
    let broken = findings.iter().position(Finding::is_broken_evidence);
    verdict.result = match broken {
        // All that was found is known, and the rest could not be judged.
        Some(place) if findings.iter().filter(|finding| finding.known.is_none()).count() == 1 => {
            TrialResult::Inconclusive { reason: findings.swap_remove(place).text }
        }
        _ => TrialResult::of(findings),
    };
}

/// Judges a variant by the evidence in its folder.
pub fn variant(case: &Case, variant: usize, folder: &Path, oracles: &[&Oracle]) -> TrialResult {
    verdict(case, variant, folder, oracles).result
}

/// Judges a variant by the evidence in its folder, and counts what it exercised.
pub fn verdict(case: &Case, variant: usize, folder: &Path, oracles: &[&Oracle]) -> VariantVerdict {
    let mut exercised = Exercised { left_out: case.left_out.clone(), ..Exercised::default() };
    let result = match case.batches(variant) {
        Err(error) => TrialResult::Inconclusive { reason: error.to_string() },
        Ok(batches) if batches.last().is_none_or(|batch| batch.deployment.graph() != case.source) => {
            let reason = format!("variant {variant} does not end in the source's graph: the case was edited");
            TrialResult::Inconclusive { reason }
        }
        Ok(batches) => {
            let mut found = Vec::new();
            match judge_stages(case, &batches, folder, oracles, &mut exercised, &mut found) {
                Ok(()) => {}
                Err(error) if found.is_empty() => {
                    let result = TrialResult::Inconclusive { reason: error.to_string() };
                    return VariantVerdict { exercised, ..VariantVerdict::new(variant, result) };
                }
                // What was found up to there stays, and that nobody could judge the rest is told with it.
                Err(error) => {
                    let stage = found.last().map(|finding| finding.stage.clone()).unwrap_or_default();
                    found.push(Finding::broken_evidence(stage, error.to_string()));
                }
            }
            TrialResult::of(found)
        }
    };
    let not_reached = not_reached(case, variant, folder);
    VariantVerdict { exercised, not_reached, ..VariantVerdict::new(variant, result) }
}

/// Asks the oracles about one stage after the other.
fn judge_stages(
    case: &Case,
    batches: &[Batch],
    folder: &Path,
    oracles: &[&Oracle],
    exercised: &mut Exercised,
    found: &mut Vec<Finding>,
) -> Result<(), Unreadable> {
    let mut evidence = Evidence::open(folder, batches.len())?;
    while let Some((stage, world)) = evidence.next_stage()? {
        let expectation = &expected(batches, stage.stage, &case.left_out);
        let trial = Trial { source: &case.source, batches, expectation, stage: &stage, world };
        found.extend(oracles.iter().flat_map(|oracle| oracle.judge(&trial)));
        exercised.count(&trial, oracles);
    }
    Ok(())
}
