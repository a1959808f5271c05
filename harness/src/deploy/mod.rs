//! Deploying a variant on a real engine, stage by stage, and keeping the evidence.
//!
//! [`driver`] is what is asked of an engine and [`terraform`] the one that answers so far. [`access`] is how
//! an engine reaches the mock provider: [`provider`] keeps one up for engines to attach to, [`mirror`] is a
//! folder to install it from. [`process`] runs one engine command in a process group of its own, [`evidence`]
//! is what remains on disk: all that the oracles see. [`hold`] says how the provider holds operations.
//! `surroundings` tells what is not the engine's doing, [`provider_log`] whether the provider crashed.
//! [`stop`] ends it early, [`spent`] is where the time went.

pub mod access;
pub mod driver;
pub mod evidence;
pub mod hold;
pub mod mirror;
pub mod process;
pub mod provider;
pub mod provider_log;
pub mod spent;
pub mod stop;
mod surroundings;
pub mod terraform;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::case::{Batch, Case, CaseError};
use crate::private;
use crate::render::Syntax;
use access::{Access, Way};
use driver::Driver;
use evidence::{Stage, StageRecord};
use hold::Hold;
use process::{Command, Ended};
use spent::Spent;
use stop::Stop;
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
    /// The engine could not make its folder ready.
    #[error("the engine could not prepare its folder by `{command}`: {said}")]
    Preparation {
        /// The command.
        command: String,
        /// What it printed.
        said: String,
    },
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

/// How an engine is run, as people choose it. What it does must not depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manner {
    /// How it reaches the provider.
    pub provider: Way,
    /// How programs are written.
    pub syntax: Syntax,
    /// How operations are held.
    #[serde(default = "Hold::before_there_was_a_choice")]
    pub hold: Hold,
}

/// An engine, and how it is run.
#[derive(Debug, Clone)]
pub struct Runner {
    /// The engine.
    pub engine: Arc<dyn Driver>,
    /// How it reaches the provider.
    pub access: Access,
    /// How its programs are written.
    pub syntax: Syntax,
    /// How the provider holds its operations.
    pub hold: Hold,
    /// How long one command may take.
    pub patience: Duration,
    /// The wish of whoever wants it to end.
    pub stop: Stop,
    /// Where the time goes.
    pub spent: Arc<Spent>,
}

impl Runner {
    /// Whether it was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.asked()
    }

    /// Deploys one variant of a case into a folder, up to its destruction. It stops after a stage in which the engine
    /// failed.
    pub fn deploy(
        &self,
        case: &Case,
        variant: usize,
        folder: &Path,
    ) -> Result<Vec<StageRecord>, DeployError> {
        let other = (variant + 1) % case.variants.len();
        let batches = |variant| self.spent.generating.time(|| case.batches(variant));
        let (batches, other) = (batches(variant)?, batches(other)?);
        let work = folder.join("work");
        self.spent.keeping.time(|| make_folder(&work))?;
        self.prepare(&batches[0], &work)?;
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
            let seed = seed_of(case.seed, variant, stage);
            let record = self.stage(stage, seed, batch, &work, folder)?;
            if self.stop.asked_now() {
                return Err(DeployError::Stopped);
            }
            let (succeeded, stage) = (record.succeeded(), folder.join(&record.stage));
            self.spent.keeping.time(|| surroundings::check(folder, &stage, succeeded, &self.access))?;
            records.push(record);
            if !succeeded {
                break;
            }
        }
        self.spent.keeping.time(|| {
            let text = serde_json::to_string_pretty(&records).expect("records are JSON");
            write(&folder.join(evidence::STAGES), &text)?;
            fs::remove_dir_all(&work).map_err(io_error("cannot remove", &work))
        })?;
        Ok(records)
    }

    /// Makes the folder ready, if the engine needs that. Programs of one case need the same provider, so once
    /// is enough.
    fn prepare(&self, first: &Batch, work: &Path) -> Result<(), DeployError> {
        let Some(arguments) = self.engine.preparation(&self.access) else { return Ok(()) };
        let program = self.program(first);
        write(&work.join(self.syntax.file()), &program)?;
        let (stdout, stderr) = (work.join("prepare.out"), work.join("prepare.err"));
        let ended = self
            .command(work)
            .run(arguments, &stdout, &stderr, self.patience)
            .map_err(io_error("cannot run", self.engine.executable()))?;
        self.spent.engine.add(ended.took);
        if ended.end == Ended::Exit(0) {
            return Ok(());
        }
        if self.stop.asked_now() {
            return Err(DeployError::Stopped);
        }
        let said = fs::read_to_string(&stderr).unwrap_or_default();
        Err(DeployError::Preparation { command: arguments.join(" "), said: said.trim().to_owned() })
    }

    fn program(&self, batch: &Batch) -> String {
        self.spent.rendering.time(|| self.engine.render(&batch.deployment, &batch.order, self.syntax))
    }

    fn command(&self, work: &Path) -> Command {
        let mut command = Command::new(self.engine.executable(), work);
        command.stop = self.stop.clone();
        command.environment.extend(self.engine.environment(&self.access));
        command
    }

    fn stage(
        &self,
        stage: Stage,
        seed: u32,
        batch: &Batch,
        work: &Path,
        folder: &Path,
    ) -> Result<StageRecord, DeployError> {
        let kept = folder.join(stage.name());
        let program = self.program(batch);
        self.spent.keeping.time(|| {
            make_folder(&kept)?;
            write(&work.join(self.syntax.file()), &program)?;
            write(&kept.join(self.syntax.file()), &program)
        })?;
        let arguments = self.engine.command(stage);
        let mut command = self.command(work);
        command.environment.push(("EQUIFORM_LEDGER".into(), folder.join(evidence::LEDGER).into()));
        command.environment.push(("EQUIFORM_RUN".into(), stage.name().into()));
        command.environment.push(("EQUIFORM_HOLD".into(), self.hold.variable(seed).into()));
        let ended = command
            .run(arguments, &kept.join(evidence::OUTPUT), &kept.join(evidence::ERRORS), self.patience)
            .map_err(io_error("cannot run", self.engine.executable()))?;
        self.spent.engine.add(ended.took);
        let state = work.join(self.engine.state_file());
        if state.exists() {
            let copy = || private::copy(&state, &kept.join(evidence::STATE));
            self.spent.keeping.time(copy).map_err(io_error("cannot copy", &state))?;
        }
        Ok(StageRecord {
            stage: stage.name(),
            command: arguments.join(" "),
            exit: match ended.end {
                Ended::Exit(code) => Some(code),
                Ended::Signal(_) | Ended::TimedOut => None,
            },
            timed_out: ended.end == Ended::TimedOut,
            lock_left: work.join(self.engine.lock_file()).exists(),
            milliseconds: u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
            ledger_bytes: fs::metadata(folder.join(evidence::LEDGER)).map_or(0, |ledger| ledger.len()),
        })
    }
}

/// The seed by which operations of a stage go on: another one in each, and the same whenever a case is run.
fn seed_of(case: u64, variant: usize, stage: Stage) -> u32 {
    let text = format!("{case} {variant} {}", stage.name());
    u32::from_be_bytes(*Sha256::digest(text).first_chunk().expect("a SHA-256 has 32 bytes"))
}

fn make_folder(path: &Path) -> Result<(), DeployError> {
    private::create_folder(path).map_err(io_error("cannot make", path))
}

fn write(path: &Path, text: &str) -> Result<(), DeployError> {
    private::write(path, text).map_err(io_error("cannot write", path))
}

fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DeployError {
    let path = path.display().to_string();
    move |source| DeployError::Io { doing, path, source }
}
