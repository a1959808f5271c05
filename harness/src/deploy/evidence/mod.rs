//! What a deployment leaves on disk, and reading it back. The oracles see nothing else.
//!
//! Evidence is read stage by stage, each file once: [`ledger`] folds the ledger into the world as it goes,
//! [`requests`] holds what the engine sent against that world, [`output`] is what the engine printed,
//! [`state`] what it stored. No stage is kept once the next one is asked for.

mod ledger;
mod output;
mod requests;
mod state;

use std::path::{Path, PathBuf};

use equiform_proto::ledger::World;
use serde::{Deserialize, Serialize};

pub use ledger::Observed;
use ledger::StagedLedger;
pub use output::{Alarm, Output, Summary};
pub use requests::{Misfit, Requests};
pub use state::{Addresses, Content, State, StateDifference, StateFile, Stored};

/// The records of all stages.
pub const STAGES: &str = "stages.json";
/// The ledger of all stages.
pub const LEDGER: &str = "ledger.jsonl";
/// What the engine printed.
pub const OUTPUT: &str = "output.jsonl";
/// What the engine printed on stderr.
pub const ERRORS: &str = "stderr.txt";
/// The engine's state after the stage.
pub const STATE: &str = "state.json";

/// A step of a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// A batch, counted from 1.
    Batch(usize),
    /// The last batch once more.
    Idle,
    /// Another variant's program, planned on the state that this one reached.
    Cross,
    /// The end of everything.
    Destroy,
}

impl Stage {
    /// All stages of a variant with so many batches, in order.
    pub fn all(batches: usize) -> impl Iterator<Item = Self> {
        (1..=batches).map(Self::Batch).chain([Self::Idle, Self::Cross, Self::Destroy])
    }

    /// Its name: that of its folder, and the label of its entries in the ledger.
    pub fn name(self) -> String {
        match self {
            Self::Batch(number) => format!("batch-{number}"),
            Self::Idle => "idle".to_owned(),
            Self::Cross => "cross".to_owned(),
            Self::Destroy => "destroy".to_owned(),
        }
    }
}

/// How a stage's command went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageRecord {
    /// The stage's name.
    pub stage: String,
    /// The engine's command.
    pub command: String,
    /// Its exit code; none if it was killed.
    pub exit: Option<i32>,
    /// Whether its time ran out.
    pub timed_out: bool,
    /// Whether it left the state locked.
    pub lock_left: bool,
    /// How long it took.
    pub milliseconds: u64,
    /// How long the ledger was afterwards. A chain cannot show that lines are missing at its end; this can.
    pub ledger_bytes: u64,
}

impl StageRecord {
    /// Whether the engine did what it was told, so that the next stage can follow. A plan may tell of a
    /// difference by its exit code.
    pub fn succeeded(&self) -> bool {
        self.exit == Some(0) || (self.command.contains("-detailed-exitcode") && self.exit == Some(2))
    }
}

/// All that is known of a stage, but the world.
#[derive(Debug, Clone)]
pub struct StageEvidence {
    /// Which one.
    pub stage: Stage,
    /// How the command went.
    pub record: StageRecord,
    /// What was done in the world, in the order of the begins.
    pub operations: Vec<Observed>,
    /// What the engine sent along with its requests.
    pub requests: Requests,
    /// What began or ended after the command that had asked for it.
    pub late: Vec<String>,
    /// What the engine printed.
    pub output: Output,
    /// The engine's state afterwards.
    pub state: StateFile,
    /// Lineage and serial of the state before; none if there was none, or none that could be read.
    pub state_before: Option<(String, u64)>,
    /// How the state file differs from the one before, in stages that are to leave it as it is.
    pub state_difference: Option<StateDifference>,
}

#[cfg(test)]
impl StageEvidence {
    /// A stage of which nothing is known but its operations.
    pub fn without_state(stage: Stage, record: StageRecord, operations: Vec<Observed>) -> Self {
        Self {
            stage,
            record,
            operations,
            requests: Requests::default(),
            late: Vec::new(),
            output: Output::default(),
            state: StateFile::Missing,
            state_before: None,
            state_difference: None,
        }
    }
}

/// Evidence that cannot be read: a case for "inconclusive", never for a pass.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct Unreadable {
    path: String,
    why: String,
}

/// An error about a file.
fn unreadable<E: ToString>(path: &Path) -> impl Fn(E) -> Unreadable + '_ {
    move |why| Unreadable { path: path.display().to_string(), why: why.to_string() }
}

/// What a variant's deployment left, read stage by stage.
pub struct Evidence {
    folder: PathBuf,
    stages: std::vec::IntoIter<(Stage, StageRecord)>,
    ledger: StagedLedger,
    /// The stage before: its folder, and the lineage and serial of its state.
    before: Option<(PathBuf, Option<(String, u64)>)>,
}

impl Evidence {
    /// Opens the evidence of a variant with so many batches, and checks that it is as long as it was.
    pub fn open(folder: &Path, batches: usize) -> Result<Self, Unreadable> {
        let path = folder.join(STAGES);
        let bytes = std::fs::read(&path).map_err(unreadable(&path))?;
        let records: Vec<StageRecord> = serde_json::from_slice(&bytes).map_err(unreadable(&path))?;
        let due: Vec<Stage> = Stage::all(batches).collect();
        check_records(&records, &due).map_err(unreadable(&path))?;
        let recorded = records.last().map_or(0, |record| record.ledger_bytes);
        let ledger = StagedLedger::open(folder.join(LEDGER), recorded)?;
        let stages: Vec<_> = due.into_iter().zip(records).collect();
        Ok(Self { folder: folder.to_owned(), stages: stages.into_iter(), ledger, before: None })
    }

    /// The next stage, and the world after it.
    pub fn next_stage(&mut self) -> Result<Option<(StageEvidence, &World)>, Unreadable> {
        let Some((stage, record)) = self.stages.next() else {
            self.ledger.finish()?;
            return Ok(None);
        };
        let kept = self.folder.join(stage.name());
        let entries = self.ledger.take(&stage.name(), record.ledger_bytes)?;
        let output = Output::read(&kept.join(OUTPUT), &kept.join(ERRORS))?;
        let state = state::read(&kept.join(STATE))?;
        let version = state.state().map(|state| (state.lineage.clone(), state.serial));
        let before = self.before.replace((kept.clone(), version));
        let unchanged = matches!(stage, Stage::Idle | Stage::Cross).then_some(before.as_ref()).flatten();
        let state_difference = match unchanged {
            Some((before, _)) => {
                state::difference(&before.join(STATE), &kept.join(STATE), stage == Stage::Cross)?
            }
            None => None,
        };
        let evidence = StageEvidence {
            stage,
            record,
            operations: entries.operations,
            requests: entries.requests,
            late: entries.late,
            output,
            state,
            state_before: before.and_then(|(_, version)| version),
            state_difference,
        };
        Ok(Some((evidence, self.ledger.world())))
    }
}

/// A deployment has a record of every stage, up to the one in which the engine failed.
fn check_records(records: &[StageRecord], due: &[Stage]) -> Result<(), String> {
    if let Some((record, _)) = records.iter().zip(due).find(|(record, stage)| record.stage != stage.name()) {
        return Err(format!("{} is not the stage that is due there", record.stage));
    }
    if records.len() > due.len() {
        return Err(format!("there are {} stages, and the variant has {}", records.len(), due.len()));
    }
    if records.len() < due.len() && records.last().is_none_or(StageRecord::succeeded) {
        return Err(format!("there are {} stages of {}, and none failed", records.len(), due.len()));
    }
    Ok(())
}
