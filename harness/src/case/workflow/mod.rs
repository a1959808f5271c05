//! Workflows: ways to drive an engine through the batches of a variant. Each has a name and a file, and names the
//! strongest property that it shares with applying one batch after the other.
//!
//! A workflow makes the list of a variant's stages. The case stores them, so it can be run and judged without it.

mod back;
mod breach;
mod course;
mod destroy_by_pieces;
mod drift;
mod drift_of_several;
mod empty_program;
mod failure;
mod failure_elsewhere;
mod feature;
mod locked;
mod no_refresh;
mod parallelism;
mod plain;
mod queries;
mod refresh_only;
mod refused;
mod repeat;
mod replace;
mod saved_options;
mod saved_plan;
mod shares;
mod taint;
mod targets;
mod twice;

use std::sync::Arc;

use serde::Serialize;

use super::Batch;
use super::stage::Stage;
use crate::spec::Semantics;
use course::Course;
pub use feature::Feature;
pub use shares::{Shares, SharesError};

/// What a workflow shares with plain applies of the same variant. Each value includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unchanged {
    /// The world after the last batch.
    World,
    /// Also what the engine's state says about it.
    State,
    /// Also the set of operations.
    Operations,
    /// Also the operations of every step.
    Steps,
    /// Also their order.
    Order,
}

impl Unchanged {
    /// A phrase for the help.
    pub fn text(self) -> &'static str {
        match self {
            Self::World => "the final world",
            Self::State => "the final world and state",
            Self::Operations => "the set of operations",
            Self::Steps => "the operations of every step",
            Self::Order => "the operations of every step and their order",
        }
    }
}

/// A way to drive an engine.
pub struct Workflow {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub about: &'static str,
    /// The strongest property that it shares with plain applies.
    pub unchanged: Unchanged,
    /// What an engine must offer to be driven so.
    pub needs: &'static [Feature],
    stages: fn(&mut Course<'_>),
}

impl Workflow {
    /// The stages for a variant with these batches. `other` is the variant whose last batch is planned at the end. The
    /// seed decides all choices among what is possible by the semantics.
    pub fn stages(
        &self,
        batches: &[Arc<Batch>],
        other: usize,
        semantics: &dyn Semantics,
        seed: u64,
    ) -> Vec<Stage> {
        let mut course = Course::new(batches, other, semantics, seed);
        (self.stages)(&mut course);
        course.stages
    }

    /// The workflow with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        WORKFLOWS.iter().find(|workflow| workflow.name == name)
    }
}

/// The name of the plain workflow.
pub fn plain_name() -> String {
    WORKFLOWS[0].name.to_owned()
}

/// All workflows.
pub const WORKFLOWS: &[Workflow] = &[
    plain::WORKFLOW,
    saved_plan::WORKFLOW,
    saved_options::WORKFLOW,
    no_refresh::WORKFLOW,
    parallelism::WORKFLOW,
    refresh_only::WORKFLOW,
    targets::WORKFLOW,
    replace::WORKFLOW,
    taint::WORKFLOW,
    twice::WORKFLOW,
    back::WORKFLOW,
    empty_program::WORKFLOW,
    destroy_by_pieces::WORKFLOW,
    refused::WORKFLOW,
    repeat::WORKFLOW,
    failure::WORKFLOW,
    drift::WORKFLOW,
    breach::WORKFLOW,
    failure_elsewhere::WORKFLOW,
    drift_of_several::WORKFLOW,
    queries::WORKFLOW,
    locked::WORKFLOW,
];

#[cfg(test)]
mod tests;
