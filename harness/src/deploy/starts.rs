//! Where stages began that are repeated later: the engine's memory is a snapshot, and the
//! world is the ledger, which only grows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use super::{DeployError, io_error};
use crate::case::StagedBatch;
use crate::engines::workspace::{Snapshot, Workspace};
use crate::private;

/// Where a stage works.
pub struct Place {
    /// The working directory.
    pub work: PathBuf,
    /// The ledger.
    pub ledger: PathBuf,
    /// Where what the engine prints is written.
    pub output: PathBuf,
}

/// The starts of stages that are repeated.
pub struct Starts {
    repeated: BTreeSet<String>,
    starts: BTreeMap<String, Start>,
}

struct Start {
    /// What the engine remembered.
    memory: Snapshot,
    /// How long the ledger was.
    ledger: u64,
}

impl Starts {
    /// Of those that some of these stages repeat.
    pub fn of(stages: &[StagedBatch<'_>]) -> Self {
        let repeated = stages.iter().filter_map(|staged| staged.stage.repeats.clone()).collect();
        Self { repeated, starts: BTreeMap::new() }
    }

    /// A stage begins in a place.
    pub fn note(&mut self, stage: &str, place: &Place, workspace: &dyn Workspace) -> Result<(), DeployError> {
        if !self.repeated.contains(stage) {
            return Ok(());
        }
        let memory = workspace.snapshot(&place.work).map_err(io_error("cannot read", &place.work))?;
        let ledger = fs::metadata(&place.ledger).map_or(0, |ledger| ledger.len());
        self.starts.insert(stage.to_owned(), Start { memory, ledger });
        Ok(())
    }

    /// Makes another place as the first one was when a stage began.
    pub fn restore(
        &self,
        stage: &str,
        from: &Place,
        to: &Place,
        workspace: &dyn Workspace,
    ) -> Result<(), DeployError> {
        let Some(start) = self.starts.get(stage) else { return Ok(()) };
        workspace.restore(&to.work, &start.memory).map_err(io_error("cannot write", &to.work))?;
        if start.ledger > 0 {
            let bytes = private::read_beginning(&from.ledger, start.ledger)
                .map_err(io_error("cannot read", &from.ledger))?;
            private::write(&to.ledger, bytes).map_err(io_error("cannot write", &to.ledger))?;
        }
        Ok(())
    }
}
