//! The page of a comparison: engines beside each other, variant by variant.

use std::path::Path;

use serde::Serialize;

use super::clip::{MOST, short};
use super::page::{FILE, Kind, Page, PageError};
use crate::campaign::comparison::{Comparison, EngineCampaign};
use crate::campaign::{Settings, case_folder};
use crate::case::{CASE_FILE, Case};
use crate::engine_id::RecordedEngine;
use crate::judge::finding::OracleId;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::ORACLES;
use crate::judge::verdict::{VariantResult, VariantVerdict};

#[derive(Serialize)]
struct Data<'a> {
    version: u32,
    equiform: &'static str,
    folder: String,
    seed: String,
    engines: Vec<EngineColumn>,
    oracles: Vec<&'static str>,
    rows: Vec<Row>,
    /// Why it is not whole.
    stopped: Option<&'a str>,
    compared: usize,
    known: Vec<(String, String, String)>,
}

#[derive(Serialize)]
struct EngineColumn {
    title: String,
    /// The page of its campaign, as a link from this one; none if there is none.
    page: Option<String>,
    /// For each oracle: variants with new findings, variants with known ones.
    oracles: Vec<(usize, usize)>,
}

#[derive(Serialize)]
struct Row {
    case: usize,
    variant: usize,
    workflow: String,
    /// A verdict for each engine, and a blank if there is none.
    results: String,
    difference: Option<Differing>,
}

#[derive(Serialize)]
struct Differing {
    stage: String,
    groups: Vec<(String, Vec<usize>)>,
    first_in: Vec<String>,
    known: Vec<String>,
}

fn letter(verdict: &VariantVerdict) -> char {
    match verdict.result {
        VariantResult::Pass => 'p',
        VariantResult::Fail { .. } => 'f',
        VariantResult::Known { .. } => 'k',
        VariantResult::Inconclusive { .. } => 'i',
    }
}

/// What a comparison's page is made of.
pub struct ComparisonSource<'a> {
    /// The folder of all campaigns.
    pub folder: &'a Path,
    /// What was generated.
    pub settings: &'a Settings,
    /// The campaigns, in ascending order of the engines' versions.
    pub campaigns: &'a [EngineCampaign],
    /// Where they differ; none if it was not compared.
    pub comparison: Option<&'a Comparison>,
    /// What is known.
    pub known: &'a KnownFindings,
    /// Why it is not whole.
    pub stopped: Option<&'a str>,
}

/// Writes the page, and gives its length in bytes.
pub fn write(source: &ComparisonSource<'_>, path: &Path, private: bool) -> Result<u64, PageError> {
    let mut page = Page::begin(path, private, Kind::Comparison, "equiform: engines compared")?;
    page.block("overview", &data(source, path))?;
    page.finish()
}

fn data<'a>(source: &ComparisonSource<'a>, path: &Path) -> Data<'a> {
    let campaigns = source.campaigns;
    let find = |campaign: &'a EngineCampaign, case: usize, variant: usize| {
        let verdict = campaign.verdicts.iter().find(|verdict| verdict.case == case)?;
        verdict.variants.iter().find(|verdict| verdict.variant == variant)
    };
    let mut rows = Vec::new();
    let mut names = std::collections::BTreeSet::new();
    for case in 0..source.settings.sources {
        let read =
            |campaign: &EngineCampaign| Case::read(&case_folder(&campaign.folder, case).join(CASE_FILE)).ok();
        let Some(stored) = campaigns.iter().find_map(read) else { continue };
        for (variant, of_case) in stored.variants.iter().enumerate() {
            let verdicts: Vec<_> = campaigns.iter().map(|campaign| find(campaign, case, variant)).collect();
            let findings = verdicts.iter().flatten().flat_map(|verdict| verdict.result.findings());
            names.extend(findings.filter_map(|finding| finding.known.clone()));
            rows.push(Row {
                case,
                variant,
                workflow: of_case.workflow.clone(),
                results: verdicts.iter().map(|verdict| verdict.map_or(' ', letter)).collect(),
                difference: differing(source, case, variant),
            });
        }
    }
    Data {
        version: 1,
        equiform: env!("CARGO_PKG_VERSION"),
        folder: source.folder.display().to_string(),
        seed: source.settings.seed.to_string(),
        engines: campaigns.iter().map(|campaign| column(campaign, source.folder, path)).collect(),
        oracles: ORACLES.iter().map(|oracle| oracle.name()).collect(),
        rows,
        stopped: source.stopped,
        compared: source.comparison.map_or(0, |comparison| comparison.compared),
        known: names
            .into_iter()
            .map(|name| match source.known.get(&name) {
                Some(entry) => (name, entry.text.clone(), entry.case.clone()),
                None => (name, String::new(), String::new()),
            })
            .collect(),
    }
}

fn differing(source: &ComparisonSource<'_>, case: usize, variant: usize) -> Option<Differing> {
    let differences = &source.comparison?.differences;
    let found =
        differences.iter().find(|difference| (difference.case, difference.variant) == (case, variant))?;
    let place =
        |engine: &RecordedEngine| source.campaigns.iter().position(|campaign| campaign.engine == *engine);
    Some(Differing {
        stage: found.stage.clone(),
        groups: found
            .groups
            .iter()
            .map(|group| (short(&group.did, MOST), group.engines.iter().filter_map(place).collect()))
            .collect(),
        first_in: found.first_in.iter().map(ToString::to_string).collect(),
        known: found.known.iter().cloned().collect(),
    })
}

fn column(campaign: &EngineCampaign, folder: &Path, path: &Path) -> EngineColumn {
    // A page that somebody named may lie anywhere: there is no link that would hold.
    let beside = path == folder.join(FILE) && campaign.folder.join(FILE).exists();
    let name = campaign.folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let variants = || campaign.verdicts.iter().flat_map(|verdict| &verdict.variants);
    let count = |oracle: OracleId, known: bool| {
        let has = |verdict: &&VariantVerdict| {
            verdict.result.findings().iter().any(|it| it.oracle() == oracle && it.known.is_some() == known)
        };
        variants().filter(has).count()
    };
    EngineColumn {
        title: campaign.engine.to_string(),
        page: name.filter(|_| beside).map(|name| format!("{name}/{FILE}")),
        oracles: ORACLES.iter().map(|oracle| (count(oracle.id, false), count(oracle.id, true))).collect(),
    }
}
