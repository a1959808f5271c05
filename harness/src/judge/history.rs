//! What was deployed when each stage of a variant began, by the model and by what was observed.

use std::collections::BTreeMap;

use crate::case::StagedBatch;
use crate::case::stage::Stage;
use crate::spec::deployed::NotModelled;
use crate::spec::{Action, Configuration, Deployed, Effect, Options, PlanMode, Semantics, Step};

/// What operations did in stages that failed, by the stages' names.
pub type Failed = BTreeMap<String, Vec<Effect>>;

/// A stage, and what was deployed when it began.
#[derive(Debug, Clone)]
pub struct PastStage<'a> {
    /// The stage, with its program.
    pub staged: StagedBatch<'a>,
    /// What was deployed.
    pub deployed: Deployed,
    /// What the engine takes for deployed where it orders deletes by what is written: see
    /// [`Semantics::before_destroy`].
    taken_for_deployed: Option<Deployed>,
    /// The same with all dependencies that a destroy may go by.
    taken_by_either: Option<Deployed>,
    /// How the engine was asked to do it: a saved plan was made by an earlier stage.
    pub options: Options,
    semantics: &'a dyn Semantics,
}

impl<'a> PastStage<'a> {
    /// The stage itself.
    pub fn stage(&self) -> &'a Stage {
        self.staged.stage
    }

    /// What its command is for.
    pub fn mode(&self) -> PlanMode {
        match self.stage().action {
            Action::Refresh(_) => PlanMode::Refresh,
            Action::Destroy(_) => PlanMode::Destroy,
            _ => self.options.mode,
        }
    }

    /// The step that it asks for. A plan asks for the step that would follow.
    pub fn step(&self) -> Step<'_> {
        let deployed = self.taken_for_deployed.as_ref().unwrap_or(&self.deployed);
        self.staged.step(deployed, &self.options, self.semantics)
    }

    /// The same from what was deployed, whatever the engine takes for that.
    pub fn step_from_deployed(&self) -> Step<'_> {
        self.staged.step(&self.deployed, &self.options, self.semantics)
    }

    /// The same by all dependencies that a destroy may go by; none if the stage destroys nothing.
    pub fn step_by_either(&self) -> Option<Step<'_>> {
        let deployed = self.taken_by_either.as_ref()?;
        Some(self.staged.step(deployed, &self.options, self.semantics))
    }

    /// What is deployed after it. `failed` is what operations did if the engine failed; a stage that did not has done
    /// all that it was to do.
    pub fn outcome(&self, failed: Option<&[Effect]>) -> Result<Deployed, NotModelled> {
        match failed {
            None => Ok(self.staged.outcome(&self.deployed, &self.options, self.semantics)),
            Some([]) => Ok(self.deployed.clone()),
            Some(effects) => {
                let step = self.staged.step(&self.deployed, &self.options, self.semantics);
                step.outcome_of_failure(effects)
            }
        }
    }
}

/// What is deployed from one stage to the next.
#[derive(Debug, Clone)]
pub struct History {
    semantics: &'static dyn Semantics,
    deployed: Deployed,
    /// By which options the plan was made that was saved last.
    saved: Options,
    /// What was deployed when stages began that are repeated later.
    began: BTreeMap<String, Deployed>,
    repeated: Vec<String>,
}

impl History {
    /// Before the first of these stages.
    pub fn of(stages: &[StagedBatch<'_>], semantics: &'static dyn Semantics) -> Self {
        let repeated = stages.iter().filter_map(|staged| staged.stage.repeats.clone()).collect();
        let (deployed, saved) = (Deployed::NOTHING, Options::USUAL);
        Self { semantics, deployed, saved, began: BTreeMap::new(), repeated }
    }

    /// A stage begins.
    pub fn begin<'a>(&mut self, staged: StagedBatch<'a>) -> PastStage<'a> {
        let deployed = match &staged.stage.repeats {
            Some(repeated) => self.began.get(repeated).cloned().unwrap_or_default(),
            None => self.deployed.clone(),
        };
        if self.repeated.contains(&staged.stage.name) {
            self.began.insert(staged.stage.name.clone(), deployed.clone());
        }
        let options = match &staged.stage.action {
            Action::ApplySaved(_) => self.saved.clone(),
            action => action.options().clone(),
        };
        let destroys = options.mode == PlanMode::Destroy;
        // What a target brings along is told by what is deployed; in which order it goes, by what is written too.
        let is_part =
            !options.target.is_empty() && (destroys || matches!(staged.stage.action, Action::Destroy(_)));
        let options = if is_part {
            let reach = self.semantics.reach(&deployed, &Configuration::EMPTY, &options.target);
            Options { target: reach.nodes, ..options }
        } else {
            options
        };
        let destroys = destroys || matches!(staged.stage.action, Action::Destroy(_));
        let program = &staged.batch.program;
        let taken_for_deployed = destroys.then(|| self.semantics.before_destroy(deployed.clone(), program));
        let taken_by_either =
            destroys.then(|| self.semantics.before_destroy_by_either(deployed.clone(), program));
        if options.save {
            self.saved = options.clone();
        }
        let semantics = self.semantics;
        PastStage { staged, deployed, taken_for_deployed, taken_by_either, options, semantics }
    }

    /// A stage has ended, and left this. What repeats an earlier one is put away.
    pub fn end(&mut self, past: &PastStage<'_>, outcome: &Deployed) {
        if past.stage().repeats.is_none() {
            self.deployed = outcome.clone();
        }
    }
}

/// All stages of a variant up to one, as far as the model can tell what was deployed.
pub fn up_to<'a>(
    stages: Vec<StagedBatch<'a>>,
    name: &str,
    failed: &Failed,
    semantics: &'static dyn Semantics,
) -> Vec<PastStage<'a>> {
    let (mut history, mut all) = (History::of(&stages, semantics), Vec::new());
    for staged in stages {
        let past = history.begin(staged);
        let failed = failed.get(&past.stage().name).map(Vec::as_slice);
        let (is_it, outcome) = (past.stage().name == name, past.outcome(failed));
        if let Ok(outcome) = &outcome {
            history.end(&past, outcome);
        }
        all.push(past);
        if is_it {
            return all;
        }
        if outcome.is_err() {
            break;
        }
    }
    // Not one of the stages, or nothing that the model can speak of.
    Vec::new()
}
