//! What happened in each stage of a variant, for people and programs to read.

use std::path::Path;

use serde::Serialize;

use super::known::KnownFindings;
use super::observe::{graph_of, overlaps};
use super::oracles::{Finding, Oracle, Trial};
use super::variant::{judge_each, sort_out};
use super::verdict::{VariantResult, VariantVerdict};
use crate::algebra::graph::NamedGraph;
use crate::case::Case;
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

/// A variant.
#[derive(Debug, Clone, Serialize)]
pub struct VariantView {
    /// Its number.
    pub variant: usize,
    /// The engine that it was deployed on.
    pub engine: String,
    /// Its program.
    pub program: String,
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
        (known, engine): (&KnownFindings, &str),
    ) -> Self {
        let mut stages = Vec::new();
        let mut verdict =
            judge_each(case, variant, folder, oracles, |trial| stages.push(StageView::of(trial)));
        sort_out(known, engine, case, &mut verdict);
        for finding in verdict.result.findings() {
            let stage = stages.iter_mut().find(|stage| stage.record.stage == finding.stage);
            stage.into_iter().for_each(|stage| stage.findings.push(finding.clone()));
        }
        let VariantVerdict { result, .. } = &verdict;
        Self {
            variant,
            engine: engine.to_owned(),
            program: case.variants[variant].program.clone(),
            stages,
            inconclusive: match result {
                VariantResult::Inconclusive { reason } => Some(reason.clone()),
                _ => None,
            },
            has_new_findings: matches!(result, VariantResult::Fail { .. }),
        }
    }
}

impl StageView {
    fn of(trial: &Trial<'_>) -> Self {
        let operations = &trial.evidence.operations;
        let pairs = overlaps(operations);
        let at_once =
            pairs.iter().map(|(one, other)| [one, other].map(|observed| observed.operation.signed()));
        Self {
            record: trial.evidence.record.clone(),
            expected: trial.expectation.operations.iter().map(ResourceOperation::signed).collect(),
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
