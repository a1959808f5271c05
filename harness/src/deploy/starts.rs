//! Where stages began that are repeated later: the state is a file, and the world is the ledger, which only grows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use super::{DeployError, io_error};
use crate::case::StagedBatch;
use crate::private;

/// Where a stage works.
pub struct Place {
    /// The working directory.
    pub work: PathBuf,
    /// The ledger.
    pub ledger: PathBuf,
}

/// The starts of stages that are repeated.
pub struct Starts {
    repeated: BTreeSet<String>,
    starts: BTreeMap<String, Start>,
}

struct Start {
    state: Option<Vec<u8>>,
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
    pub fn note(&mut self, stage: &str, place: &Place, state_file: &str) -> Result<(), DeployError> {
        if !self.repeated.contains(stage) {
            return Ok(());
        }
        let state = place.work.join(state_file);
        let read = match fs::read(&state) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            read => Some(read.map_err(io_error("cannot read", &state))?),
        };
        let ledger = fs::metadata(&place.ledger).map_or(0, |ledger| ledger.len());
        self.starts.insert(stage.to_owned(), Start { state: read, ledger });
        Ok(())
    }

    /// Makes another place as the first one was when a stage began.
    pub fn restore(
        &self,
        stage: &str,
        from: &Place,
        to: &Place,
        state_file: &str,
    ) -> Result<(), DeployError> {
        let Some(start) = self.starts.get(stage) else { return Ok(()) };
        if let Some(state) = &start.state {
            let path = to.work.join(state_file);
            private::write(&path, state).map_err(io_error("cannot write", &path))?;
        }
        if start.ledger > 0 {
            let bytes = private::read_beginning(&from.ledger, start.ledger)
                .map_err(io_error("cannot read", &from.ledger))?;
            private::write(&to.ledger, bytes).map_err(io_error("cannot write", &to.ledger))?;
        }
        Ok(())
    }
}
