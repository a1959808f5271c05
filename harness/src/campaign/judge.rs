//! Judging from evidence alone: no engine, no generator.

use std::path::{Path, PathBuf};

use super::verdict::{CaseVerdict, Result as TrialResult, VariantVerdict};
use crate::case::{Batch, CASE_FILE, CASE_VERSION, Case, CaseError};
use crate::deploy::evidence::{Evidence, Unreadable};
use crate::oracle::{Finding, Oracle, Trial, expected};

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

/// Judges all variants of the case in a folder.
pub fn case(number: usize, folder: &Path, oracles: &[&Oracle]) -> Result<CaseVerdict, CaseError> {
    let case = Case::read(&folder.join(CASE_FILE))?;
    let judged = |number| {
        let result = variant(&case, number, &variant_folder(folder, number), oracles);
        VariantVerdict { variant: number, result }
    };
    let variants = (0..case.variants.len()).map(judged).collect();
    Ok(CaseVerdict { version: CASE_VERSION, case: number, variants })
}

/// Judges a variant by the evidence in its folder.
pub fn variant(case: &Case, variant: usize, folder: &Path, oracles: &[&Oracle]) -> TrialResult {
    let batches = match case.batches(variant) {
        Ok(batches) => batches,
        Err(error) => return TrialResult::Inconclusive { reason: error.to_string() },
    };
    match findings(case, &batches, folder, oracles) {
        Ok(findings) if findings.is_empty() => TrialResult::Pass,
        Ok(findings) => TrialResult::Fail { findings },
        Err(error) => TrialResult::Inconclusive { reason: error.to_string() },
    }
}

/// Asks the oracles about one stage after the other. Evidence that cannot be read to its end proves nothing, so what was
/// found up to there is dropped.
fn findings(
    case: &Case,
    batches: &[Batch],
    folder: &Path,
    oracles: &[&Oracle],
) -> Result<Vec<Finding>, Unreadable> {
    let mut evidence = Evidence::open(folder, batches.len())?;
    let mut findings = Vec::new();
    while let Some((stage, world)) = evidence.next_stage()? {
        let expectation = &expected(batches, stage.stage);
        let trial = Trial { source: &case.source, batches, expectation, stage: &stage, world };
        findings.extend(oracles.iter().flat_map(|oracle| oracle.judge(&trial)));
    }
    Ok(findings)
}
