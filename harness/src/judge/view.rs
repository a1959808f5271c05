//! What happened in each stage of a variant, for people and programs to read.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::cause::Cause;
use super::finding::Finding;
use super::known::KnownFindings;
use super::observe::{graph_of, overlaps};
use super::oracles::{Oracle, Trial};
use super::program_change::ProgramChange;
use super::variant::{judge_each, mark_known};
use super::verdict::{VariantResult, VariantVerdict};
use crate::algebra::graph::NamedGraph;
use crate::case::Case;
use crate::engine_id::RecordedEngine;
use crate::evidence::{ObservedOperation, StageRecord};
use crate::spec::ResourceOperation;

/// A stage.
#[derive(Debug, Clone, Serialize)]
pub struct StageView {
    /// How its command went.
    #[serde(flatten)]
    pub record: StageRecord,
    /// The operations that were due: `+a` creates, `~a` updates, `-a` deletes.
    pub expected: Vec<String>,
    /// The operations that there were, in the order in which they began, with the sequence numbers of begin and end.
    pub did: Vec<String>,
    /// Pairs of operations that were under way at once.
    pub at_once: Vec<[String; 2]>,
    /// The graph that the world formed afterwards.
    pub graph: NamedGraph,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// The finding that nothing else explains, and what is known of it.
#[derive(Debug, Clone, Serialize)]
pub struct CauseView {
    /// The finding.
    pub finding: Finding,
    /// The known engine bug that it is.
    pub bug: Option<BugView>,
    /// What changed in the program up to its stage; none if the text is not there.
    pub change: Option<ProgramChange>,
    /// What known bugs did in earlier stages.
    pub before: Vec<Finding>,
    /// What else was found in its stage, and in later ones.
    pub follows: Vec<Finding>,
}

/// A known engine bug.
#[derive(Debug, Clone, Serialize)]
pub struct BugView {
    /// Its short name.
    pub name: String,
    /// What it is, in a sentence.
    pub text: String,
    /// The folder of its smallest case, with a page for people.
    pub case: String,
}

/// A variant.
#[derive(Debug, Clone, Serialize)]
pub struct VariantView {
    /// Its number.
    pub variant: usize,
    /// The engine that it was deployed on.
    pub engine: RecordedEngine,
    /// How the engine was driven.
    pub workflow: String,
    /// Its program.
    pub program: String,
    /// What came of it: `pass`, `fail`, `known` or `inconclusive`.
    pub verdict: &'static str,
    /// The finding that nothing else explains; none if nothing was found.
    pub cause: Option<CauseView>,
    /// Its stages, as far as it was judged.
    pub stages: Vec<StageView>,
    /// Why it could not be judged to its end.
    pub inconclusive: Option<String>,
    /// Whether something was found that no known bug explains.
    pub has_new_findings: bool,
}

impl VariantView {
    /// What the evidence in a variant's folder shows, judged by oracles and by what is known.
    pub fn read(
        case: &Case,
        variant: usize,
        folder: &Path,
        oracles: &[&Oracle],
        (known, engine): (&KnownFindings, &RecordedEngine),
    ) -> Self {
        let mut stages = Vec::new();
        let mut verdict =
            judge_each(case, variant, folder, oracles, |trial| stages.push(StageView::of(trial)));
        mark_known(known, &engine.id, case, &mut verdict);
        for finding in verdict.result.findings() {
            let stage = stages.iter_mut().find(|stage| finding.stage == stage.record.stage);
            stage.into_iter().for_each(|stage| stage.findings.push(finding.clone()));
        }
        let VariantVerdict { result, .. } = &verdict;
        Self {
            variant,
            engine: engine.clone(),
            workflow: case.variants[variant].workflow.clone(),
            program: case.variants[variant].program.clone(),
            verdict: result.name(),
            cause: Cause::among(result.findings()).map(|cause| CauseView {
                bug: cause.finding.known.as_ref().map(|name| BugView::of(name, known)),
                change: ProgramChange::up_to(
                    &case.variants[variant].stages,
                    cause.finding.stage.as_str(),
                    folder,
                ),
                finding: cause.finding.clone(),
                before: cause.before.into_iter().cloned().collect(),
                follows: cause.follows.into_iter().cloned().collect(),
            }),
            stages,
            inconclusive: match result {
                VariantResult::Inconclusive { reason } => Some(reason.clone()),
                _ => None,
            },
            has_new_findings: matches!(result, VariantResult::Fail { .. }),
        }
    }
}

impl BugView {
    fn of(name: &str, known: &KnownFindings) -> Self {
        let entry = known.get(name);
        Self {
            name: name.to_owned(),
            text: entry.map(|entry| entry.text.clone()).unwrap_or_default(),
            case: entry.map(|entry| entry.case.clone()).unwrap_or_default(),
        }
    }
}

impl StageView {
    fn of(trial: &Trial<'_>) -> Self {
        let operations = &trial.evidence.operations;
        let nothing = BTreeSet::new();
        let expected = trial.model.as_ref().map_or(&nothing, |model| &model.expectation.operations);
        let pairs = overlaps(operations);
        let at_once =
            pairs.iter().map(|(one, other)| [one, other].map(|observed| observed.operation.signed()));
        Self {
            record: trial.evidence.record.clone(),
            expected: expected.iter().map(ResourceOperation::signed).collect(),
            did: operations.iter().map(spanned).collect(),
            at_once: at_once.collect(),
            graph: graph_of(trial.world).0,
            findings: Vec::new(),
        }
    }
}

/// An operation with the sequence numbers of its begin and end.
pub(super) fn spanned(observed: &ObservedOperation) -> String {
    let end = match observed.end {
        Some((end, true)) => end.to_string(),
        Some((end, false)) => format!("{end}, failed"),
        None => "never".to_owned(),
    };
    format!("{}[{}..{end}]", observed.operation.signed(), observed.begin)
}
