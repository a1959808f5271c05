//! What went wrong with a variant, from its evidence alone, so that somebody can act on it.
//!
//! [`Explanation`] is all there is to say, `text` the same for people. `programs` tells what each stage deployed,
//! `expected` what the model asks for and by which rule, `proof` quotes the lines that show the difference.

mod expected;
mod programs;
mod proof;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::cause::cause;
use super::finding::Finding;
use super::known::{KnownFinding, KnownFindings};
use super::oracles::{ORACLES, Oracle, Trial};
use super::variant::{judge_each, mark_known};
use super::verdict::VariantResult;
use crate::case::stage::{ProgramRef, Stage};
use crate::case::{Batch, Case};
use crate::engines::{self, RecordedEngine};
use crate::evidence::{Quote, STAGES, StageRecord};
use crate::spec::{Action, Configuration};
pub use expected::{Expected, OrderedPair, RuleText};

/// The version of an explanation as JSON.
const VERSION: u32 = 2;

/// What went wrong with a variant.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// The version of this document.
    pub version: u32,
    /// The folder of the variant's evidence.
    pub folder: PathBuf,
    /// Its number.
    pub variant: usize,
    /// The engine that it was deployed on.
    pub engine: RecordedEngine,
    /// How the engine was driven.
    pub workflow: String,
    /// The finding that is nearest to the cause.
    pub cause: Finding,
    /// The stages up to the one with the cause, and that one.
    pub stages: Vec<StageStory>,
    /// What the model expected of that stage.
    pub expected: Expected,
    /// What the ledger shows of it: operations in the order in which they began, with the sequence numbers of begin
    /// and end.
    pub observed: Vec<String>,
    /// Where it begins to differ.
    pub first_difference: String,
    /// The lines that show it.
    pub proof: Vec<Quote>,
    /// What is known of it.
    pub known: Option<Known>,
    /// What else was found, in this stage and later.
    pub others: Vec<Finding>,
    /// On which engines it was tried, and whether it showed; empty if that was not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Tried>,
}

/// A stage, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StageStory {
    /// Its name.
    pub stage: String,
    /// The command, without what is the same in all of them.
    pub command: String,
    /// How its program differs from the one before, a line for each resource.
    pub program: Vec<String>,
    /// What the provider was told to fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<String>,
    /// How it ended.
    pub end: String,
}

/// An entry of the known findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Known {
    /// Its name.
    pub name: String,
    /// What it is.
    pub text: String,
    /// The folder of its bundle.
    pub case: String,
    /// The engines that have it.
    pub engines: String,
}

impl From<&KnownFinding> for Known {
    fn from(known: &KnownFinding) -> Self {
        let engines: Vec<String> =
            known.engines.iter().map(|(name, versions)| format!("{name} {versions}")).collect();
        Self {
            name: known.name.clone(),
            text: known.text.clone(),
            case: known.case.clone(),
            engines: engines.join("; "),
        }
    }
}

/// Whether something showed on an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tried {
    /// The engine.
    pub engine: RecordedEngine,
    /// Whether it showed; none if it could not be tried.
    pub shows: Option<bool>,
    /// What showed instead, or why it could not be tried.
    pub text: String,
}

impl Tried {
    /// In words: `shows`, `does not show: nothing is found`.
    pub fn said(&self) -> String {
        let shows = match self.shows {
            Some(true) => "shows",
            Some(false) => "does not show",
            None => "could not be tried",
        };
        if self.text.is_empty() { shows.to_owned() } else { format!("{shows}: {}", self.text) }
    }

    /// A line for each engine, their names below each other.
    pub fn lines(tried: &[Self]) -> Vec<String> {
        let width = tried.iter().map(|tried| tried.engine.to_string().len()).max().unwrap_or(0);
        tried.iter().map(|tried| format!("{:width$}  {}", tried.engine, tried.said())).collect()
    }
}

/// Why there is nothing to explain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotExplained {
    /// It passed.
    #[error(
        "variant {variant} passed: there is nothing to explain. `equiform show {}` tells what happened in it",
        folder.display()
    )]
    Passed {
        /// Its number.
        variant: usize,
        /// Its folder.
        folder: PathBuf,
    },
    /// There is nothing to judge by.
    #[error(
        "{} has no evidence: `equiform replay {} --variant {variant}` deploys it again and says where the evidence is",
        folder.display(), case.display()
    )]
    NoEvidence {
        /// Its number.
        variant: usize,
        /// Its folder.
        folder: PathBuf,
        /// The case's folder.
        case: PathBuf,
    },
    /// It could not be judged.
    #[error(
        "variant {variant} could not be judged: {reason}. `equiform replay {} --variant {variant}` deploys it again",
        case.display()
    )]
    Inconclusive {
        /// Its number.
        variant: usize,
        /// Why.
        reason: String,
        /// The case's folder.
        case: PathBuf,
    },
}

impl Explanation {
    /// Explains a variant of a case by the evidence in its folder. `engine` is the one that it was deployed on.
    pub fn of(
        case: &Case,
        variant: usize,
        folder: &Path,
        known: &KnownFindings,
        engine: &RecordedEngine,
    ) -> Result<Self, NotExplained> {
        let of_case = || folder.parent().unwrap_or(folder).to_owned();
        if !folder.join(STAGES).exists() {
            return Err(NotExplained::NoEvidence { variant, folder: folder.to_owned(), case: of_case() });
        }
        let mut stories = Vec::new();
        let mut verdict = judge(case, variant, folder, |trial| stories.push(Raw::of(trial)));
        mark_known(known, &engine.id, case, &mut verdict);
        let findings = verdict.result.findings();
        let cause = match (&verdict.result, cause(findings)) {
            (VariantResult::Inconclusive { reason }, _) => {
                let reason = reason.clone();
                return Err(NotExplained::Inconclusive { variant, reason, case: of_case() });
            }
            (_, None) => return Err(NotExplained::Passed { variant, folder: folder.to_owned() }),
            (_, Some(cause)) => cause.clone(),
        };
        let mut told = None;
        let profile = engines::profile(&engine.id);
        judge(case, variant, folder, |trial| {
            if cause.stage == trial.stage.name {
                let expected = Expected::of(trial, &cause, profile.semantics);
                let observed = trial.evidence.operations.iter().map(super::view::spanned).collect();
                told = Some((expected, observed, proof::first_difference(trial, &cause)));
            }
        });
        // A finding names a stage that was judged, but for those about a whole case.
        let (expected, observed, first_difference) =
            told.unwrap_or_else(|| (Expected::default(), Vec::new(), cause.observation()));
        Ok(Self {
            version: VERSION,
            folder: folder.to_owned(),
            variant,
            engine: engine.to_owned(),
            workflow: case.variants[variant].workflow.clone(),
            stages: stories_up_to(case, variant, &stories, cause.stage.as_str(), profile.usual_options),
            expected,
            observed,
            first_difference,
            proof: proof::quotes(profile.reader, case, variant, folder, &cause),
            known: cause.known.as_ref().and_then(|name| known.get(name)).map(Known::from),
            others: findings.iter().filter(|finding| **finding != cause).cloned().collect(),
            cause,
            tried: Vec::new(),
        })
    }
}

fn judge(
    case: &Case,
    variant: usize,
    folder: &Path,
    look: impl FnMut(&Trial<'_>),
) -> super::verdict::VariantVerdict {
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    judge_each(case, variant, folder, &oracles, look)
}

/// What is kept of a stage while it is judged.
struct Raw {
    record: StageRecord,
    stage: Stage,
}

impl Raw {
    fn of(trial: &Trial<'_>) -> Self {
        Self { record: trial.evidence.record.clone(), stage: trial.stage.clone() }
    }
}

fn stories_up_to(
    case: &Case,
    variant: usize,
    stages: &[Raw],
    last: &str,
    usual_options: &[&str],
) -> Vec<StageStory> {
    let batches: Vec<Arc<Batch>> =
        case.stages(variant).unwrap_or_default().into_iter().map(|staged| staged.batch).collect();
    let mut before = Configuration::default();
    let mut stories = Vec::new();
    for (Raw { record, stage }, batch) in stages.iter().zip(batches) {
        let program = programs::difference(&before, &batch.program, batch.defect.as_ref());
        before = batch.program.clone();
        stories.push(StageStory {
            stage: stage.name.clone(),
            command: programs::command(&record.command, &stage.action, usual_options),
            program,
            failures: stage.faults.iter().map(ToString::to_string).collect(),
            end: record.ending(),
        });
        if stage.name == last {
            break;
        }
    }
    stories
}

/// The keys of a variant's resources that a finding mentions.
fn keys_in(case: &Case, variant: usize, finding: &Finding) -> Vec<String> {
    let batches = case.batches(variant).unwrap_or_default();
    let configurations = batches.iter().map(|batch| &batch.program);
    let keys: BTreeSet<String> = configurations
        .flat_map(|program| program.meaning.nodes.keys().map(move |key| (key, program.encoding.address(key))))
        .filter(|(key, address)| finding.mentions(key, address))
        .map(|(key, _)| key.to_string())
        .collect();
    keys.into_iter().collect()
}

/// Whether a stage's program is one that an engine has to refuse.
fn is_broken(stage: &Stage) -> bool {
    matches!(stage.program, ProgramRef::Broken { .. })
}

/// Whether an action is a command of the engine.
fn is_command(action: &Action) -> bool {
    !matches!(action, Action::Drift { .. })
}
