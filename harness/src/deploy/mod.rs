//! Deploying a variant on a real engine, stage by stage, and keeping the evidence.
//!
//! [`access`] makes the mock provider reachable: [`provider`] keeps one up for engines to attach to, [`mirror`] is a
//! folder to install it from. [`process`] runs one engine command in a process group of its own. [`hold`] says how
//! the provider holds operations. `environment` tells what is not the engine's doing, [`provider_log`] whether the
//! provider crashed. [`stop`] ends it early, [`time_spent`] is where the time went.

pub mod access;
mod environment;
pub mod hold;
pub mod mirror;
pub mod process;
pub mod provider;
pub mod provider_log;
pub mod stop;
pub mod time_spent;

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::case::{Batch, Case, CaseError, StagedBatch};
use crate::engines::driver::{Access, Driver, ProviderMode, Syntax};
use crate::evidence::{self, StageRecord};
use crate::private;
pub use environment::EnvironmentError;
use hold::Hold;
use process::{Command, Ended};
use provider_log::ProviderLog;
use stop::Stop;
use time_spent::TimeSpent;

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
    /// The environment is no place to judge an engine in.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// A file could not be written or read.
    #[error("{doing} {path}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file.
        path: String,
        /// The operating system's error.
        source: io::Error,
    },
}

/// How an engine is run, as people choose it. What it does must not depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// How it reaches the provider.
    pub provider: ProviderMode,
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
    /// What the provider says of itself.
    pub provider_log: Arc<ProviderLog>,
    /// How its programs are written.
    pub syntax: Syntax,
    /// How the provider holds its operations.
    pub hold: Hold,
    /// How long one command may take.
    pub timeout: Duration,
    /// The wish of whoever wants it to end.
    pub stop: Stop,
    /// Where the time goes.
    pub spent: Arc<TimeSpent>,
}

impl Runner {
    /// Whether it was asked to stop.
    pub fn stopped(&self) -> bool {
        self.stop.asked()
    }

    /// Deploys one variant of a case into a folder, stage by stage. It goes on after a failure, from whatever that
    /// left, unless the engine was killed, ran out of time or left the state locked.
    pub fn deploy(
        &self,
        case: &Case,
        variant: usize,
        folder: &Path,
    ) -> Result<Vec<StageRecord>, DeployError> {
        let stages = self.spent.generating.time(|| case.stages(variant))?;
        let work = folder.join("work");
        self.spent.keeping.time(|| make_folder(&work))?;
        self.prepare(&stages[0].batch, &work)?;
        let reader = self.engine.family().reader;
        let mut records = Vec::new();
        for staged in &stages {
            if self.stopped() {
                return Err(DeployError::Stopped);
            }
            let seed = seed_of(case.seed, variant, &staged.stage.name);
            let record = self.stage(staged, seed, &work, folder)?;
            if self.stop.asked_now() {
                return Err(DeployError::Stopped);
            }
            let (succeeded, stage) = (reader.succeeded(&record), folder.join(&record.stage));
            self.spent
                .keeping
                .time(|| environment::check(folder, &stage, succeeded, &self.access, &self.provider_log))?;
            let ended_in_order = record.ended_in_order();
            records.push(record);
            if !succeeded && !ended_in_order {
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
        write(&work.join(self.engine.program_file(self.syntax)), &self.program(first))?;
        let (stdout, stderr) = (work.join("prepare.out"), work.join("prepare.err"));
        let ended = self
            .command(work)
            .run(&arguments, &stdout, &stderr, self.timeout)
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
        self.spent.rendering.time(|| self.engine.render(&batch.program, &batch.order, self.syntax))
    }

    fn command(&self, work: &Path) -> Command {
        let mut command = Command::new(self.engine.executable(), work);
        let names = std::env::vars_os().map(|(name, _)| name);
        command.removed.extend(names.filter(|name| {
            let name = name.to_string_lossy();
            name.starts_with("EQUIFORM_") || self.engine.is_steered_by(&name)
        }));
        command.stop = self.stop.clone();
        command.environment.extend(self.engine.environment(&self.access));
        command
    }

    fn stage(
        &self,
        staged: &StagedBatch<'_>,
        seed: u32,
        work: &Path,
        folder: &Path,
    ) -> Result<StageRecord, DeployError> {
        let name = &staged.stage.name;
        let (kept, file) = (folder.join(name), self.engine.program_file(self.syntax));
        let program = self.program(&staged.batch);
        self.spent.keeping.time(|| {
            make_folder(&kept)?;
            write(&work.join(file), &program)?;
            write(&kept.join(file), &program)
        })?;
        let arguments = self.engine.arguments(&staged.stage.action);
        let mut command = self.command(work);
        command.environment.push(("EQUIFORM_LEDGER".into(), folder.join(evidence::LEDGER).into()));
        command.environment.push(("EQUIFORM_RUN".into(), name.into()));
        command.environment.push(("EQUIFORM_HOLD".into(), self.hold.variable(seed).into()));
        let ended = command
            .run(&arguments, &kept.join(evidence::OUTPUT), &kept.join(evidence::ERRORS), self.timeout)
            .map_err(io_error("cannot run", self.engine.executable()))?;
        self.spent.engine.add(ended.took);
        let state = work.join(self.engine.state_file());
        if state.exists() {
            let copy = || private::copy(&state, &kept.join(evidence::STATE));
            self.spent.keeping.time(copy).map_err(io_error("cannot copy", &state))?;
        }
        Ok(StageRecord {
            stage: name.clone(),
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
fn seed_of(case: u64, variant: usize, stage: &str) -> u32 {
    let text = format!("{case} {variant} {stage}");
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
