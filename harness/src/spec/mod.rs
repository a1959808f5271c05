//! The specification: what a correct engine must do to get from what is deployed to what a program says.
//!
//! [`address`] is where a resource stands, [`program`] what is written, [`deployed`] what is there, [`action`]
//! what the engine is asked to do. A [`step`] leads from one deployed world to the next: [`changes`] says what
//! becomes of each resource, a [`discipline`] in which order an engine family does it, an [`expectation`] is
//! both. [`dependencies`] is the graph below all of them. [`rule`] has the rules with their sources, and
//! `docs/model.md` is the same as prose; together they are what the oracles judge by. The model asks for no more
//! than engines promise: two operations that it leaves unordered may overlap or come in any order.

pub mod action;
pub mod address;
pub mod changes;
pub mod dependencies;
pub mod deployed;
pub mod discipline;
pub mod expectation;
mod failing;
pub mod operation;
pub mod program;
pub mod rule;
pub mod step;

pub use action::{Action, FailingOperation, Failure, FailureKind, Options, PlanMode};
pub use address::{Address, InstanceAddress, InstanceKey};
pub use deployed::{Deployed, Drift, Instance};
pub use discipline::Discipline;
pub use expectation::{Expectation, Reason, ReplacementOrder, Via};
pub use operation::{Effect, OperationKind, ResourceOperation};
pub use program::{Block, EdgeKind, Program};
pub use rule::{LeftOut, Rule};
pub use step::Step;

#[cfg(test)]
pub mod notation;
#[cfg(test)]
mod tests;
