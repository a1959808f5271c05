//! Deploying a variant on a real engine, stage by stage, and keeping the evidence.
//!
//! [`process`] runs one engine command in a process group of its own, [`provider`] keeps a mock provider up for engines
//! to attach to, [`evidence`] is what remains on disk: all that the oracles see. `surroundings` tells what is not the
//! engine's doing.

pub mod evidence;
pub mod process;
pub mod provider;
mod surroundings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::case::{Batch, Case, CaseError};
use crate::render;
use evidence::{Stage, StageRecord};
use process::{Command, Ended};
use provider::Attachment;
pub use surroundings::Unfit;

/// Why a variant could not be deployed: not the engine's doing.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// It was asked to stop.
    #[error("stopped before its end")]
    Stopped,
    /// The case is unusable.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The surroundings are no place to judge an engine in.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A file could not be written or read.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: String,
        /// The system's word.
        source: io::Error,
    },
}

/// An engine, and how it is run.
#[derive(Debug, Clone)]
pub struct Runner {
    /// The engine's executable.
    pub engine: PathBuf,
    /// How the provider is reached.
    pub attachment: Attachment,
    /// How long one command may take.
    pub patience: Duration,
    /// Set by whoever wants it to end: commands in flight are waited for, no other is begun.
    pub stop: Arc<AtomicBool>,
}

impl Runner {
    /// Whether it was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Deploys one variant of a case into a folder, up to its destruction. It stops after a stage in which the engine
    /// failed.
    pub fn deploy(
        &self,
        case: &Case,
        variant: usize,
        folder: &Path,
    ) -> Result<Vec<StageRecord>, DeployError> {
        let batches = case.batches(variant)?;
        let other = (variant + 1) % case.variants.len();
        let other = case.batches(other)?;
        let work = folder.join("work");
        make_folder(&work)?;
        let mut records = Vec::new();
        for stage in Stage::all(batches.len()) {
            if self.stopped() {
                return Err(DeployError::Stopped);
            }
            let batch = match stage {
                Stage::Batch(number) => &batches[number - 1],
                Stage::Cross => other.last().expect("a variant has a batch"),
                Stage::Idle | Stage::Destroy => batches.last().expect("a variant has a batch"),
            };
            let record = self.stage(stage, batch, &work, folder)?;
            let succeeded = record.succeeded();
            surroundings::check(
                folder,
                &folder.join(&record.stage),
                succeeded,
                &self.attachment.environment(),
            )?;
            records.push(record);
            if !succeeded {
                break;
            }
        }
        let text = serde_json::to_string_pretty(&records).expect("records are JSON");
        write(&folder.join(evidence::STAGES), &text)?;
        fs::remove_dir_all(&work).map_err(io_error("cannot remove", &work))?;
        Ok(records)
    }

    fn stage(
        &self,
        stage: Stage,
        batch: &Batch,
        work: &Path,
        folder: &Path,
    ) -> Result<StageRecord, DeployError> {
        let kept = folder.join(stage.name());
        make_folder(&kept)?;
        let program = render::hcl(&batch.deployment, &batch.order);
        write(&work.join("main.tf"), &program)?;
        write(&kept.join(evidence::PROGRAM), &program)?;
        let arguments: &[&str] = match stage {
            Stage::Batch(_) | Stage::Idle => &["apply", "-auto-approve", "-input=false", "-json"],
            Stage::Cross => &["plan", "-detailed-exitcode", "-input=false", "-json"],
            Stage::Destroy => &["destroy", "-auto-approve", "-input=false", "-json"],
        };
        let mut command = Command::new(&self.engine, work);
        command.environment.extend(self.attachment.environment());
        command.environment.push(("EQUIFORM_LEDGER".into(), folder.join(evidence::LEDGER).into()));
        command.environment.push(("EQUIFORM_RUN".into(), stage.name().into()));
        let ended = command
            .run(arguments, &kept.join(evidence::OUTPUT), &kept.join(evidence::ERRORS), self.patience)
            .map_err(io_error("cannot run", &self.engine))?;
        let state = work.join("terraform.tfstate");
        if state.exists() {
            fs::copy(&state, kept.join(evidence::STATE)).map_err(io_error("cannot copy", &state))?;
        }
        Ok(StageRecord {
            stage: stage.name(),
            command: arguments.join(" "),
            exit: match ended.end {
                Ended::Exit(code) => Some(code),
                Ended::Signal(_) | Ended::TimedOut => None,
            },
            timed_out: ended.end == Ended::TimedOut,
            lock_left: work.join(".terraform.tfstate.lock.info").exists(),
            milliseconds: u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
            ledger_bytes: fs::metadata(folder.join(evidence::LEDGER)).map_or(0, |ledger| ledger.len()),
        })
    }
}

fn make_folder(path: &Path) -> Result<(), DeployError> {
    fs::create_dir_all(path).map_err(io_error("cannot make", path))
}

fn write(path: &Path, text: &str) -> Result<(), DeployError> {
    fs::write(path, text).map_err(io_error("cannot write", path))
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DeployError {
    let path = path.display().to_string();
    move |source| DeployError::Io { doing, path, source }
}
