//! Judging from evidence alone: no engine, no generator.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::exercised::Exercised;
use super::finding::Finding;
use super::known::KnownFindings;
use super::oracles::{Oracle, Trial};
use super::stages::StageJudge;
use super::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use crate::algebra::graph::{EdgeNames, NamedGraph};
use crate::case::spelling::Spelling;
use crate::case::stage::JudgedAs;
use crate::case::{CASE_FILE, Case, CaseError, StagedBatch};
use crate::engines::driver::EngineProfile;
use crate::engines::{self, EngineId};
use crate::evidence::{STAGES, records};
use crate::spec::{Configuration, EdgeKind};

/// The folder of a second deployment's evidence, in the variant's.
pub const AGAIN: &str = "again";

/// The folder of what a warm engine left, in the variant's, where it shows what fresh processes do not show.
pub const WARM: &str = "warm";

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

/// Judges all variants of the case in a folder. Nothing is known: see [`mark_known`].
pub fn case(number: usize, folder: &Path, oracles: &[&Oracle]) -> Result<CaseVerdict, CaseError> {
    let case = Case::read(&folder.join(CASE_FILE))?;
    Ok(stored_case(number, &case, folder, oracles))
}

/// Judges all variants of a case by the evidence in a folder.
pub fn stored_case(number: usize, case: &Case, folder: &Path, oracles: &[&Oracle]) -> CaseVerdict {
    let judged = |number| verdict(case, number, &variant_folder(folder, number), oracles);
    CaseVerdict { case: number, variants: (0..case.variants.len()).map(judged).collect() }
}

/// Marks a new finding by what a second deployment left, if there was one.
pub fn mark_again(case: &Case, verdict: &mut VariantVerdict, folder: &Path, oracles: &[&Oracle]) {
    let second = folder.join(AGAIN);
    if matches!(verdict.result, VariantResult::Fail { .. }) && second.join(STAGES).exists() {
        verdict.again = verdict.result.came_again(&variant(case, verdict.variant, &second, oracles));
    }
}

/// Marks what only a warm engine showed, if it left anything: in a place of its own, or as the second deployment.
pub fn mark_warm_only(case: &Case, verdict: &mut VariantVerdict, folder: &Path, oracles: &[&Oracle]) {
    for place in [WARM, AGAIN].map(|place| folder.join(place)) {
        let was_warm = records(&place).is_ok_and(|records| records.first().is_some_and(|record| record.warm));
        if was_warm {
            verdict.hold_against_warm(&self::verdict(case, verdict.variant, &place, oracles));
        }
    }
}

/// Tells known findings from new ones, by what is known now.
pub fn mark_known(known: &KnownFindings, engine: &EngineId, case: &Case, verdict: &mut VariantVerdict) {
    let findings = match &mut verdict.result {
        VariantResult::Fail { findings } | VariantResult::Known { findings } => std::mem::take(findings),
        VariantResult::Pass | VariantResult::Inconclusive { .. } => return,
    };
    let mut findings = findings;
    if let Ok(stages) = case.stages(verdict.variant) {
        known.mark(engine, &stages, &verdict.failed, &mut findings);
    }
    let broken = findings.iter().position(Finding::is_broken_evidence);
    verdict.result = match broken {
        // All that was found is known, and the rest could not be judged.
        Some(place) if findings.iter().filter(|finding| finding.known.is_none()).count() == 1 => {
            VariantResult::Inconclusive { reason: findings.swap_remove(place).to_string() }
        }
        _ => VariantResult::of(findings),
    };
}

/// Judges a variant by the evidence in its folder.
pub fn variant(case: &Case, variant: usize, folder: &Path, oracles: &[&Oracle]) -> VariantResult {
    verdict(case, variant, folder, oracles).result
}

/// Judges a variant by the evidence in its folder, and counts what it exercised.
pub fn verdict(case: &Case, variant: usize, folder: &Path, oracles: &[&Oracle]) -> VariantVerdict {
    judge_each(case, variant, folder, oracles, |_| ())
}

/// The same, and calls with each stage that is judged.
pub fn judge_each(
    case: &Case,
    variant: usize,
    folder: &Path,
    oracles: &[&Oracle],
    look: impl FnMut(&Trial<'_>),
) -> VariantVerdict {
    let Some(engine) = &case.engine else {
        let reason = EngineUnknown.to_string();
        return VariantVerdict::new(variant, VariantResult::Inconclusive { reason });
    };
    judge_each_of(engines::profile(&engine.id), case, variant, folder, oracles, look)
}

/// A case that does not say which engine it was run on: nobody knows by whose rules to judge it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "neither the case nor a campaign says which engine it was run on, so nothing says by which rules to judge it; \
     `equiform replay` runs it on an engine that you name"
)]
pub struct EngineUnknown;

/// The same of an engine with this profile, whichever the case says it was run on.
pub fn judge_each_of(
    profile: EngineProfile,
    case: &Case,
    variant: usize,
    folder: &Path,
    oracles: &[&Oracle],
    mut look: impl FnMut(&Trial<'_>),
) -> VariantVerdict {
    let inconclusive = |reason: String| VariantResult::Inconclusive { reason };
    let stages = match case.stages(variant) {
        Ok(stages) => stages,
        Err(error) => return VariantVerdict::new(variant, inconclusive(error.to_string())),
    };
    if stages.iter().any(|staged| staged.stage.judged_as == JudgedAs::Source && !is_source(staged, case)) {
        let reason = format!("variant {variant} does not end in the source's graph: the case was edited");
        return VariantVerdict::new(variant, inconclusive(reason));
    }
    let exercised = Exercised { left_out: case.left_out.clone(), ..Exercised::default() };
    let mut exercised = exercised;
    exercised.driven_by(&case.variants[variant].workflow);
    let mut verdict = VariantVerdict { exercised, ..VariantVerdict::new(variant, VariantResult::Pass) };
    let (count, mut found) = (stages.len(), Vec::new());
    let mut stage_judge = StageJudge { profile, case, oracles, verdict: &mut verdict, found: &mut found };
    match stage_judge.judge(stages, folder, &mut look) {
        Ok(judged) => verdict.not_reached = count - judged,
        Err(error) if found.is_empty() => {
            return VariantVerdict { result: inconclusive(error.to_string()), ..verdict };
        }
        // What was found up to there stays, and that nobody could judge the rest is told with it.
        Err(error) => {
            let stage = found.last().map(|finding: &Finding| finding.stage.clone()).unwrap_or_default();
            found.push(Finding::broken_evidence(stage, error.to_string()));
            // Where the records cannot be read either, it is not known which stages were reached.
            verdict.not_reached = records(folder).map_or(0, |records| count.saturating_sub(records.len()));
        }
    }
    VariantVerdict { result: VariantResult::of(found), ..verdict }
}

fn is_source(staged: &StagedBatch<'_>, case: &Case) -> bool {
    graph_of(&staged.batch.program, &case.spelling) == case.source
}

/// The graph that a program describes, with all that is not as by default. Values are those that its texts stand for.
pub fn graph_of(program: &Configuration, spelling: &Spelling) -> NamedGraph {
    let nodes = &program.meaning.nodes;
    let edges = || {
        nodes.iter().flat_map(|(dependent, node)| {
            let written = node.dependencies.iter().filter(|(dependency, _)| nodes.contains_key(*dependency));
            written.map(|(dependency, kind)| ((dependency.to_string(), dependent.to_string()), *kind))
        })
    };
    let kinds = edges().filter(|(_, kind)| *kind != EdgeKind::Refs);
    let attributes = nodes.iter().map(|(key, node)| {
        let flag = |name: &str, is_set: bool| is_set.then(|| (name.to_owned(), "true".to_owned()));
        let text = |name: &str, text: &Option<Arc<str>>| {
            Some((name.to_owned(), spelling.value(key, name, text.as_deref()?).to_owned()))
        };
        let values = [
            text("label", &node.label),
            text("pin", &node.pin),
            flag("create_before_destroy", node.create_before_destroy),
            flag("ignore_changes", node.ignore_changes),
        ];
        (key.to_string(), values.into_iter().flatten().collect::<BTreeMap<_, _>>())
    });
    NamedGraph {
        nodes: nodes.keys().map(|key| key.to_string()).collect(),
        edges: edges().map(|(edge, _)| edge).collect(),
        attributes: attributes.filter(|(_, values)| !values.is_empty()).collect(),
        kinds: EdgeNames(kinds.map(|(edge, kind)| (edge, kind.name().to_owned())).collect()),
    }
}
