//! Verdicts on disk. A variant's verdict lies beside its evidence and is written as soon as the variant is
//! judged; what comes of a case is read from its variants, so there is nothing that could contradict them.
//!
//! Verdicts are not believed blindly: each has the digests of what it was judged from, and they are compared
//! when it is read. Versions 1 and 2 were one file for a case, without digests: its variants are judged
//! again.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::digest::{self, Digests};
use crate::case::{CASE_FILE, Case};
use crate::engine_id::EngineId;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use crate::judge::variant::{self as judge, variant_folder};
use crate::judge::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use crate::private;
use crate::util::files::write_json;

/// The name of a verdict's file in its variant's folder.
pub const VERDICT_FILE: &str = "verdict.json";

/// The version of the file that this program writes.
pub const VERDICT_VERSION: u32 = 3;

/// The last version that was a file for a whole case.
const LAST_OF_CASES: u32 = 2;

/// By whom and by what verdicts are judged.
#[derive(Clone, Copy)]
pub struct Bench<'a> {
    /// The oracles.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// The engine.
    pub engine: &'a EngineId,
}

#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    #[serde(flatten)]
    verdict: VariantVerdict,
    /// What it was judged from.
    evidence: Digests,
    /// Whether the evidence was removed on purpose, as the variant passed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    evidence_removed: bool,
}

impl Document {
    /// Whether the evidence was removed on purpose. That is done for variants that passed, and believed of no other.
    fn has_no_evidence(&self) -> bool {
        self.evidence_removed && self.verdict.result == VariantResult::Pass
    }
}

/// What came of holding verdicts against those that are stored.
#[derive(Debug, Default)]
pub struct Comparison {
    /// What differs, a line each.
    pub told: Vec<String>,
    /// The number of variants whose evidence was removed on purpose: the stored verdict was taken.
    pub not_judged_again: usize,
}

#[derive(Deserialize)]
struct OfCase {
    variants: Vec<VariantVerdict>,
}

/// Puts the verdict into its variant's folder, whole or not at all.
pub fn write(case: &Path, verdict: &VariantVerdict) -> io::Result<()> {
    let folder = variant_folder(case, verdict.variant);
    // There is none if the variant is ill-formed.
    private::create_folder(&folder)?;
    let evidence = digest::of_evidence(case, verdict.variant, verdict.again.is_some())?;
    let document =
        Document { version: VERDICT_VERSION, verdict: verdict.clone(), evidence, evidence_removed: false };
    write_json(&folder.join(VERDICT_FILE), &document)
}

/// Has the verdict on a variant say that its evidence is removed on purpose. Gives whether there is anything to remove:
/// there is not if it says so already, or if the evidence is not what it was judged from.
pub fn mark_removed(case: &Path, variant: usize) -> io::Result<bool> {
    let folder = variant_folder(case, variant);
    let Some(document) = document(&folder, variant).map_err(io::Error::other)? else { return Ok(false) };
    if document.evidence_removed || damage(case, &document).is_some() {
        return Ok(false);
    }
    write_json(&folder.join(VERDICT_FILE), &Document { evidence_removed: true, ..document })?;
    Ok(true)
}

/// Whether the evidence of a variant that passed was removed on purpose.
pub fn is_removed(case: &Path, variant: usize) -> bool {
    let stored = document(&variant_folder(case, variant), variant);
    stored.is_ok_and(|document| document.is_some_and(|document| document.has_no_evidence()))
}

/// The variants of a case that have no verdict, be it one that can be used or not.
pub fn missing(case: &Path, variants: usize) -> Vec<usize> {
    let older = of_case(case, variants);
    let in_older = |variant: &usize| older.as_ref().map_or(true, |older| older.contains_key(variant));
    let has_own = |variant: &usize| variant_folder(case, *variant).join(VERDICT_FILE).exists();
    (0..variants).filter(|variant| !has_own(variant) && !in_older(variant)).collect()
}

/// The stored verdicts on the variants of a case that is to be `due`, by what is known now: fewer than it has
/// variants if not all were judged. Where a verdict, its evidence or the case is not what it was, the variant
/// is inconclusive.
pub fn read(number: usize, folder: &Path, due: &Case, bench: &Bench<'_>) -> CaseVerdict {
    let mut stored: Vec<VariantVerdict> = Vec::new();
    let older = of_case(folder, due.variants.len());
    for variant in 0..due.variants.len() {
        let place = variant_folder(folder, variant);
        let again = || format!("; remove {} to run it again", place.display());
        let mut verdict = match (document(&place, variant), &older) {
            (Err(why), _) => inconclusive(variant, why + &again()),
            (Ok(Some(document)), _) => match damage(folder, &document) {
                Some(why) => document.verdict.with_damage(why + &again()),
                None => document.verdict,
            },
            (Ok(None), Err(why)) => {
                inconclusive(variant, format!("{why}; remove {} to run it again", folder.display()))
            }
            (Ok(None), Ok(older)) => match older.get(&variant) {
                Some(verdict) => judged_again(due, &place, verdict, bench),
                None => continue,
            },
        };
        judge::sort_out(bench.known, bench.engine, due, &mut verdict);
        stored.push(verdict);
    }
    if !stored.is_empty()
        && let Err(why) = is_due(folder, due)
    {
        let why = format!("{why}; remove {} to run it again", folder.display());
        let mut all: BTreeMap<usize, VariantVerdict> =
            (0..due.variants.len()).map(|variant| (variant, inconclusive(variant, why.clone()))).collect();
        all.extend(stored.into_iter().map(|verdict| (verdict.variant, verdict.with_damage(why.clone()))));
        stored = all.into_values().collect();
    }
    CaseVerdict { case: number, variants: stored }
}

/// Holds verdicts that were just judged from evidence against those that are stored. Where the evidence is not what the
/// stored verdict was judged from, the variant is inconclusive; where it was removed on purpose, the stored verdict is
/// taken; whatever else differs is told.
pub fn hold_against(folder: &Path, verdict: &mut CaseVerdict, oracles: &[&Oracle]) -> Comparison {
    let asked = |oracle: &str| oracles.iter().any(|asked| asked.name == oracle);
    let Comparison { mut told, mut not_judged_again } = Comparison::default();
    let older = of_case(folder, verdict.variants.len()).unwrap_or_else(|why| {
        told.push(why);
        BTreeMap::new()
    });
    for judged in &mut verdict.variants {
        let place = variant_folder(folder, judged.variant);
        let stored = match document(&place, judged.variant) {
            Ok(Some(document)) => {
                if document.has_no_evidence() {
                    *judged = document.verdict.clone();
                    not_judged_again += 1;
                }
                if let Some(why) = damage(folder, &document) {
                    *judged = judged.clone().with_damage(why);
                }
                document.verdict.result
            }
            Ok(None) => match older.get(&judged.variant) {
                Some(older) => older.result.clone(),
                None => continue,
            },
            Err(why) => {
                told.push(why);
                continue;
            }
        };
        let (before, now) = (said(&stored, &asked), said(&judged.result, &asked));
        if before != now {
            let place = place.display();
            told.push(format!("{place}: the stored verdict is {before}, and the evidence says {now}"));
        }
    }
    Comparison { told, not_judged_again }
}

/// A result in a few words, without what is known: that may change.
fn said(result: &VariantResult, asked: &dyn Fn(&str) -> bool) -> String {
    if let VariantResult::Inconclusive { .. } = result {
        return "inconclusive".to_owned();
    }
    let mut found: Vec<String> = result
        .findings()
        .iter()
        .filter(|finding| asked(&finding.oracle))
        .map(|finding| format!("{}: {} in {}", finding.oracle, finding.kind, finding.stage))
        .collect();
    found.sort_unstable();
    found.dedup();
    if found.is_empty() { "pass".to_owned() } else { found.join(", ") }
}

fn inconclusive(variant: usize, reason: String) -> VariantVerdict {
    VariantVerdict::new(variant, VariantResult::Inconclusive { reason })
}

/// What differs from what a verdict was judged from; none if nothing does. Where evidence was removed on purpose, what
/// is left must be what it was.
fn damage(case: &Path, document: &Document) -> Option<String> {
    let VariantVerdict { variant, again, .. } = document.verdict;
    match digest::of_evidence(case, variant, again.is_some()) {
        Ok(now) => {
            let mut files = digest::differing(&document.evidence, &now);
            if document.has_no_evidence() {
                files.retain(|file| now.contains_key(file));
            }
            (!files.is_empty()).then(|| format!("changed since it was judged: {}", files.join(", ")))
        }
        Err(error) => Some(format!("the evidence cannot be read: {error}")),
    }
}

/// A verdict of a version without digests, which is judged again.
fn judged_again(due: &Case, place: &Path, older: &VariantVerdict, bench: &Bench<'_>) -> VariantVerdict {
    let anew = judge::verdict(due, older.variant, place, bench.oracles);
    match &anew.result {
        VariantResult::Inconclusive { reason } => {
            older.clone().with_damage(format!("{reason}; remove {} to run it again", place.display()))
        }
        _ => anew,
    }
}

/// Checks that the case in a folder is the one that is due there.
fn is_due(folder: &Path, due: &Case) -> Result<(), String> {
    let path = folder.join(CASE_FILE);
    let there = Case::read(&path).map_err(|error| error.to_string())?;
    if there.generated() == due.generated() {
        return Ok(());
    }
    Err(format!("{} is not the case that the campaign's settings generate", path.display()))
}

/// The file of a variant, if there is one.
fn document(folder: &Path, variant: usize) -> Result<Option<Document>, String> {
    let path = folder.join(VERDICT_FILE);
    let name = path.display();
    let Some(value) = versioned(&path)? else { return Ok(None) };
    let document: Document =
        serde_json::from_value(value).map_err(|error| format!("{name} is not a verdict: {error}"))?;
    match document.verdict.variant {
        found if found != variant => Err(format!("{name} is the verdict on variant {found}")),
        _ => Ok(Some(document)),
    }
}

/// The verdicts in the file of a case, by variant; none if there is no such file.
fn of_case(folder: &Path, variants: usize) -> Result<BTreeMap<usize, VariantVerdict>, String> {
    let path = folder.join(VERDICT_FILE);
    let name = path.display();
    let Some(value) = versioned(&path)? else { return Ok(BTreeMap::new()) };
    if value["version"].as_u64() > Some(u64::from(LAST_OF_CASES)) {
        return Err(format!("{name} is a variant's verdict in the place of a case's"));
    }
    let of_case: OfCase =
        serde_json::from_value(value).map_err(|error| format!("{name} is not a verdict: {error}"))?;
    let mut verdicts = BTreeMap::new();
    for verdict in of_case.variants {
        let variant = verdict.variant;
        if variant >= variants {
            return Err(format!("{name} has a verdict on variant {variant}, and the case has {variants}"));
        }
        if verdicts.insert(variant, verdict).is_some() {
            return Err(format!("{name} has two verdicts on variant {variant}"));
        }
    }
    Ok(verdicts)
}

/// A verdict's file of any version that this program reads, if it is there.
fn versioned(path: &Path) -> Result<Option<serde_json::Value>, String> {
    let name = path.display();
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{name} cannot be read: {error}")),
    };
    let value: serde_json::Value =
        serde_json::from_slice(&bytes).map_err(|error| format!("{name} is not a verdict: {error}"))?;
    match value["version"].as_u64() {
        None => Err(format!("{name} is not a verdict: it has no version")),
        Some(found) if found > u64::from(VERDICT_VERSION) => Err(format!(
            "{name} has version {found}, and this program reads versions up to {VERDICT_VERSION}: use a newer \
             equiform"
        )),
        Some(_) => Ok(Some(value)),
    }
}
