//! All that a page says of a campaign as a whole, and a row for each variant.

mod cases;
mod exercised;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

pub use self::cases::Diversity;
use self::cases::{CaseFacts, read_cases};
use self::exercised::ExercisedTables;
use super::campaign::CampaignSource;
use super::clip::short;
use super::reduced::Reduction;
use crate::deploy::time_spent::StageTimes;
use crate::judge::finding::{Finding, Signature};
use crate::judge::oracles::ORACLES;
use crate::judge::verdict::{VariantResult, VariantVerdict};

/// The most characters of a finding's text in a row.
const MOST_OF_TEXT: usize = 300;

/// The version of a page's data.
const VERSION: u32 = 1;

/// A campaign.
#[derive(Debug, Serialize)]
pub struct Overview {
    version: u32,
    equiform: &'static str,
    folder: String,
    engine: String,
    /// What was generated, by the names of options.
    settings: Vec<(&'static str, String)>,
    not_run: usize,
    /// The runs together: seconds, variants, jobs.
    run: Option<(f64, usize, usize)>,
    /// Milliseconds by kind of work, summed over all jobs.
    spent: BTreeMap<String, u64>,
    /// How many commands changed the world, and how many there were.
    applies: usize,
    commands: usize,
    /// By kind of stage: commands, and milliseconds.
    stages: Vec<(String, u32, u64)>,
    /// Each oracle that was asked: its name, and what it looks at.
    oracles: Vec<(&'static str, &'static str)>,
    /// What was found: oracle, kind, the name of the known bug that explains it, and what was seen first.
    signatures: Vec<(&'static str, String, Option<String>, String)>,
    /// The known bugs that showed: name, text, page.
    known: Vec<(String, String, String)>,
    exercised: ExercisedTables,
    diversity: Vec<Diversity>,
    workflows: Vec<String>,
    rows: Vec<Row>,
    reduced: Vec<Reduction>,
    notes: Vec<String>,
}

/// A variant.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The case's number.
    #[serde(rename = "c")]
    pub case: usize,
    /// The variant's.
    #[serde(rename = "v")]
    pub variant: usize,
    /// `p`, `f`, `k` or `i`.
    #[serde(rename = "r")]
    pub result: char,
    #[serde(rename = "w")]
    workflow: usize,
    #[serde(rename = "n")]
    resources: usize,
    #[serde(rename = "b")]
    batches: usize,
    #[serde(rename = "s")]
    stages: usize,
    #[serde(rename = "t")]
    milliseconds: u64,
    /// What was found, by the place of its signature, each once.
    #[serde(rename = "f", skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<usize>,
    /// Where it was found first.
    #[serde(rename = "a", skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    /// What was found first, or why it could not be judged.
    #[serde(rename = "x", skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Whether a new finding came again.
    #[serde(rename = "g", skip_serializing_if = "Option::is_none")]
    again: Option<bool>,
    /// What a warm engine alone showed.
    #[serde(rename = "o", skip_serializing_if = "Vec::is_empty")]
    warm_only: Vec<String>,
    /// What is wrong with its evidence.
    #[serde(rename = "e", skip_serializing_if = "Option::is_none")]
    damaged: Option<String>,
    /// Why the page does not show it, if it does not: `p` it passed, `r` its evidence was removed, `l` the page is long
    /// enough.
    #[serde(rename = "d", skip_serializing_if = "Option::is_none")]
    pub not_shown: Option<char>,
}

impl Overview {
    /// Of a campaign.
    pub fn of(source: &CampaignSource<'_>) -> Self {
        let report = source.report;
        let (facts, diversity) = read_cases(report);
        let mut signatures = Signatures::default();
        let mut rows = Vec::new();
        let mut workflows: Vec<String> = Vec::new();
        let (times, mut applies, mut commands) = (StageTimes::default(), 0, 0);
        for ((_, verdict), facts) in report.cases.iter().zip(&facts) {
            for variant in &verdict.variants {
                let Some(of_variant) = facts.variants.get(variant.variant) else { continue };
                let workflow = place(&mut workflows, &of_variant.workflow);
                applies += of_variant.applies;
                commands += of_variant.times.len();
                for (stage, milliseconds) in &of_variant.times {
                    times.add(stage, Duration::from_millis(*milliseconds));
                }
                rows.push(row(verdict.case, variant, facts, workflow, &mut signatures));
            }
        }
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let stages =
            times.get().into_iter().map(|(kind, time)| (kind, time.commands, milliseconds(time.took)));
        let sum = source.timing.sum();
        let known = signatures.listed.iter().filter_map(|(_, _, known, _)| known.clone());
        let known: std::collections::BTreeSet<String> = known.collect();
        Self {
            version: VERSION,
            equiform: env!("CARGO_PKG_VERSION"),
            folder: report.title.clone(),
            engine: report.engine.as_ref().map(ToString::to_string).unwrap_or_default(),
            settings: settings(source),
            not_run: report.not_run,
            run: sum.as_ref().map(|sum| (sum.seconds, sum.variants, sum.jobs)),
            spent: sum.map(|sum| sum.spent).unwrap_or_default(),
            applies,
            commands,
            stages: stages.collect(),
            oracles: ORACLES
                .iter()
                .filter(|oracle| source.oracles.iter().any(|asked| asked.name() == oracle.name()))
                .map(|oracle| (oracle.name(), oracle.about))
                .collect(),
            signatures: signatures.listed,
            known: known
                .into_iter()
                .map(|name| match source.known.get(&name) {
                    Some(entry) => (name, entry.text.clone(), entry.case.clone()),
                    None => (name, String::new(), String::new()),
                })
                .collect(),
            exercised: ExercisedTables::of(&report.exercised(), report.rules()),
            diversity,
            workflows,
            rows,
            reduced: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Its rows.
    pub fn rows(&mut self) -> &mut Vec<Row> {
        &mut self.rows
    }

    /// Adds reduced cases, and sentences on those that cannot be shown.
    pub fn add_reduced(&mut self, reduced: Vec<Reduction>, notes: Vec<String>) {
        self.reduced = reduced;
        self.notes.extend(notes);
    }
}

/// The signatures that there are, numbered as they come.
#[derive(Default)]
struct Signatures {
    listed: Vec<(&'static str, String, Option<String>, String)>,
    places: BTreeMap<(Signature, Option<String>), usize>,
}

impl Signatures {
    fn place(&mut self, finding: &Finding) -> usize {
        let (signature, known) = (finding.signature(), finding.known.clone());
        if let Some(place) = self.places.get(&(signature, known.clone())) {
            return *place;
        }
        self.places.insert((signature, known.clone()), self.listed.len());
        let text = short(&finding.to_string(), MOST_OF_TEXT);
        self.listed.push((signature.oracle().name(), signature.what(), known, text));
        self.listed.len() - 1
    }
}

fn place(list: &mut Vec<String>, name: &str) -> usize {
    match list.iter().position(|listed| listed == name) {
        Some(place) => place,
        None => {
            list.push(name.to_owned());
            list.len() - 1
        }
    }
}

fn row(
    case: usize,
    verdict: &VariantVerdict,
    facts: &CaseFacts,
    workflow: usize,
    signatures: &mut Signatures,
) -> Row {
    let findings = verdict.result.findings();
    let mut places: Vec<usize> = findings.iter().map(|finding| signatures.place(finding)).collect();
    places.sort_unstable();
    places.dedup();
    // What is new comes first.
    let told = findings.iter().find(|finding| finding.known.is_none()).or(findings.first());
    let of_variant = &facts.variants[verdict.variant];
    let result = match verdict.result {
        VariantResult::Pass => 'p',
        VariantResult::Fail { .. } => 'f',
        VariantResult::Known { .. } => 'k',
        VariantResult::Inconclusive { .. } => 'i',
    };
    let text = match &verdict.result {
        VariantResult::Inconclusive { reason } => Some(reason.clone()),
        _ => told.map(Finding::to_string),
    };
    let warm_only = verdict.warm_only.iter().map(|finding| {
        short(&format!("{}: {}: {finding}", finding.stage, finding.signature()), MOST_OF_TEXT)
    });
    Row {
        case,
        variant: verdict.variant,
        result,
        workflow,
        resources: facts.resources,
        batches: of_variant.batches,
        stages: of_variant.times.len(),
        milliseconds: of_variant.times.iter().map(|(_, milliseconds)| milliseconds).sum(),
        signatures: places,
        stage: told.map(|finding| finding.stage.to_string()),
        text: text.map(|text| short(&text, MOST_OF_TEXT)),
        again: verdict.again,
        warm_only: warm_only.collect(),
        damaged: verdict.damaged.as_deref().map(|why| short(why, MOST_OF_TEXT)),
        not_shown: Some('p'),
    }
}

/// The settings, by the names of options.
fn settings(source: &CampaignSource<'_>) -> Vec<(&'static str, String)> {
    let Some(settings) = &source.report.settings else { return Vec::new() };
    let range = |range: &std::ops::RangeInclusive<u32>| format!("{} to {}", range.start(), range.end());
    let mut listed = vec![
        ("seed", settings.seed.to_string()),
        ("sources", settings.sources.to_string()),
        ("variants of each", settings.variants.to_string()),
        ("batches", settings.batches.to_string()),
        ("resources", range(&settings.resources)),
        ("edges", range(&settings.edges)),
    ];
    if !settings.left_out.is_empty() {
        listed.push(("rules left out", settings.left_out.to_string()));
    }
    listed.extend(source.report.shard.map(|shard| ("part", shard.to_string())));
    listed
}
