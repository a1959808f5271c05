//! The reference model: what a correct engine must do to get from one deployed program to the next.
//!
//! [`description`] is what a program says of each resource, [`expectation`] what follows from two of them: the
//! operations, and the order they must keep. [`rule`] has the rules with their sources, [`numbered`] is how it steps
//! through large programs. `docs/model.md` is the same as prose; together they are the specification that the oracles
//! judge by. The model asks for no more than engines promise: two operations that it leaves unordered may
//! overlap or come in any order.

pub mod description;
pub mod expectation;
pub mod numbered;
pub mod rule;

pub use description::{Deployment, EdgeKind, ResourceDescription};
pub use expectation::{Expectation, ExpectedOperation, Kind, Reason, ReplacementOrder, Via};
pub use rule::{LeftOut, Rule};

#[cfg(test)]
pub mod notation;
#[cfg(test)]
mod tests;
