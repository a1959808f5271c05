//! Verdicts on disk. A variant's verdict lies beside its evidence and is written as soon as the variant is
//! judged; what comes of a case is read from its variants, so there is nothing that could contradict them.
//!
//! Verdicts are not believed blindly: each has the digests of what it was judged from, and they are compared
//! when it is read.

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
pub const VERDICT_VERSION: u32 = 4;

/// By whom and by what verdicts are judged.
#[derive(Clone, Copy)]
pub struct JudgeContext<'a> {
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
    pub differences: Vec<String>,
    /// The number of variants whose evidence was removed on purpose: the stored verdict was taken.
    pub not_judged_again: usize,
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

/// Why the evidence of a variant says nothing about the engine any more; none if it is what its verdict was judged
/// from, if there is no verdict, or if the verdict has findings, which are kept.
pub fn worthless(case: &Path, variant: usize) -> Option<String> {
    let document = document(&variant_folder(case, variant), variant).ok()??;
    let is_kept = matches!(document.verdict.result, VariantResult::Fail { .. });
    damage(case, &document).filter(|_| !is_kept)
}

/// The variants of a case that have no verdict, be it one that can be used or not.
pub fn missing(case: &Path, variants: usize) -> Vec<usize> {
    let has_one = |variant: &usize| variant_folder(case, *variant).join(VERDICT_FILE).exists();
    (0..variants).filter(|variant| !has_one(variant)).collect()
}

/// The stored verdicts on the variants of a case that is to be `due`, by what is known now: fewer than it has
/// variants if not all were judged. Where a verdict, its evidence or the case is not what it was, the variant
/// is inconclusive.
pub fn read(number: usize, folder: &Path, due: &Case, context: &JudgeContext<'_>) -> CaseVerdict {
    let mut stored: Vec<VariantVerdict> = Vec::new();
    for variant in 0..due.variants.len() {
        let place = variant_folder(folder, variant);
        let again = || format!("; remove {} to run it again", place.display());
        let mut verdict = match document(&place, variant) {
            Ok(None) => continue,
            Err(why) => inconclusive(variant, why + &again()),
            Ok(Some(document)) => match damage(folder, &document) {
                Some(why) => document.verdict.with_damage(why + &again()),
                None => document.verdict,
            },
        };
        judge::mark_known(context.known, context.engine, due, &mut verdict);
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
/// stored verdict was judged from, whatever it shows now says nothing about the engine: what was found before is kept,
/// and anything else is inconclusive. Where it was removed on purpose, the stored verdict is taken. Whatever else
/// differs is reported.
pub fn hold_against(folder: &Path, verdict: &mut CaseVerdict, oracles: &[&Oracle]) -> Comparison {
    let asked = |oracle: &str| oracles.iter().any(|asked| asked.name() == oracle);
    let Comparison { mut differences, mut not_judged_again } = Comparison::default();
    for judged in &mut verdict.variants {
        let place = variant_folder(folder, judged.variant);
        let stored = match document(&place, judged.variant) {
            Ok(Some(document)) => {
                if document.has_no_evidence() {
                    *judged = document.verdict.clone();
                    not_judged_again += 1;
                }
                if let Some(why) = damage(folder, &document) {
                    *judged = document.verdict.clone().with_damage(why);
                }
                document.verdict.result
            }
            Ok(None) => continue,
            Err(why) => {
                differences.push(why);
                continue;
            }
        };
        let (before, now) = (said(&stored, &asked), said(&judged.result, &asked));
        if before != now {
            let place = place.display();
            differences.push(format!("{place}: the stored verdict is {before}, and the evidence says {now}"));
        }
    }
    Comparison { differences, not_judged_again }
}

/// A result in a few words, without what is known: that may change.
fn said(result: &VariantResult, asked: &dyn Fn(&str) -> bool) -> String {
    if let VariantResult::Inconclusive { .. } = result {
        return "inconclusive".to_owned();
    }
    let mut found: Vec<String> = result
        .findings()
        .iter()
        .filter(|finding| asked(finding.oracle().name()))
        .map(|finding| format!("{} in {}", finding.signature(), finding.stage))
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

/// Checks that the case in a folder is the one that is due there.
fn is_due(folder: &Path, due: &Case) -> Result<(), String> {
    let path = folder.join(CASE_FILE);
    let there = Case::read(&path).map_err(|error| error.to_string())?;
    if there.generated() == due.generated() {
        return Ok(());
    }
    Err(format!("{} is not the case that the campaign's settings generate", path.display()))
}

/// The verdict on a variant, if there is one.
fn document(folder: &Path, variant: usize) -> Result<Option<Document>, String> {
    let path = folder.join(VERDICT_FILE);
    let name = path.display();
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("{name} cannot be read: {error}")),
    };
    let not_one = |error: serde_json::Error| format!("{name} is not a verdict: {error}");
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(not_one)?;
    match value["version"].as_u64() {
        None => Err(format!("{name} is not a verdict: it has no version")),
        Some(found) if found != u64::from(VERDICT_VERSION) => Err(format!(
            "{name} has version {found}, and this program reads version {VERDICT_VERSION}: use the equiform that \
             wrote it"
        )),
        Some(_) => {
            let document: Document = serde_json::from_value(value).map_err(not_one)?;
            match document.verdict.variant {
                found if found != variant => Err(format!("{name} is the verdict on variant {found}")),
                _ => Ok(Some(document)),
            }
        }
    }
}
