//! All that there is to say of a campaign in the end, as one JSON document. `docs/campaigns.md` describes it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::reduce::Reduction;
use super::tally::Tally;
use super::{Settings, shard::Shard};
use crate::deploy::costs::Outlier;
use crate::deploy::time_spent::{StageTime, TimeSplit};
use crate::deploy::worker::WorkerCounts;
use crate::engine_id::{EngineId, RecordedEngine};
use crate::engines;
use crate::judge::exercised::Exercised;
use crate::judge::finding::Signature;
use crate::judge::known::KnownFindings;
use crate::judge::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use crate::spec::Rule;

/// The version of the document.
const VERSION: u32 = 2;

/// What there is to say.
#[derive(Debug, Default)]
pub struct Report {
    /// What was run or judged: a folder, or how many there are.
    pub title: String,
    /// The engine, if there is one.
    pub engine: Option<RecordedEngine>,
    /// What was generated.
    pub settings: Option<Settings>,
    /// The part of a campaign that this is.
    pub shard: Option<Shard>,
    /// The only case that was asked for.
    pub only_case: Option<usize>,
    /// How long it took, of what was run or judged just now.
    pub took: Option<Duration>,
    /// The command that does the same once more.
    pub repeat: Option<String>,
    /// How many variants have no verdict, because it was stopped.
    pub not_run: usize,
    /// How many verdicts are those of an earlier run.
    pub earlier: usize,
    /// Where the time went, of what was run just now.
    pub spent: Option<TimeSplit>,
    /// What became of the processes that kept the engine warm; none if it was not.
    pub workers: Option<WorkerCounts>,
    /// What the engine's commands took, by the kinds of their stages.
    pub stages: BTreeMap<String, StageTime>,
    /// The commands that took far more than others, of those that were run just now.
    pub outliers: Vec<Outlier>,
    /// Failures that were reduced, with the folders of the reduced cases.
    pub reductions: Vec<(PathBuf, Reduction)>,
    /// The cases, with their folders.
    pub cases: Vec<(PathBuf, CaseVerdict)>,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    campaign: &'a str,
    engine: Option<&'a RecordedEngine>,
    settings: Option<&'a Settings>,
    shard: Option<Shard>,
    #[serde(skip_serializing_if = "Option::is_none")]
    only_case: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<&'a str>,
    complete: bool,
    not_run: usize,
    from_earlier_run: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    spent: Option<TimeSplit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<&'a WorkerCounts>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    stages: &'a BTreeMap<String, StageTime>,
    #[serde(skip_serializing_if = "<[Outlier]>::is_empty")]
    outliers: &'a [Outlier],
    counts: Counts,
    stages_not_reached: usize,
    signatures: Vec<SignatureCount>,
    known: Vec<KnownCount<'a>>,
    exercised: ExercisedEntry,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reductions: Vec<ReductionEntry<'a>>,
    cases: Vec<CaseEntry<'a>>,
}

#[derive(Serialize)]
struct ReductionEntry<'a> {
    folder: &'a Path,
    reduction: &'a Reduction,
}

/// What was exercised, with a count for everything that there is.
#[derive(Serialize)]
struct ExercisedEntry {
    #[serde(flatten)]
    counts: Exercised,
    not_exercised: Vec<String>,
}

#[derive(Serialize)]
struct Counts {
    passed: usize,
    failed: usize,
    not_again: usize,
    known: usize,
    inconclusive: usize,
    warm_only: usize,
}

#[derive(Serialize)]
struct SignatureCount {
    signature: Signature,
    findings: usize,
}

#[derive(Serialize)]
struct KnownCount<'a> {
    name: &'a str,
    text: Option<&'a str>,
    case: Option<&'a str>,
    variants: usize,
}

#[derive(Serialize)]
struct CaseEntry<'a> {
    case: usize,
    folder: &'a Path,
    variants: Vec<&'a VariantVerdict>,
}

impl Report {
    /// Its numbers.
    pub fn tally(&self) -> Tally {
        Tally::of(self.cases.iter().map(|(_, verdict)| verdict))
    }

    /// The engine by whose rules it is judged, if equiform was tested with no version as new as its own.
    pub fn judged_as(&self) -> Option<EngineId> {
        let id = &self.engine.as_ref()?.id;
        let judged_as = engines::judged_as(id);
        (judged_as.version < id.version).then_some(judged_as)
    }

    /// The rules that its engine is judged by.
    pub fn rules(&self) -> &'static [Rule] {
        self.engine.as_ref().map_or(&Rule::ALL, |engine| engines::profile(&engine.id).semantics.rules())
    }

    /// What all of its variants exercised.
    pub fn exercised(&self) -> Exercised {
        let mut sum = Exercised::default();
        for variant in self.cases.iter().flat_map(|(_, verdict)| &verdict.variants) {
            sum.add(&variant.exercised);
        }
        sum
    }

    /// The document. Of the cases, it has those in which a variant did not pass, be it on a warm engine alone, with
    /// these variants.
    pub fn json(&self, known: &KnownFindings) -> String {
        let (tally, exercised) = (self.tally(), self.exercised());
        let not_passed = |verdict: &&VariantVerdict| {
            verdict.result != VariantResult::Pass || !verdict.warm_only.is_empty()
        };
        let document = Document {
            version: VERSION,
            campaign: &self.title,
            engine: self.engine.as_ref(),
            settings: self.settings.as_ref(),
            shard: self.shard,
            only_case: self.only_case,
            milliseconds: self.took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
            repeat: self.repeat.as_deref(),
            complete: self.not_run == 0,
            not_run: self.not_run,
            from_earlier_run: self.earlier,
            spent: self.spent,
            workers: self.workers.as_ref(),
            stages: &self.stages,
            outliers: &self.outliers,
            counts: Counts {
                passed: tally.passed,
                failed: tally.failed,
                not_again: tally.not_again,
                known: tally.known,
                inconclusive: tally.inconclusive,
                warm_only: tally.warm_only,
            },
            stages_not_reached: tally.stages_not_reached,
            signatures: tally
                .signatures
                .iter()
                .map(|(signature, findings)| SignatureCount { signature: *signature, findings: *findings })
                .collect(),
            known: tally
                .names
                .iter()
                .map(|(name, variants)| {
                    let entry = known.get(name);
                    KnownCount {
                        name,
                        text: entry.map(|entry| entry.text.as_str()),
                        case: entry.map(|entry| entry.case.as_str()),
                        variants: *variants,
                    }
                })
                .collect(),
            exercised: ExercisedEntry {
                not_exercised: exercised.not_exercised(self.rules()),
                counts: exercised.filled(),
            },
            reductions: self
                .reductions
                .iter()
                .map(|(folder, reduction)| ReductionEntry { folder, reduction })
                .collect(),
            cases: self
                .cases
                .iter()
                .map(|(folder, verdict)| CaseEntry {
                    case: verdict.case,
                    folder,
                    variants: verdict.variants.iter().filter(not_passed).collect(),
                })
                .filter(|entry| !entry.variants.is_empty())
                .collect(),
        };
        serde_json::to_string_pretty(&document).expect("a report is JSON")
    }
}
