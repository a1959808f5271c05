//! The specification: what a correct engine must do to get from what is deployed to what a program says.
//!
//! Four things are kept apart: [`meaning`] is what is to be there, [`encoding`] how it is written ([`configuration`]
//! is both), [`world`] the objects that exist, [`memory`] what the engine remembers of them ([`deployed`] is both).
//! [`action`] is what the engine is asked to do. A [`step`] leads from what is deployed to a program: [`changes`]
//! says what becomes of each node, an [`expectation`] which operations are due and in which order. What differs
//! between engine families is behind one trait, [`semantics`]. [`dependencies`] is the graph below all of them.
//! [`rule`] has the rules with their sources, and `docs/model.md` is the same as prose; together they are what the
//! oracles judge by. The model asks for no more than engines promise: two operations that it leaves unordered may
//! overlap or come in any order.

pub mod action;
pub mod address;
pub mod changes;
pub mod configuration;
pub mod dependencies;
pub mod deployed;
pub mod encoding;
pub mod expectation;
pub mod meaning;
pub mod memory;
pub mod operation;
pub mod rule;
pub mod semantics;
pub mod step;
pub mod text;
pub mod world;

pub use action::{Action, Options, PlanMode, Query, SavedOptions};
pub use address::{Address, InstanceKey};
pub use configuration::Configuration;
pub use deployed::Deployed;
pub use encoding::Encoding;
pub use expectation::{Expectation, Reason, ReplacementOrder, Via};
pub use meaning::{EdgeKind, Meaning, Node, NodeKey};
pub use memory::{Current, Memory, Remembered};
pub use operation::{Effect, ObjectRole, OperationKind, ResourceOperation};
pub use rule::{LeftOut, Rule};
pub use semantics::Semantics;
pub use step::Step;
pub use world::{Drift, World};

#[cfg(test)]
pub mod notation;
#[cfg(test)]
mod tests;
