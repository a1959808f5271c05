//! The page of a campaign.

use std::collections::BTreeMap;
use std::path::Path;

use super::detail::Detail;
use super::overview::{Overview, Row};
use super::page::{Kind, Page, PageError, as_data};
use super::reduced::{self, Reduction};
use crate::campaign::report::Report;
use crate::campaign::stored;
use crate::campaign::timing::Timing;
use crate::case::{CASE_FILE, Case};
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use crate::judge::variant::{self as judge, variant_folder};
use crate::judge::verdict::{VariantResult, VariantVerdict};

/// The most bytes that a page has about single variants: browsers open that at once.
const ENOUGH: u64 = 14 << 20;

/// How many variants that passed are shown, as examples.
const EXAMPLES: usize = 3;

/// What a campaign's page is made of.
pub struct CampaignSource<'a> {
    /// What came of it.
    pub report: &'a Report,
    /// The campaign's folder.
    pub folder: &'a Path,
    /// The oracles that were asked.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// How long it took.
    pub timing: &'a Timing,
}

/// A variant that a page can show: which of its kind it is, and its place in the report and among the rows.
struct Candidate {
    /// Failures come first, and examples of passes last.
    rank: u8,
    /// Which one with the same signature it is.
    nth: usize,
    case: usize,
    variant: usize,
    row: usize,
}

/// Writes the page, and gives its length in bytes.
pub fn write(source: &CampaignSource<'_>, path: &Path, private: bool) -> Result<u64, PageError> {
    let title = match &source.report.engine {
        Some(engine) => format!("equiform: {engine}"),
        None => "equiform".to_owned(),
    };
    let mut page = Page::begin(path, private, Kind::Campaign, &title)?;
    let mut overview = Overview::of(source);
    let (reductions, mut notes) = reduced::read(source.folder);
    let reductions = write_reduced(source, reductions, &mut notes, &mut page)?;
    let mut left_out = 0;
    for candidate in candidates(source, overview.rows()) {
        let (folder, verdict) = &source.report.cases[candidate.case];
        let variant = &verdict.variants[candidate.variant];
        let row = &mut overview.rows()[candidate.row];
        if stored::is_removed(folder, variant.variant) {
            row.not_shown = Some('r');
            continue;
        }
        if page.bytes() >= ENOUGH {
            row.not_shown = Some('l');
            left_out += 1;
            continue;
        }
        let Ok(case) = Case::read(&folder.join(CASE_FILE)) else { continue };
        if variant.variant >= case.variants.len() {
            continue;
        }
        let place = variant_folder(folder, variant.variant);
        let detail = Detail::read(&case, variant, verdict.case, &place, source.oracles);
        page.block(&format!("case-{:04}/variant-{:04}", verdict.case, variant.variant), &detail)?;
        row.not_shown = None;
    }
    if left_out > 0 {
        notes.push(format!(
            "{left_out} variants that did not pass are rows only, so that this page stays small: `equiform show` shows \
             each of them"
        ));
    }
    overview.add_reduced(reductions, notes);
    page.raw_block("overview", &as_data(&overview))?;
    page.finish()
}

/// The variants that are worth showing: those that did not pass, first one of each signature, then the others; and a
/// few that passed, each by another workflow.
fn candidates(source: &CampaignSource<'_>, rows: &[Row]) -> Vec<Candidate> {
    let places = source.report.cases.iter().enumerate().flat_map(|(case, (_, verdict))| {
        (0..verdict.variants.len()).map(move |variant| (case, variant, verdict.case))
    });
    let places: BTreeMap<(usize, usize), (usize, usize)> = places
        .map(|(case, variant, number)| {
            ((number, source.report.cases[case].1.variants[variant].variant), (case, variant))
        })
        .collect();
    let mut seen: BTreeMap<(char, Vec<usize>), usize> = BTreeMap::new();
    let mut passed: Vec<&str> = Vec::new();
    let mut all: Vec<Candidate> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let Some(&(case, variant)) = places.get(&(row.case, row.variant)) else { continue };
        let (folder, verdict) = &source.report.cases[case];
        let verdict = &verdict.variants[variant];
        let rank = match &verdict.result {
            VariantResult::Fail { .. } => 0,
            VariantResult::Inconclusive { .. } => 1,
            VariantResult::Known { .. } => 2,
            VariantResult::Pass if !verdict.warm_only.is_empty() => 3,
            VariantResult::Pass => {
                let workflow =
                    verdict.exercised.workflows.keys().next().map(String::as_str).unwrap_or_default();
                let is_new = !passed.contains(&workflow) && passed.len() < EXAMPLES;
                if !is_new || stored::is_removed(folder, verdict.variant) {
                    continue;
                }
                passed.push(workflow);
                4
            }
        };
        let nth = seen.entry((row.result, row.signatures.clone())).or_default();
        *nth += 1;
        all.push(Candidate { rank, nth: *nth, case, variant, row: place });
    }
    all.sort_by_key(|candidate| (candidate.rank == 4, candidate.nth.min(3), candidate.rank, candidate.nth));
    // Examples come before what is only more of the same.
    let examples = all.iter().position(|candidate| candidate.rank == 4).unwrap_or(all.len());
    let more = all.iter().position(|candidate| candidate.nth > 2).unwrap_or(all.len()).min(examples);
    all[more..].rotate_left(examples - more);
    all
}

/// Adds the reduced cases to a page.
fn write_reduced(
    source: &CampaignSource<'_>,
    reductions: Vec<(std::path::PathBuf, Reduction)>,
    notes: &mut Vec<String>,
    page: &mut Page,
) -> Result<Vec<Reduction>, PageError> {
    let mut shown = Vec::new();
    for (folder, mut reduction) in reductions {
        let place = variant_folder(&folder, 0);
        match Case::read(&folder.join(CASE_FILE)) {
            Ok(case) if place.exists() => {
                let verdict = judged(source, &case, &folder);
                let detail = Detail::read(&case, &verdict, 0, &place, source.oracles);
                page.block(&format!("reduced/{}", reduction.name()), &detail)?;
                reduction.shown = true;
            }
            Ok(_) => {}
            Err(error) => notes.push(error.to_string()),
        }
        shown.push(reduction);
    }
    Ok(shown)
}

fn judged(source: &CampaignSource<'_>, case: &Case, folder: &Path) -> VariantVerdict {
    let mut verdict = judge::verdict(case, 0, &variant_folder(folder, 0), source.oracles);
    if let Some(engine) = &case.engine {
        judge::mark_known(source.known, &engine.id, case, &mut verdict);
    }
    verdict
}
