//! What Terraform and OpenTofu promise, and whatever takes their commands.
//!
//! `reach` is what `-target` brings along, `changes` what becomes of each resource and why, `order` has rules 1 to 8 of
//! `docs/model.md`, `failing` what is held back when operations fail, `remembered` what the state holds afterwards.

mod changes;
mod failing;
mod order;
mod reach;
mod remembered;

use std::collections::BTreeSet;

use super::{Ordering, Reach, Semantics};
use crate::spec::action::Options;
use crate::spec::changes::{Change, Changes};
use crate::spec::configuration::Configuration;
use crate::spec::deployed::{Deployed, NotModelled};
use crate::spec::expectation::Expectation;
use crate::spec::meaning::NodeKey;
use crate::spec::operation::{Effect, ResourceOperation};
use crate::spec::rule::{LeftOut, Rule};

/// The semantics of Terraform, of OpenTofu before 1.12, and of whatever takes their commands.
pub const TERRAFORM: &dyn Semantics = &Terraform { creation_triggers: false };

/// The semantics of OpenTofu from 1.12 on: `replace_triggered_by` also heeds that what it names is created.
pub const TOFU_FROM_1_12: &dyn Semantics = &Terraform { creation_triggers: true };

#[derive(Debug)]
struct Terraform {
    creation_triggers: bool,
}

impl Terraform {
    /// Whether such a change of what a `replace_triggered_by` names replaces what is triggered.
    fn triggers(&self, change: Change) -> bool {
        match change {
            Change::Updated | Change::Replaced => true,
            Change::Created => self.creation_triggers,
            Change::Kept | Change::Deleted => false,
        }
    }
}

impl Semantics for Terraform {
    fn rules(&self) -> &'static [Rule] {
        &Rule::ALL
    }

    fn reach(
        &self,
        deployed: &Deployed,
        configuration: &Configuration,
        targets: &BTreeSet<NodeKey>,
    ) -> Reach {
        reach::reach(deployed, configuration, targets)
    }

    fn changes(
        &self,
        deployed: &Deployed,
        configuration: &Configuration,
        options: &Options,
        reached: Option<&BTreeSet<NodeKey>>,
    ) -> Changes {
        changes::changes(self, deployed, configuration, options, reached)
    }

    fn order(&self, changes: &Changes, left_out: &LeftOut) -> Ordering {
        order::order(changes, left_out)
    }

    fn with_failing(
        &self,
        expectation: Expectation,
        changes: &Changes,
        failing: BTreeSet<ResourceOperation>,
    ) -> Expectation {
        failing::with_failing(expectation, changes, failing)
    }

    fn outcome(
        &self,
        changes: &Changes,
        deployed: &Deployed,
        configuration: &Configuration,
        reached: Option<&BTreeSet<NodeKey>>,
    ) -> Deployed {
        remembered::outcome(changes, deployed, configuration, reached)
    }

    fn after_failure(
        &self,
        deployed: &Deployed,
        configuration: &Configuration,
        effects: &[Effect],
    ) -> Result<Deployed, NotModelled> {
        remembered::after_failure(deployed, configuration, effects)
    }

    fn after_less(
        &self,
        outcome: Deployed,
        before: &Deployed,
        expected: &BTreeSet<ResourceOperation>,
        effects: &[Effect],
        is_limited: bool,
    ) -> Deployed {
        let outcome = remembered::with_objects_left(outcome, before, effects);
        // Engines are known to do less than they plan where they have targets.
        if is_limited { remembered::with_left_out(outcome, before, expected, effects) } else { outcome }
    }

    fn before_destroy(&self, deployed: Deployed, configuration: &Configuration) -> Deployed {
        remembered::before_destroy(deployed, configuration)
    }

    fn before_destroy_by_either(&self, deployed: Deployed, configuration: &Configuration) -> Deployed {
        remembered::before_destroy_by_either(deployed, configuration)
    }
}
