//! Judging one stage after the other, with a model of the program or without.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use equiform_proto::faults::Fault;
use equiform_proto::ledger::World;

use super::finding::{Finding, OracleId};
use super::history::{History, PastStage};
use super::observe::meaning_of;
use super::oracles::{Input, ModelView, Oracle, Repeated, Trial, comparison};
use super::requests::{RequestCheck, Requests};
use super::verdict::VariantVerdict;
use crate::case::stage::{JudgedAs, Stage};
use crate::case::{Case, StagedBatch};
use crate::engines::driver::EngineProfile;
use crate::evidence::{ERRORS, Evidence, StageEvidence, Unreadable, unreadable};
use crate::spec::{
    Action, Configuration, Deployed, Effect, Expectation, LeftOut, OperationKind, Options, PlanMode,
    ResourceOperation, Semantics,
};

/// Evidence with what is remembered from one stage to the next while it is judged.
struct JudgedEvidence<'a> {
    evidence: Evidence<'a>,
    requests: RequestCheck,
    /// The stages that are repeated later.
    is_repeated: BTreeSet<String>,
    /// What they did.
    repeated: BTreeMap<String, Repeated>,
}

impl<'a> JudgedEvidence<'a> {
    fn open(folder: &Path, stages: &[&'a Stage], profile: &EngineProfile) -> Result<Self, Unreadable> {
        let evidence = Evidence::open(folder, stages.iter().copied(), profile.reader)?;
        let is_repeated = stages.iter().filter_map(|stage| stage.repeats.clone()).collect();
        Ok(Self { evidence, requests: RequestCheck::default(), is_repeated, repeated: BTreeMap::new() })
    }

    /// What is left of the next stage, which is this one: its evidence, its requests, and the world after it.
    fn next(&mut self, stage: &Stage) -> Result<Option<(StageEvidence, Requests, &World)>, Unreadable> {
        // A repetition begins where the repeated stage began, and is put away.
        let mut own = RequestCheck::default();
        let requests = if stage.repeats.is_some() { &mut own } else { &mut self.requests };
        let Some((evidence, world)) = self.evidence.next_stage_with(requests, comparison(stage))? else {
            return Ok(None);
        };
        let found = requests.finish_stage();
        // Whatever has drifted is in the state now.
        let writes = stage.action.changes_the_world() || matches!(stage.action, Action::Refresh(_));
        if writes && evidence.succeeded {
            requests.forget_drift();
        }
        if self.is_repeated.contains(&stage.name) {
            self.repeated.insert(stage.name.clone(), Repeated::of(&evidence, world));
        }
        Ok(Some((evidence, found, world)))
    }

    /// What the stage did that this one repeats.
    fn repeated_by(&self, stage: &Stage) -> Option<Repeated> {
        self.repeated.get(stage.repeats.as_ref()?).cloned()
    }

    /// Reads what is left: all evidence has to be whole, also that of stages which are not judged.
    fn finish(&mut self) -> Result<(), Unreadable> {
        while self.evidence.next_stage()?.is_some() {}
        Ok(())
    }
}

/// Judges the stages of a variant.
pub(super) struct StageJudge<'a> {
    /// What there is to know of the engine.
    pub profile: EngineProfile,
    /// The case.
    pub case: &'a Case,
    /// Who is asked.
    pub oracles: &'a [&'a Oracle],
    /// What is said of the variant.
    pub verdict: &'a mut VariantVerdict,
    /// What was found.
    pub found: &'a mut Vec<Finding>,
}

impl StageJudge<'_> {
    /// Asks the oracles about one stage after the other, and says how many there were that the model can speak of.
    pub fn judge(
        &mut self,
        stages: Vec<StagedBatch<'_>>,
        folder: &Path,
        look: &mut dyn FnMut(&Trial<'_>),
    ) -> Result<usize, Unreadable> {
        let names: Vec<&Stage> = stages.iter().map(|staged| staged.stage).collect();
        let mut evidence = JudgedEvidence::open(folder, &names, &self.profile)?;
        let (mut history, mut judged) = (History::of(&stages, self.profile.semantics), 0);
        for staged in stages {
            let past = history.begin(staged);
            let stage = past.stage();
            let repeated = evidence.repeated_by(stage);
            let Some((evidence, requests, world)) = evidence.next(stage)? else { break };
            if matches!(stage.action, Action::Drift { .. }) && !evidence.succeeded {
                // What was to change is not there, or there is no telling: the case goes no further.
                let said = std::fs::read_to_string(folder.join(&stage.name).join(ERRORS)).unwrap_or_default();
                let why = format!("the world could not be changed behind the engine's back: {}", said.trim());
                return Err(unreadable(&folder.join(&stage.name))(why));
            }
            let expected = Expected::of(&past, &self.case.left_out);
            let failed = (!evidence.succeeded).then(|| evidence.took_effect(&stage.faults));
            let outcome = expected.outcome(&past, &evidence, failed.as_deref(), self.profile.semantics);
            let trial = Trial {
                stage,
                options: &past.options,
                identity: self.profile.identity,
                setting: self.profile.setting,
                engine: self.case.engine.as_ref().map(|engine| &engine.id),
                version: self.profile.version,
                known_stderr: self.profile.known_stderr,
                backup_is_a_copy: self.profile.backup_is_a_copy,
                calls: &self.profile.calls,
                repeated: repeated.as_ref(),
                evidence: &evidence,
                requests: &requests,
                world,
                model: Some(ModelView {
                    source: &self.case.source,
                    program_is_deployed: expected.program_is_deployed,
                    deployed: &past.deployed,
                    program: past.staged.target(&past.options),
                    written: &past.staged.batch.program,
                    semantics: self.profile.semantics,
                    plan: &expected.plan,
                    expectation: expected.done(),
                    outcome: outcome.as_ref(),
                }),
            };
            self.found.extend(self.oracles.iter().flat_map(|oracle| oracle.judge(&trial)));
            self.verdict.exercised.count(&trial, self.oracles);
            look(&trial);
            if stage.judged_as == JudgedAs::Source && evidence.succeeded && stage.repeats.is_none() {
                let ignores = |key: &str| ignores_label(&past.staged.batch.program, key);
                self.verdict.world = Some(meaning_of(world, ignores));
            }
            judged += 1;
            let fell_short = failed.or_else(|| expected.fell_short(&past, &evidence));
            self.verdict.failed.extend(fell_short.map(|effects| (stage.name.clone(), effects)));
            match &outcome {
                Some(outcome) => history.end(&past, outcome),
                None => break,
            }
        }
        evidence.finish()?;
        Ok(judged)
    }
}

/// What the model expects of a stage.
struct Expected {
    plan: Expectation,
    /// What is to be done, if that is not all that is planned.
    done: Option<Expectation>,
    program_is_deployed: bool,
}

impl Expected {
    fn of(past: &PastStage<'_>, left_out: &LeftOut) -> Self {
        let refreshes_only =
            matches!(past.stage().action, Action::Refresh(_)) || past.options.mode == PlanMode::Refresh;
        let plan = if refreshes_only {
            Expectation::nothing(past.deployed.len())
        } else {
            past.step().expectation(left_out)
        };
        let done = match expected(past, &plan, left_out) {
            Cow::Borrowed(_) => None,
            Cow::Owned(done) => Some(done),
        };
        let program_is_deployed = !refreshes_only || past.step().outcome() == past.deployed.refreshed();
        Self { plan, done, program_is_deployed }
    }

    /// What is to be done.
    fn done(&self) -> &Expectation {
        self.done.as_ref().unwrap_or(&self.plan)
    }

    /// What is deployed after the stage. What a failure left may be nothing that the model can go on from. An old
    /// object that is still there, and should not be, is for `steps` to tell, and what follows begins with it.
    fn outcome(
        &self,
        past: &PastStage<'_>,
        evidence: &StageEvidence,
        failed: Option<&[Effect]>,
        semantics: &dyn Semantics,
    ) -> Option<Deployed> {
        let outcome = past.outcome(failed).ok()?;
        if failed.is_some() || !past.stage().action.changes_the_world() {
            return Some(outcome);
        }
        let (step, effects) = (past.step(), evidence.took_effect(&past.stage().faults));
        let (expected, has_targets) = (&self.done().operations, !past.options.target.is_empty());
        Some(semantics.after_less(outcome, &step.known(), expected, &effects, has_targets))
    }

    /// What a stage with targets did, if that is less than was expected: what comes after it begins with what it left,
    /// as after one that failed.
    fn fell_short(&self, past: &PastStage<'_>, evidence: &StageEvidence) -> Option<Vec<Effect>> {
        if past.options.target.is_empty() {
            return None;
        }
        let effects = evidence.took_effect(&past.stage().faults);
        let is_done =
            |operation: &ResourceOperation| effects.iter().any(|effect| effect.operation == *operation);
        let mut due = self.done().operations.difference(&self.done().optional);
        due.any(|operation| !is_done(operation)).then_some(effects)
    }
}

/// What is to be done in a stage, of what its step asks for.
fn expected<'a>(past: &PastStage<'_>, plan: &'a Expectation, left_out: &LeftOut) -> Cow<'a, Expectation> {
    let (stage, nothing) = (past.stage(), || Cow::Owned(Expectation::nothing(past.deployed.len())));
    if !stage.action.changes_the_world() || stage.is_to_be_refused(&plan.operations) {
        return nothing();
    }
    if stage.faults.is_empty() {
        return Cow::Borrowed(plan);
    }
    // What fails before anything is done leaves nothing to do.
    if stage.faults.iter().any(|fault| OperationKind::met_by(fault).is_none() && past.deployed.meets(fault)) {
        return nothing();
    }
    let fails = |operation: &&ResourceOperation| {
        let is_it = |fault: &Fault| {
            fault.call.key.as_deref() == Some(&*operation.key)
                && OperationKind::met_by(fault) == Some(operation.kind)
        };
        stage.faults.iter().any(is_it)
    };
    let failing: BTreeSet<ResourceOperation> = plan.operations.iter().filter(fails).cloned().collect();
    let mut done = past.step().expectation_with_failing(left_out, failing.clone());
    // A destroy may go by what was deployed as well as by what is written: it may wait by either, or by both.
    let steps = [Some(past.step_from_deployed()), past.step_by_either()];
    for other in steps.into_iter().flatten() {
        let other = other.expectation_with_failing(left_out, failing.clone());
        let is_sure = |it: &ResourceOperation| other.operations.contains(it) && !other.optional.contains(it);
        let unsure: Vec<_> = done.operations.iter().filter(|it| !is_sure(it)).cloned().collect();
        done.optional.extend(unsure);
    }
    Cow::Owned(done)
}

/// Whether changes of a resource's label are ignored: variants may then end in worlds with different ones.
fn ignores_label(program: &Configuration, key: &str) -> bool {
    program.node(key).is_some_and(|node| node.ignore_changes)
}

/// What can be said of evidence without a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithoutModel {
    /// What was found.
    pub findings: Vec<Finding>,
    /// The oracles that were asked; the others need a model.
    pub asked: Vec<OracleId>,
}

/// Judges evidence of which nothing is known but the stages: of a program that nobody has a model of. The oracles that
/// need no model are asked. How far it got does not matter, as long as what there is can be read.
pub fn without_model(
    profile: EngineProfile,
    stages: &[Stage],
    folder: &Path,
    oracles: &[&Oracle],
) -> Result<WithoutModel, Unreadable> {
    let available = [Input::Ledger, Input::State, Input::Output];
    let asked: Vec<&&Oracle> = oracles.iter().filter(|oracle| oracle.can_judge(&available)).collect();
    let mut evidence = JudgedEvidence::open(folder, &stages.iter().collect::<Vec<_>>(), &profile)?;
    let (mut findings, mut saved) = (Vec::new(), Options::USUAL);
    for stage in stages {
        let options = match &stage.action {
            Action::ApplySaved(_) => saved.clone(),
            action => action.options().clone(),
        };
        if options.save {
            saved = options.clone();
        }
        let repeated = evidence.repeated_by(stage);
        let Some((evidence, requests, world)) = evidence.next(stage)? else { break };
        let trial = Trial {
            stage,
            options: &options,
            identity: profile.identity,
            setting: profile.setting,
            engine: None,
            version: profile.version,
            known_stderr: profile.known_stderr,
            backup_is_a_copy: profile.backup_is_a_copy,
            calls: &profile.calls,
            repeated: repeated.as_ref(),
            evidence: &evidence,
            requests: &requests,
            world,
            model: None,
        };
        findings.extend(asked.iter().flat_map(|oracle| oracle.judge(&trial)));
    }
    evidence.finish()?;
    Ok(WithoutModel { findings, asked: asked.iter().map(|oracle| oracle.id).collect() })
}
