//! One step: from what is deployed to what a program says.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::action::Options;
use super::address::Address;
use super::changes::Changes;
use super::configuration::Configuration;
use super::deployed::{Deployed, NotModelled};
use super::expectation::Expectation;
use super::meaning::NodeKey;
use super::operation::{Effect, ResourceOperation};
use super::rule::LeftOut;
use super::semantics::{Reach, Semantics};

/// A step that an engine is to take.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// What is deployed.
    pub deployed: &'a Deployed,
    /// What is to be deployed; for a destroy, nothing.
    pub configuration: &'a Configuration,
    /// How the engine is asked to do it.
    pub options: &'a Options,
    /// What the engine's family promises.
    pub semantics: &'a dyn Semantics,
}

impl Step<'_> {
    /// What becomes of each node.
    pub fn changes(&self) -> Changes {
        let known = self.known();
        match self.reach() {
            None => self.semantics.changes(&known, self.configuration, self.options, None),
            Some(Reach { configuration, nodes }) => {
                self.semantics.changes(&known, &configuration, self.options, Some(&nodes))
            }
        }
    }

    /// What the engine must do, by all rules but some.
    pub fn expectation(&self, left_out: &LeftOut) -> Expectation {
        let changes = self.changes();
        Expectation::new(&changes, self.semantics.order(&changes, left_out))
    }

    /// The same if some operations fail.
    pub fn expectation_with_failing(
        &self,
        left_out: &LeftOut,
        failing: BTreeSet<ResourceOperation>,
    ) -> Expectation {
        let changes = self.changes();
        let expectation = Expectation::new(&changes, self.semantics.order(&changes, left_out));
        self.semantics.with_failing(expectation, &changes, failing)
    }

    /// What is deployed after a step that succeeded.
    pub fn outcome(&self) -> Deployed {
        let known = self.known();
        let changes = self.changes();
        match self.reach() {
            None => self.semantics.outcome(&changes, &known, self.configuration, None),
            Some(Reach { configuration, nodes }) => {
                self.semantics.outcome(&changes, &known, &configuration, Some(&nodes))
            }
        }
    }

    /// What is deployed after a step that failed, by what its operations did.
    pub fn outcome_of_failure(&self, effects: &[Effect]) -> Result<Deployed, NotModelled> {
        self.semantics.after_failure(&self.known(), self.configuration, effects)
    }

    /// What is deployed, as far as the engine knows when it plans.
    pub fn known(&self) -> Cow<'_, Deployed> {
        if self.options.refresh && self.deployed.has_drifted() {
            Cow::Owned(self.deployed.refreshed())
        } else {
            Cow::Borrowed(self.deployed)
        }
    }

    /// The address of a node: where the program writes it, or else where the engine remembers it.
    pub fn address(&self, key: &NodeKey) -> Address {
        let remembered = || self.deployed.memory.node(key).map(|it| it.address.clone());
        let is_written = self.configuration.node(key).is_some();
        let written = || self.configuration.encoding.address(key);
        if is_written { written() } else { remembered().unwrap_or_else(written) }
    }

    /// How far it reaches; none if it is not limited.
    pub fn reach(&self) -> Option<Reach> {
        let targets = &self.options.target;
        (!targets.is_empty()).then(|| self.semantics.reach(&self.known(), self.configuration, targets))
    }
}
