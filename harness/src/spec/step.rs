//! One step: from what is deployed to what a program says.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::action::Options;
use super::changes::{Changes, Reached};
use super::deployed::Deployed;
use super::discipline::Discipline;
use super::expectation::Expectation;
use super::operation::ResourceOperation;
use super::program::Program;
use super::rule::LeftOut;

/// A step that an engine is to take.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// What is deployed.
    pub deployed: &'a Deployed,
    /// What is to be deployed; for a destroy, nothing.
    pub program: &'a Program,
    /// How the engine is asked to do it.
    pub options: &'a Options,
    /// What the engine's family promises.
    pub discipline: &'a dyn Discipline,
}

impl Step<'_> {
    /// What becomes of each instance.
    pub fn changes(&self) -> Changes {
        let deployed = self.known();
        match self.reached(&deployed) {
            None => Changes::of(&deployed, self.program, self.options, self.discipline),
            Some(reached) => Changes::of(&deployed, &reached.program, &reached.options, self.discipline),
        }
    }

    /// What the engine must do, by all rules but some.
    pub fn expectation(&self, left_out: &LeftOut) -> Expectation {
        let changes = self.changes();
        let ordering = self.discipline.order(&changes, left_out);
        Expectation::new(&changes, ordering)
    }

    /// The same if some operations fail.
    pub fn expectation_with_failing(
        &self,
        left_out: &LeftOut,
        failing: BTreeSet<ResourceOperation>,
    ) -> Expectation {
        let changes = self.changes();
        let ordering = self.discipline.order(&changes, left_out);
        Expectation::new(&changes, ordering).with_failing(&changes, failing)
    }

    /// What is deployed after a step that succeeded.
    pub fn outcome(&self) -> Deployed {
        let deployed = self.known();
        match self.reached(&deployed) {
            None => self.changes().outcome(&deployed, self.program, self.options),
            Some(Reached { program, options }) => self.changes().outcome(&deployed, &program, &options),
        }
    }

    /// What is deployed, as far as the engine knows when it plans.
    pub fn known(&self) -> Cow<'_, Deployed> {
        if self.options.refresh && self.deployed.has_drifted() {
            Cow::Owned(self.deployed.refreshed())
        } else {
            Cow::Borrowed(self.deployed)
        }
    }

    fn reached(&self, deployed: &Deployed) -> Option<Reached> {
        (!self.options.target.is_empty()).then(|| self.program.reached(deployed, self.options))
    }
}
