//! A stage with its program, and what it leaves deployed if all goes as it should.

use std::sync::Arc;

use super::Batch;
use super::stage::{Defect, Stage};
use crate::spec::{Action, Configuration, Deployed, EdgeKind, NodeKey, Options, PlanMode, Semantics, Step};

/// A stage with the batch that its program is.
#[derive(Debug, Clone)]
pub struct StagedBatch<'a> {
    /// The stage.
    pub stage: &'a Stage,
    /// The program in the engine's working directory.
    pub batch: Arc<Batch>,
}

impl StagedBatch<'_> {
    /// What is to be deployed after the stage, by the options that count: a destroy leaves nothing, whatever is
    /// written.
    pub fn target(&self, options: &Options) -> &Configuration {
        match self.stage.action {
            Action::Destroy(_) => const { &Configuration::EMPTY },
            _ if options.mode == PlanMode::Destroy => const { &Configuration::EMPTY },
            _ => &self.batch.program,
        }
    }

    /// The step that it asks for, from what is deployed and by the options that count. A plan asks for the step that
    /// would follow.
    pub fn step<'a>(
        &'a self,
        deployed: &'a Deployed,
        options: &'a Options,
        semantics: &'a dyn Semantics,
    ) -> Step<'a> {
        Step { deployed, configuration: self.target(options), options, semantics }
    }

    /// What is deployed after it, if the engine succeeds and does what it is asked for.
    pub fn outcome(&self, deployed: &Deployed, options: &Options, semantics: &dyn Semantics) -> Deployed {
        match &self.stage.action {
            Action::ApplySaved(_) if options.mode == PlanMode::Refresh => deployed.refreshed(),
            Action::Apply(_) | Action::ApplySaved(_) | Action::Destroy(_) => {
                self.step(deployed, options, semantics).outcome()
            }
            Action::Plan(_) | Action::Query(_) => deployed.clone(),
            Action::Refresh(_) => deployed.refreshed(),
            Action::Mark(key) => deployed.clone().with_mark(key, true),
            Action::Unmark(key) => deployed.clone().with_mark(key, false),
            Action::Drift { key, change } => deployed.clone().drifted(key, change),
        }
    }
}

/// A batch with a defect.
pub fn broken(batch: &Batch, defect: &Defect) -> Batch {
    let mut broken = batch.clone();
    broken.defect = Some(defect.clone());
    let mut depend = |resource: &NodeKey, dependency: NodeKey, kind: EdgeKind| {
        if let Some(node) = broken.program.meaning.nodes.get_mut(resource) {
            Arc::make_mut(&mut node.dependencies).insert(dependency, kind);
        }
    };
    match defect {
        Defect::Cycle { resource, dependent } => depend(resource, dependent.clone(), EdgeKind::DependsOn),
        Defect::Dangling { resource } => {
            depend(resource, "nowhere".into(), EdgeKind::DependsOn);
        }
        // Engines take no notice of a resource that depends on itself by `depends_on`.
        Defect::SelfReference { resource } => depend(resource, resource.clone(), EdgeKind::Refs),
        // These are no part of what a program can mean: whoever writes it out knows them.
        Defect::UnknownArgument { .. }
        | Defect::MissingArgument { .. }
        | Defect::WrongType { .. }
        | Defect::Twice { .. }
        | Defect::EmptyKey { .. } => {}
        Defect::PreventDestroy { resource } => {
            if let Some(node) = broken.program.meaning.nodes.get_mut(resource) {
                node.prevent_destroy = true;
            }
        }
    }
    broken
}
