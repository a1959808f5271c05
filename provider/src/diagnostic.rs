//! What the provider has to say to the engine's user.

use crate::ledger::LedgerFailure;
use crate::value::{PathStep, ValueError};

/// A problem, told so that the user knows what happened, where, and what to do next. The provider has no warnings: what
/// is wrong stops the operation, and what is not needs no words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What happened, in a few words.
    pub summary: String,
    /// Where and why, and what to do next.
    pub detail: String,
    /// The attribute it is about; empty for the whole object.
    pub path: Vec<PathStep>,
}

impl Problem {
    /// A problem with the whole object.
    pub fn new(summary: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { summary: summary.into(), detail: detail.into(), path: Vec::new() }
    }

    /// The same problem, put down to an attribute.
    #[must_use]
    pub fn at(mut self, attribute: &str) -> Self {
        self.path = vec![PathStep::Attribute(attribute.to_owned())];
        self
    }

    /// The engine did not want to wait for the end.
    pub fn stopped() -> Self {
        Self::new(
            "The operation was stopped",
            "The engine asked the provider to stop what was in flight. Run the command again to continue.",
        )
    }

    /// The engine broke the protocol.
    pub fn engine(detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self::new(
            "The engine broke the plugin protocol",
            format!("{detail}\n\nThis is a bug in the engine, or in something between it and the provider."),
        )
    }
}

impl From<ValueError> for Problem {
    fn from(error: ValueError) -> Self {
        let mut problem = Self::engine(format!("It sent a value that cannot be read: {error}."));
        problem.path = error.path;
        problem
    }
}

impl From<LedgerFailure> for Problem {
    fn from(failure: LedgerFailure) -> Self {
        let problem = Self::new("The ledger cannot be used", format!("{failure}.\n\n{}", failure.advice()));
        match failure {
            LedgerFailure::NotAFile { .. }
            | LedgerFailure::NoFolder { .. }
            | LedgerFailure::NotWritable { .. }
            | LedgerFailure::Bad { .. } => problem.at("ledger"),
            _ => problem,
        }
    }
}
