//! What reading evidence asks of an engine family: only its driver knows the words of its engines.

use std::fmt::Debug;
use std::path::Path;

use super::{
    Answer, FileRole, ObservedOperation, Output, Quote, StageRecord, StateComparison, StateDifference,
    StateFile, Topic, Unreadable,
};
use crate::spec::Query;

/// Whose word is taken for what was done in a stage.
#[derive(Debug, Clone)]
pub enum OperationsBy {
    /// The ledger's.
    Ledger,
    /// The engine's own: these are the operations that it says it did. There is no ledger to ask.
    Engine(Vec<ObservedOperation>),
}

/// Reads back what engines of a family leave.
pub trait Reader: Debug + Sync {
    /// What a file or folder in the working directory is for; none for one that no sound engine leaves.
    fn role_of(&self, path: &str) -> Option<FileRole>;

    /// Whether a command did what it was told, so that the next stage can follow.
    fn succeeded(&self, record: &StageRecord) -> bool;

    /// Whether a command told by its exit code that a plan is not empty.
    fn tells_of_changes(&self, record: &StageRecord) -> bool;

    /// What the engine printed on standard output and standard error.
    fn output(&self, stdout: &Path, stderr: &Path) -> Result<Output, Unreadable>;

    /// What the engine answered to a query on standard output.
    fn answer(&self, query: Query, stdout: &Path) -> Result<Answer, Unreadable>;

    /// The engine's state.
    fn state(&self, path: &Path) -> Result<StateFile, Unreadable>;

    /// How a state differs from the one before, beyond what may have changed; none if it does not.
    fn state_difference(
        &self,
        before: &Path,
        after: &Path,
        comparison: StateComparison,
    ) -> Result<Option<StateDifference>, Unreadable>;

    /// Whose word is taken for what was done: that of the ledger, unless the engine used no provider of ours.
    fn operations(&self, stdout: &Path) -> Result<OperationsBy, Unreadable> {
        let _ = stdout;
        Ok(OperationsBy::Ledger)
    }

    /// Lines of what the engine printed in the stage with this folder, for people.
    fn quote_output(&self, stage: &Path, topic: Topic) -> Vec<Quote>;

    /// What its state after the stage with this folder says of resources with these names, or of all, for people.
    fn quote_state(&self, stage: &Path, names: &[String]) -> Vec<Quote>;
}
