//! What was deployed when each stage of a variant began, by the model and by what was observed.

use std::collections::BTreeMap;

use crate::case::StagedBatch;
use crate::case::stage::Stage;
use crate::spec::deployed::NotModelled;
use crate::spec::{Action, Deployed, Options, ResourceOperation, Step};

/// The operations that took effect in stages that failed, by the stages' names.
pub type Failed = BTreeMap<String, Vec<ResourceOperation>>;

/// A stage, and what was deployed when it began.
#[derive(Debug, Clone)]
pub struct PastStage<'a> {
    /// The stage, with its program.
    pub staged: StagedBatch<'a>,
    /// What was deployed.
    pub deployed: Deployed,
    /// How the engine was asked to do it.
    pub options: &'a Options,
}

impl<'a> PastStage<'a> {
    /// The first stage of a variant.
    pub fn first(staged: StagedBatch<'a>) -> Self {
        Self { options: staged.stage.action.options(), staged, deployed: Deployed::NOTHING }
    }

    /// The stage itself.
    pub fn stage(&self) -> &'a Stage {
        self.staged.stage
    }

    /// The step that it asks for. A plan asks for the step that would follow.
    pub fn step(&self) -> Step<'_> {
        Step { deployed: &self.deployed, program: self.staged.target(), options: self.options }
    }

    /// The stage after it, which began with what this one left. `failed` has the operations that took effect if the
    /// engine failed; a stage that did not has deployed its program.
    pub fn next(
        self,
        staged: StagedBatch<'a>,
        failed: Option<&[ResourceOperation]>,
    ) -> Result<Self, NotModelled> {
        let deployed = match failed {
            _ if !self.stage().action.changes_the_world() => self.deployed.clone(),
            Some(operations) => self.deployed.after(self.staged.target(), operations)?,
            None => Deployed::by(self.staged.target()),
        };
        let deployed = match staged.stage.action {
            Action::Destroy(_) => deployed.with_written(&staged.batch.program),
            Action::Apply(_) | Action::Plan(_) | Action::ApplySaved(_) => deployed,
        };
        let options = match staged.stage.action {
            // A saved plan was made by the stage before.
            Action::ApplySaved(_) => self.options,
            Action::Apply(_) | Action::Plan(_) | Action::Destroy(_) => staged.stage.action.options(),
        };
        Ok(Self { staged, deployed, options })
    }
}

/// All stages of a variant up to one, as far as the model can tell what was deployed.
pub fn up_to<'a>(stages: Vec<StagedBatch<'a>>, name: &str, failed: &Failed) -> Vec<PastStage<'a>> {
    let mut past: Vec<PastStage<'a>> = Vec::new();
    for staged in stages {
        let next = match past.last() {
            None => Ok(PastStage::first(staged)),
            Some(last) => {
                let failed = failed.get(&last.stage().name).map(Vec::as_slice);
                last.clone().next(staged, failed)
            }
        };
        let Ok(next) = next else { break };
        let is_it = next.stage().name == name;
        past.push(next);
        if is_it {
            return past;
        }
    }
    // Not one of the stages, or nothing that the model can speak of.
    Vec::new()
}
