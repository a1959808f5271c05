//! The order in which an engine family does what a step asks for.

mod terraform;

use std::fmt::Debug;

use super::changes::{Change, Changes};
use super::dependencies::Number;
use super::expectation::{Reason, ReplacementOrder};
use super::operation::OperationKind;
use super::rule::LeftOut;

pub use terraform::{TERRAFORM, TOFU_FROM_1_12};

/// An operation on a number.
pub type NumberedOperation = (Number, OperationKind);

/// The order of a step's operations, over numbers.
#[derive(Debug, Default)]
pub struct Ordering {
    /// Pairs of which the first must have ended before the second begins. Of several reasons for a pair the first
    /// one counts.
    pub pairs: Vec<(NumberedOperation, NumberedOperation, Reason)>,
    /// What is replaced, and which operation comes first.
    pub replacements: Vec<(Number, ReplacementOrder)>,
}

/// What an engine family promises about the order of operations.
pub trait Discipline: Debug + Sync {
    /// The order of a step, by all rules but some.
    fn order(&self, changes: &Changes, left_out: &LeftOut) -> Ordering;

    /// Whether such a change of what a `replace_triggered_by` names replaces what is triggered.
    fn triggers(&self, change: Change) -> bool;
}
