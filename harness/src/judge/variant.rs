//! Judging from evidence alone: no engine, no generator.

use std::path::{Path, PathBuf};

use super::coverage::{Exercised, OPERATIONS_COMPARED};
use super::history::PastStage;
use super::known::KnownFindings;
use super::observe::meaning_of;
use super::oracles::{Finding, Oracle, Trial};
use super::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use crate::algebra::graph::NamedGraph;
use crate::case::stage::{JudgedAs, Stage};
use crate::case::{CASE_FILE, Case, CaseError, StagedBatch};
use crate::engines::family_of;
use crate::evidence::{Evidence, STAGES, Unreadable, records};
use crate::spec::{Expectation, Program};

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

/// Judges all variants of the case in a folder. Nothing is known: see [`sort_out`].
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
pub fn sort_out(known: &KnownFindings, engine: &str, case: &Case, verdict: &mut VariantVerdict) {
    let findings = match &mut verdict.result {
        VariantResult::Fail { findings } | VariantResult::Known { findings } => std::mem::take(findings),
        VariantResult::Pass | VariantResult::Inconclusive { .. } => return,
    };
    let mut findings = findings;
    if let Ok(stages) = case.stages(verdict.variant) {
        let compared = verdict.exercised.checks.contains_key(OPERATIONS_COMPARED);
        known.mark(engine, &stages, &verdict.failed, compared, &mut findings);
    }
    let broken = findings.iter().position(Finding::is_broken_evidence);
    verdict.result = match broken {
        // All that was found is known, and the rest could not be judged.
        Some(place) if findings.iter().filter(|finding| finding.known.is_none()).count() == 1 => {
            VariantResult::Inconclusive { reason: findings.swap_remove(place).text }
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
    let mut verdict = VariantVerdict { exercised, ..VariantVerdict::new(variant, VariantResult::Pass) };
    let (count, mut found) = (stages.len(), Vec::new());
    let judged = judge_stages(case, stages, folder, oracles, &mut look, &mut verdict, &mut found);
    match judged {
        Ok(judged) => verdict.not_reached = count - judged,
        Err(error) if found.is_empty() => {
            return VariantVerdict { result: inconclusive(error.to_string()), ..verdict };
        }
        // What was found up to there stays, and that nobody could judge the rest is told with it.
        Err(error) => {
            let stage = found.last().map(|finding| finding.stage.clone()).unwrap_or_default();
            found.push(Finding::broken_evidence(stage, error.to_string()));
            // Where the records cannot be read either, it is not known which stages were reached.
            verdict.not_reached = records(folder).map_or(0, |records| count.saturating_sub(records.len()));
        }
    }
    VariantVerdict { result: VariantResult::of(found), ..verdict }
}

fn is_source(staged: &StagedBatch<'_>, case: &Case) -> bool {
    graph_of(&staged.batch.program) == case.source
}

/// The graph that a program describes.
fn graph_of(program: &Program) -> NamedGraph {
    let edges = program.blocks.values().flat_map(|dependent| {
        let dependencies = dependent.dependencies.keys().filter_map(|address| program.key(address));
        dependencies.map(|dependency| (dependency.to_string(), dependent.key.to_string()))
    });
    let nodes = program.blocks.values().map(|block| block.key.to_string());
    NamedGraph { nodes: nodes.collect(), edges: edges.collect(), ..NamedGraph::default() }
}

/// Asks the oracles about one stage after the other, and says how many there were that the model can speak of.
fn judge_stages(
    case: &Case,
    stages: Vec<StagedBatch<'_>>,
    folder: &Path,
    oracles: &[&Oracle],
    look: &mut dyn FnMut(&Trial<'_>),
    verdict: &mut VariantVerdict,
    found: &mut Vec<Finding>,
) -> Result<usize, Unreadable> {
    let family = family_of(case.engine.as_deref());
    let names: Vec<&Stage> = stages.iter().map(|staged| staged.stage).collect();
    let mut evidence = Evidence::open(folder, names, family.reader)?;
    let (mut stages, mut judged) = (stages.into_iter(), 0);
    let Some(mut past) = stages.next().map(PastStage::first) else { return Ok(judged) };
    while let Some((evidence, world)) = evidence.next_stage()? {
        let plan = past.step().expectation(family.discipline, &case.left_out);
        let nothing;
        let expectation = if past.stage().action.changes_the_world() {
            &plan
        } else {
            nothing = Expectation::nothing(past.deployed.instances.len());
            &nothing
        };
        let trial = Trial {
            source: &case.source,
            stage: past.stage(),
            deployed: &past.deployed,
            program: past.staged.target(),
            plan: &plan,
            expectation,
            evidence: &evidence,
            world,
        };
        found.extend(oracles.iter().flat_map(|oracle| oracle.judge(&trial)));
        verdict.exercised.count(&trial, oracles);
        look(&trial);
        if past.stage().judged_as == JudgedAs::Source && evidence.succeeded {
            verdict.world = Some(meaning_of(world));
        }
        judged += 1;
        let failed = if evidence.succeeded { None } else { Some(evidence.took_effect()) };
        let Some(staged) = stages.next() else { continue };
        let (name, next) = (past.stage().name.clone(), past.next(staged, failed.as_deref()));
        verdict.failed.extend(failed.map(|operations| (name, operations)));
        match next {
            Ok(next) => past = next,
            // What a failure left is nothing that the model can go on from.
            Err(_) => break,
        }
    }
    Ok(judged)
}
