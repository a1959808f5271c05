//! Judging from evidence alone: no engine, no generator.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::coverage::Exercised;
use super::history::{History, PastStage};
use super::known::KnownFindings;
use super::observe::meaning_of;
use super::oracles::{Finding, Oracle, Repeated, Trial};
use super::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use crate::algebra::graph::{EdgeNames, NamedGraph};
use crate::case::choices::Choices;
use crate::case::stage::{JudgedAs, Stage};
use crate::case::{CASE_FILE, Case, CaseError, StagedBatch};
use crate::engines::driver::EngineProfile;
use crate::engines::{self, EngineId};
use crate::evidence::{Evidence, STAGES, Unreadable, records};
use crate::spec::{
    Action, Configuration, EdgeKind, Expectation, Failure, LeftOut, PlanMode, ResourceOperation,
};

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
pub fn sort_out(known: &KnownFindings, engine: &EngineId, case: &Case, verdict: &mut VariantVerdict) {
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
    look: impl FnMut(&Trial<'_>),
) -> VariantVerdict {
    let Some(engine) = &case.engine else {
        let reason = NoEngine.to_string();
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
pub struct NoEngine;

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
    let judged = judge_stages(profile, case, stages, (folder, oracles), &mut look, &mut verdict, &mut found);
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
    let graph = graph_of(&staged.batch.program);
    // Where edges and settings were chosen beside the programs, the source is a graph and no more.
    if case.choices == Choices::default() {
        return graph == case.source;
    }
    graph.nodes == case.source.nodes && graph.edges == case.source.edges
}

/// The graph that a program describes, with all that is not as by default.
pub fn graph_of(program: &Configuration) -> NamedGraph {
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
        let text = |name: &str, text: &Option<Arc<str>>| Some((name.to_owned(), text.as_deref()?.to_owned()));
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

/// Asks the oracles about one stage after the other, and says how many there were that the model can speak of.
fn judge_stages(
    profile: EngineProfile,
    case: &Case,
    stages: Vec<StagedBatch<'_>>,
    (folder, oracles): (&Path, &[&Oracle]),
    look: &mut dyn FnMut(&Trial<'_>),
    verdict: &mut VariantVerdict,
    found: &mut Vec<Finding>,
) -> Result<usize, Unreadable> {
    let names: Vec<&Stage> = stages.iter().map(|staged| staged.stage).collect();
    let mut evidence = Evidence::open(folder, names, profile.reader)?;
    let (mut history, mut judged) = (History::of(&stages, profile.semantics), 0);
    let mut repeated: BTreeMap<String, Repeated> = BTreeMap::new();
    let is_repeated: BTreeSet<&str> =
        stages.iter().filter_map(|staged| staged.stage.repeats.as_deref()).collect();
    for staged in stages {
        let past = history.begin(staged);
        let Some((evidence, world)) = evidence.next_stage()? else { break };
        let refreshes_only =
            matches!(past.stage().action, Action::Refresh(_)) || past.options.mode == PlanMode::Refresh;
        let plan = if refreshes_only {
            Expectation::nothing(past.deployed.len())
        } else {
            past.step().expectation(&case.left_out)
        };
        let expectation = expected(&past, &plan, &case.left_out);
        let failed = if evidence.succeeded { None } else { Some(evidence.took_effect()) };
        // What a failure left may be nothing that the model can go on from. An old object that is still there, and
        // should not be, is for `steps` to tell, and what follows begins with it.
        let outcome = past.outcome(failed.as_deref()).ok();
        let has_targets = !past.options.target.is_empty();
        let outcome = match (&failed, outcome) {
            (None, Some(outcome)) if past.stage().action.changes_the_world() => {
                let (step, effects) = (past.step(), evidence.took_effect());
                let expected = &expectation.operations;
                Some(profile.semantics.after_less(outcome, &step.known(), expected, &effects, has_targets))
            }
            (_, outcome) => outcome,
        };
        let stage = past.stage();
        let trial = Trial {
            source: &case.source,
            stage,
            program_ref: &stage.program,
            program_is_deployed: !refreshes_only || past.step().outcome() == past.deployed.refreshed(),
            deployed: &past.deployed,
            options: &past.options,
            program: past.staged.target(&past.options),
            semantics: profile.semantics,
            plan: &plan,
            expectation: expectation.as_ref(),
            outcome: outcome.as_ref(),
            identity: profile.identity,
            repeated: stage.repeats.as_ref().and_then(|name| repeated.get(name)),
            evidence: &evidence,
            world,
        };
        found.extend(oracles.iter().flat_map(|oracle| oracle.judge(&trial)));
        verdict.exercised.count(&trial, oracles);
        look(&trial);
        if is_repeated.contains(stage.name.as_str()) {
            repeated.insert(stage.name.clone(), Repeated::of(&evidence, world));
        }
        if stage.judged_as == JudgedAs::Source && evidence.succeeded && stage.repeats.is_none() {
            verdict.world = Some(meaning_of(world, |key| ignores_label(&past.staged.batch.program, key)));
        }
        judged += 1;
        let name = stage.name.clone();
        // What comes after a stage that did less than was due begins with what it left, as after one that failed.
        let fell_short = failed.or_else(|| {
            let effects = evidence.took_effect();
            let mut due = expectation.operations.difference(&expectation.optional);
            let is_done =
                |operation: &ResourceOperation| effects.iter().any(|effect| effect.operation == *operation);
            (has_targets && due.any(|operation| !is_done(operation))).then_some(effects)
        });
        verdict.failed.extend(fell_short.map(|effects| (name, effects)));
        match &outcome {
            Some(outcome) => history.end(&past, outcome),
            None => break,
        }
    }
    // All evidence has to be whole, also that of stages which the model cannot speak of.
    while evidence.next_stage()?.is_some() {}
    Ok(judged)
}

/// What is to be done in a stage, of what its step asks for.
fn expected<'a>(past: &PastStage<'_>, plan: &'a Expectation, left_out: &LeftOut) -> Cow<'a, Expectation> {
    let (stage, nothing) = (past.stage(), || Cow::Owned(Expectation::nothing(past.deployed.len())));
    if !stage.action.changes_the_world() || stage.is_to_be_refused(&plan.operations) {
        return nothing();
    }
    if stage.failures.is_empty() {
        return Cow::Borrowed(plan);
    }
    // What fails before anything is done leaves nothing to do.
    if stage.failures.iter().any(|failure| failure.operation.kind().is_none()) {
        return nothing();
    }
    let fails = |operation: &&ResourceOperation| {
        let is_it = |failure: &Failure| {
            *failure.key == *operation.key && failure.operation.kind() == Some(operation.kind)
        };
        stage.failures.iter().any(is_it)
    };
    let failing = plan.operations.iter().filter(fails).cloned().collect();
    Cow::Owned(past.step().expectation_with_failing(left_out, failing))
}

/// Whether changes of a resource's label are ignored: roads may then end in worlds with different ones.
fn ignores_label(program: &Configuration, key: &str) -> bool {
    program.node(key).is_some_and(|node| node.ignore_changes)
}
