//! What a deployment leaves on disk, and reading it back. The oracles see nothing else.
//!
//! Nothing here knows which engine it was: a [`Reader`] of its family reads what it printed and stored. Evidence is
//! read stage by stage, each file once: `ledger` folds the ledger into the world as it goes and shows each entry to
//! an observer, `output` is what the engine printed and `message` each of its messages, `state` what it stored, `quote`
//! a line of any of it. No stage is kept once the next one is asked for. Nothing here makes a judgement: whoever reads
//! the evidence says what to look at.

mod answer;
mod directory;
mod excess;
mod ledger;
mod message;
mod output;
mod quote;
mod reader;
mod state;

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use equiform_proto::control::Calls;
use equiform_proto::faults::Faults;
use equiform_proto::ledger::World;
use serde::{Deserialize, Serialize};

use crate::case::stage::Stage;
use crate::spec::{Action, Effect};
pub use answer::{Answer, PlanContradiction, PlannedObject, ShownObject, ShownPlan, WrittenResource};
pub use directory::{Cost, Directory, FileRecord, FileRole, MOST_FILES, SeenDirectory};
pub use excess::{Excess, Limited};
use ledger::StagedLedger;
pub use ledger::{LateEntry, LedgerObserver, ObservedOperation};
pub use message::{
    Diagnostic, Flaw, Message, MessageProblem, Moment, Part, PlannedChange, PlannedReason, Position,
    Reported, ReportedRead, Summary,
};
pub use output::{Alarm, AlarmMeaning, CycleNode, EngineError, NodeOperation, Output, Refusal, Warning};
pub use quote::{Quote, Topic};
pub use reader::{OperationsBy, Reader};
pub use state::{
    Addresses, Content, Identity, Irregularity, State, StateChange, StateComparison, StateDifference,
    StateFile, StatePlace, Stored, StoredIdentity, StoredOutput, StoredSetting,
};

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

/// What a command promises to say by its exit code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitCodes {
    /// 0 is success.
    #[default]
    Usual,
    /// 2 is success too, of a plan that is not empty.
    TwoIsAChange,
}

impl ExitCodes {
    /// Whether they say no more than success or failure.
    pub fn are_usual(&self) -> bool {
        *self == Self::Usual
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
    /// The limit that it exceeded, for which it was ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceeded: Option<Excess>,
    /// The programs that it left running when it had ended by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_running: Vec<String>,
    /// The files in its working directory, and its output, that changed after it had ended by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_late: Vec<String>,
    /// The signal by which the provider was killed while it ran, with no other command under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_killed: Option<i32>,
    /// Whether it left the state locked.
    pub lock_left: bool,
    /// Whether it removed the lock that another command held.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lock_broken: bool,
    /// How long it took.
    pub milliseconds: u64,
    /// What the command promised to say by its exit code.
    #[serde(default, skip_serializing_if = "ExitCodes::are_usual")]
    pub exit_codes: ExitCodes,
    /// How long the ledger was afterwards. A chain cannot show that lines are missing at its end; this can.
    pub ledger_bytes: u64,
    /// Whether it ran in a process that runs other commands too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm: bool,
    /// What it called, where the provider was up and counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// What it took, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// The working directory afterwards; none of commands that are not the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Directory>,
}

impl StageRecord {
    /// The record of a command that succeeded at once, wrote nothing to the ledger and left nothing behind.
    pub fn new(stage: &str, command: &str) -> Self {
        Self {
            stage: stage.to_owned(),
            command: command.to_owned(),
            exit: Some(0),
            timed_out: false,
            exceeded: None,
            left_running: Vec::new(),
            changed_late: Vec::new(),
            provider_killed: None,
            lock_left: false,
            lock_broken: false,
            milliseconds: 0,
            exit_codes: ExitCodes::Usual,
            ledger_bytes: 0,
            warm: false,
            calls: None,
            cost: None,
            directory: None,
        }
    }

    /// Whether the engine came to an end by itself and left nothing half done, so that another command can follow,
    /// be it after a failure.
    pub fn ended_in_order(&self) -> bool {
        self.exit.is_some() && !self.timed_out && !self.lock_left && self.provider_killed.is_none()
    }

    /// How the command ended, in a few words.
    pub fn ending(&self) -> String {
        match (self.exit, self.timed_out, self.exceeded) {
            (_, _, Some(_)) => "exceeded a limit".to_owned(),
            (_, true, None) => "ran out of time".to_owned(),
            (Some(code), false, None) => format!("exit {code}"),
            (None, false, None) => "killed".to_owned(),
        }
    }
}

/// All that is known of a stage, but the world.
#[derive(Debug, Clone)]
pub struct StageEvidence {
    /// How the command went.
    pub record: StageRecord,
    /// Whether the engine did what the command asks for.
    pub succeeded: bool,
    /// Whether its exit code says that its plan is not empty.
    pub tells_of_changes: bool,
    /// What was done in the world, in the order of the begins.
    pub operations: Vec<ObservedOperation>,
    /// What began or ended after the command that had asked for it.
    pub late: Vec<LateEntry>,
    /// What the engine printed.
    pub output: Output,
    /// What it answered, if it was asked something and succeeded.
    pub answer: Option<Answer>,
    /// The engine's state afterwards.
    pub state: StateFile,
    /// The engine's state before; none if there was none, or none that could be read.
    pub state_before: Option<Arc<State>>,
    /// How the state file differs from the one before, if that was asked for.
    pub state_difference: Option<StateDifference>,
    /// The working directory afterwards.
    pub directory: Option<SeenDirectory>,
    /// The same after the command before. A repetition has a directory of its own, and none before.
    pub directory_before: Option<SeenDirectory>,
}

impl StageEvidence {
    /// The operations that took effect, in the order of their ends.
    pub fn took_effect(&self, faults: &Faults) -> Vec<Effect> {
        let ended = self.operations.iter().filter_map(|observed| match observed.end {
            Some((seq, true)) => Some((seq, observed)),
            _ => None,
        });
        let mut ended: Vec<(u64, &ObservedOperation)> = ended.collect();
        ended.sort_unstable_by_key(|(seq, _)| *seq);
        let effect = |observed: &ObservedOperation| match observed.fault {
            Some(_) => Effect::faulty(&observed.operation, faults),
            None => Effect::whole(&observed.operation),
        };
        ended.into_iter().map(|(_, observed)| effect(observed)).collect()
    }
}

#[cfg(test)]
impl StageEvidence {
    /// A stage of which nothing is known but its operations.
    pub fn without_state(record: StageRecord, operations: Vec<ObservedOperation>) -> Self {
        Self {
            succeeded: record.exit == Some(0),
            tells_of_changes: false,
            record,
            operations,
            late: Vec::new(),
            output: Output::default(),
            answer: None,
            state: StateFile::Missing,
            state_before: None,
            state_difference: None,
            directory: None,
            directory_before: None,
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
pub fn unreadable<E: ToString>(path: &Path) -> impl Fn(E) -> Unreadable + '_ {
    move |why| Unreadable { path: path.display().to_string(), why: why.to_string() }
}

/// What a variant's deployment left, read stage by stage.
pub struct Evidence<'a> {
    folder: PathBuf,
    reader: &'a dyn Reader,
    stages: VecDeque<(&'a Stage, StageRecord)>,
    ledger: StagedLedger,
    /// The stage before: its folder, and its state.
    before: Option<Before>,
    /// The stage before each one that is repeated.
    before_repeated: BTreeMap<String, Option<Before>>,
    /// The ledger of the stage at hand, if that is a repetition.
    repetition: Option<StagedLedger>,
    /// The working directory after the last command that was no repetition.
    directory: Option<SeenDirectory>,
}

/// The folder of a stage, and the state that it left.
type Before = (PathBuf, Option<Arc<State>>);

impl<'a> Evidence<'a> {
    /// Opens the evidence of a variant with these stages, and checks that it is as long as it was.
    pub fn open(
        folder: &Path,
        stages: impl IntoIterator<Item = &'a Stage>,
        reader: &'a dyn Reader,
    ) -> Result<Self, Unreadable> {
        let (path, records) = (folder.join(STAGES), records(folder)?);
        let due: Vec<&Stage> = stages.into_iter().collect();
        check_records(&records, &due, reader).map_err(unreadable(&path))?;
        // A repetition has a ledger of its own.
        let mut in_this = records.iter().zip(&due).filter(|(_, stage)| stage.repeats.is_none());
        let recorded = in_this.next_back().map_or(0, |(record, _)| record.ledger_bytes);
        let ledger = StagedLedger::open(folder.join(LEDGER), recorded)?;
        let stages = due.into_iter().zip(records).collect();
        Ok(Self {
            folder: folder.to_owned(),
            reader,
            stages,
            ledger,
            before: None,
            before_repeated: BTreeMap::new(),
            repetition: None,
            directory: None,
        })
    }

    /// The next stage, and the world after it.
    pub fn next_stage(&mut self) -> Result<Option<(StageEvidence, &World)>, Unreadable> {
        self.next_stage_with(&mut (), None)
    }

    /// The same with somebody who looks at the entries of the ledger. The state is compared with the one before, if
    /// that is asked for.
    pub fn next_stage_with(
        &mut self,
        observer: &mut dyn LedgerObserver,
        comparison: Option<StateComparison>,
    ) -> Result<Option<(StageEvidence, &World)>, Unreadable> {
        let Some((stage, record)) = self.stages.pop_front() else {
            self.ledger.finish()?;
            return Ok(None);
        };
        let kept = self.folder.join(&stage.name);
        if self.stages.iter().any(|(later, _)| later.repeats.as_ref() == Some(&stage.name)) {
            self.before_repeated.insert(stage.name.clone(), self.before.clone());
        }
        // A repetition has a ledger of its own, which begins as the other one was when the repeated stage began.
        self.repetition = match stage.repeats {
            Some(_) => Some(StagedLedger::open(kept.join(LEDGER), record.ledger_bytes)?),
            None => None,
        };
        let ledger = self.repetition.as_mut().unwrap_or(&mut self.ledger);
        if stage.repeats.is_some() {
            ledger.skip_to(&stage.name)?;
        }
        let entries = ledger.take(&stage.name, record.ledger_bytes, observer)?;
        if let Some(repetition) = &mut self.repetition {
            repetition.finish()?;
        }
        // What a query is answered with are no messages.
        let answer = match stage.action {
            Action::Query(query) if self.reader.succeeded(&record) => {
                Some(self.reader.answer(query, &kept.join(OUTPUT))?)
            }
            _ => None,
        };
        let output = match answer {
            Some(_) => Output::default(),
            None => self.reader.output(&kept.join(OUTPUT), &kept.join(ERRORS))?,
        };
        let operations_by = self.reader.operations(&kept.join(OUTPUT))?;
        let state = self.reader.state(&kept.join(STATE))?;
        let remembered = state.state().cloned();
        let before = match &stage.repeats {
            Some(repeated) => self.before_repeated.get(repeated).cloned().flatten(),
            None => self.before.replace((kept.clone(), remembered)),
        };
        let succeeded = self.reader.succeeded(&record);
        let state_difference = match before.as_ref().zip(comparison) {
            Some(((before, _), comparison)) => {
                self.reader.state_difference(&before.join(STATE), &kept.join(STATE), comparison)?
            }
            None => None,
        };
        let seen =
            |directory: &Directory| SeenDirectory::new(directory.clone(), |path| self.reader.role_of(path));
        let directory = record.directory.as_ref().map(seen);
        check_state(&record, directory.as_ref(), &kept.join(STATE))?;
        let directory_before = match (&stage.repeats, &directory) {
            (None, Some(now)) => self.directory.replace(now.clone()),
            _ => None,
        };
        let evidence = StageEvidence {
            directory,
            directory_before,
            succeeded,
            tells_of_changes: self.reader.tells_of_changes(&record),
            record,
            operations: match operations_by {
                OperationsBy::Ledger => entries.operations,
                OperationsBy::Engine(operations) => operations,
            },
            late: entries.late,
            output,
            answer,
            state,
            state_before: before.and_then(|(_, remembered)| remembered),
            state_difference,
        };
        let ledger = self.repetition.as_ref().unwrap_or(&self.ledger);
        Ok(Some((evidence, ledger.world())))
    }
}

/// The records of the stages that were reached.
pub fn records(folder: &Path) -> Result<Vec<StageRecord>, Unreadable> {
    let path = folder.join(STAGES);
    let bytes = std::fs::read(&path).map_err(unreadable(&path))?;
    serde_json::from_slice(&bytes).map_err(unreadable(&path))
}

/// The state that was kept is the one that the command left: where it is gone or cut, the engine is not to blame.
fn check_state(
    record: &StageRecord,
    directory: Option<&SeenDirectory>,
    kept: &Path,
) -> Result<(), Unreadable> {
    // Of a command that exceeded a limit, only the beginning is kept.
    let Some(directory) = directory.filter(|_| record.exceeded.is_none()) else { return Ok(()) };
    let left = directory.with_role(FileRole::State).map(|state| state.bytes);
    let there = std::fs::metadata(kept).ok().map(|state| state.len());
    if left == there {
        return Ok(());
    }
    let bytes =
        |size: Option<u64>| size.map_or("no state".to_owned(), |size| format!("a state of {size} bytes"));
    Err(unreadable(kept)(format!("the command left {}, and there is {}", bytes(left), bytes(there))))
}

/// A deployment has a record of every stage, or up to one in which the engine failed.
fn check_records(records: &[StageRecord], due: &[&Stage], reader: &dyn Reader) -> Result<(), String> {
    if let Some((record, _)) = records.iter().zip(due).find(|(record, stage)| record.stage != stage.name) {
        return Err(format!("{} is not the stage that is due there", record.stage));
    }
    if records.len() > due.len() {
        return Err(format!("there are {} stages, and the variant has {}", records.len(), due.len()));
    }
    let ended_early = |record: &StageRecord| !reader.succeeded(record) || record.provider_killed.is_some();
    if records.len() < due.len() && !records.last().is_some_and(ended_early) {
        return Err(format!("there are {} stages of {}, and none failed", records.len(), due.len()));
    }
    Ok(())
}
