//! One step: from what is deployed to what a program says.

use super::action::Options;
use super::changes::Changes;
use super::deployed::Deployed;
use super::discipline::Discipline;
use super::expectation::Expectation;
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
}

impl Step<'_> {
    /// What becomes of each instance.
    pub fn changes(&self) -> Changes {
        Changes::of(self.deployed, self.program, self.options)
    }

    /// What an engine of a discipline must do, by all rules but some.
    pub fn expectation(&self, discipline: &dyn Discipline, left_out: &LeftOut) -> Expectation {
        let changes = self.changes();
        let ordering = discipline.order(&changes, left_out);
        Expectation::new(&changes, ordering)
    }
}
