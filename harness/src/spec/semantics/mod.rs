//! What an engine family promises: everything that differs between families is behind one trait.
//!
//! Each family has a folder of its own. The rest of the specification is the same for all of them: meaning, encoding,
//! world, memory, operations, and an expectation as data.

pub mod terraform;

use std::collections::BTreeSet;
use std::fmt::Debug;

use super::action::Options;
use super::changes::{Changes, NumberedOperation};
use super::configuration::Configuration;
use super::dependencies::Number;
use super::deployed::{Deployed, NotModelled};
use super::expectation::{Expectation, Reason, ReplacementOrder};
use super::meaning::NodeKey;
use super::operation::{Effect, ResourceOperation};
use super::rule::{LeftOut, Rule};

/// The semantics by which workflows choose what they do. A case is made before its engine is known, and must be the
/// same for all engines that are compared.
pub const FOR_CHOICES: &dyn Semantics = terraform::TERRAFORM;

/// The order of a step's operations, over numbers.
#[derive(Debug, Default)]
pub struct Ordering {
    /// Pairs of which the first must have ended before the second begins. Of several reasons for a pair the first
    /// one counts.
    pub pairs: Vec<(NumberedOperation, NumberedOperation, Reason)>,
    /// What is replaced, and which operation comes first.
    pub replacements: Vec<(Number, ReplacementOrder)>,
}

/// How far a step reaches that is limited to targets.
#[derive(Debug, Clone)]
pub struct Reach {
    /// What is to be there: what the step reaches as the program says, everything else as it is.
    pub configuration: Configuration,
    /// The nodes that the step reaches: the targets, and all that they bring along.
    pub nodes: BTreeSet<NodeKey>,
}

/// What an engine family promises.
pub trait Semantics: Debug + Sync {
    /// The rules that its engines are judged by.
    fn rules(&self) -> &'static [Rule];

    /// What targets reach: themselves, and all that the engine adds to them.
    fn reach(&self, deployed: &Deployed, configuration: &Configuration, targets: &BTreeSet<NodeKey>)
    -> Reach;

    /// What becomes of each node on the way from what the engine knows to be deployed to a program. `reached` are the
    /// nodes that the step is limited to; none if it has no limits.
    fn changes(
        &self,
        deployed: &Deployed,
        configuration: &Configuration,
        options: &Options,
        reached: Option<&BTreeSet<NodeKey>>,
    ) -> Changes;

    /// In which order the operations are done, by all rules but some.
    fn order(&self, changes: &Changes, left_out: &LeftOut) -> Ordering;

    /// What is expected if some operations fail.
    fn with_failing(
        &self,
        expectation: Expectation,
        changes: &Changes,
        failing: BTreeSet<ResourceOperation>,
    ) -> Expectation;

    /// What is deployed and remembered after all changes are made.
    fn outcome(
        &self,
        changes: &Changes,
        deployed: &Deployed,
        configuration: &Configuration,
        reached: Option<&BTreeSet<NodeKey>>,
    ) -> Deployed;

    /// What a step leaves behind that failed, by what its operations did, in the order in which they took effect.
    fn after_failure(
        &self,
        deployed: &Deployed,
        configuration: &Configuration,
        effects: &[Effect],
    ) -> Result<Deployed, NotModelled>;

    /// What a step that succeeded leaves behind if it did less than expected. `outcome` is what should be there, and
    /// `is_limited` whether the step had targets.
    fn after_less(
        &self,
        outcome: Deployed,
        before: &Deployed,
        expected: &BTreeSet<ResourceOperation>,
        effects: &[Effect],
        is_limited: bool,
    ) -> Deployed;

    /// What an engine takes for deployed when it destroys everything with a program in hand that may never have been
    /// deployed.
    fn before_destroy(&self, deployed: Deployed, configuration: &Configuration) -> Deployed;

    /// The same with everything that may hold a delete back, by what is deployed or by what is written.
    fn before_destroy_by_either(&self, deployed: Deployed, configuration: &Configuration) -> Deployed;
}
