//! Deployments that begin where an earlier one came to: state and world are files, so what two of them have in common
//! need not be done twice.

use std::path::Path;

use super::{DeployError, io_error, make_folder};
use crate::case::{Case, StagedBatch};
use crate::evidence::{self, StageRecord};
use crate::private;
use crate::util::files::{Copying, copy_folder};

/// Where working directories are kept as they were after each stage, in the folder of a deployment.
pub const CHECKPOINTS: &str = "checkpoints";

/// What a deployment can begin from.
#[derive(Debug, Default)]
pub struct Checkpoints<'a> {
    /// An earlier deployment that left checkpoints: its case, and the folder of its evidence. It was of the same
    /// variant, on the same engine and in the same way.
    pub earlier: Option<(&'a Case, &'a Path)>,
}

impl Checkpoints<'_> {
    /// Makes folders as they were in the earlier deployment after the last of the stages that both have in common.
    /// Gives the records of these stages.
    pub(super) fn restore(
        &self,
        stages: &[StagedBatch<'_>],
        key: impl Fn(&StagedBatch<'_>) -> String,
        variant: usize,
        folder: &Path,
        work: &Path,
    ) -> Result<Vec<StageRecord>, DeployError> {
        let Some((case, earlier)) = self.earlier else { return Ok(Vec::new()) };
        let (Ok(before), Ok(mut records)) = (case.stages(variant), evidence::records(earlier)) else {
            return Ok(Vec::new());
        };
        let common = stages.iter().zip(&before).take_while(|(one, other)| key(one) == key(other)).count();
        // The last stage is always deployed, and what is repeated has to begin here.
        let repeated = |place: &usize| {
            let name = Some(&stages[*place].stage.name);
            stages.iter().any(|later| later.stage.repeats.as_ref() == name)
        };
        let common = (0..common.min(stages.len() - 1)).take_while(|place| !repeated(place)).count();
        let kept = |count: usize| earlier.join(CHECKPOINTS).join((count - 1).to_string());
        let Some(common) = (1..=common.min(records.len())).rev().find(|count| kept(*count).is_dir()) else {
            return Ok(Vec::new());
        };
        records.truncate(common);
        copy(&kept(common), work)?;
        let ledger = records[common - 1].ledger_bytes;
        if ledger > 0 {
            let (from, to) = (earlier.join(evidence::LEDGER), folder.join(evidence::LEDGER));
            let bytes = private::read_beginning(&from, ledger).map_err(io_error("cannot read", &from))?;
            private::write(&to, bytes).map_err(io_error("cannot write", &to))?;
        }
        for (place, record) in records.iter().enumerate() {
            copy(&earlier.join(&record.stage), &folder.join(&record.stage))?;
            if kept(place + 1).is_dir() {
                make_folder(&folder.join(CHECKPOINTS))?;
                copy(&kept(place + 1), &folder.join(CHECKPOINTS).join(place.to_string()))?;
            }
        }
        Ok(records)
    }
}

/// Keeps the working directory as it is after the stage in a place.
pub(super) fn leave(folder: &Path, place: usize, work: &Path) -> Result<(), DeployError> {
    make_folder(&folder.join(CHECKPOINTS))?;
    copy(work, &folder.join(CHECKPOINTS).join(place.to_string()))
}

/// Copies a folder. Who may run a file stays as it is: engines leave no programs behind, but scripts around them may.
fn copy(from: &Path, to: &Path) -> Result<(), DeployError> {
    copy_folder(from, to, Copying::AsTheyAre, &[]).map_err(io_error("cannot copy", from))
}
