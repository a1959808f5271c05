//! Deploying a variant on a real engine, stage by stage, and keeping the evidence.
//!
//! [`access`] makes the mock provider reachable: [`provider`] keeps one up for engines to attach to, and [`control`]
//! says which run it serves where; [`mirror`] is a folder to install it from. `stage` runs one stage. [`process`] runs
//! one engine command in a process group of its own, [`worker`] one after another in a process that stays, both within
//! [`limits`]; `processes` is what runs. [`hold`] says how the provider holds operations. `environment` is what is not
//! the engine's fault, [`provider_log`] whether the provider crashed. [`scratch`] is where engines work, `starts` where
//! a stage began that is repeated later, [`checkpoint`] where a deployment can begin that has its first stages in
//! common with an earlier one. [`stop`] ends it early, [`time_spent`] is where the time went.

pub mod access;
pub mod checkpoint;
pub mod control;
pub mod costs;
mod directory;
mod drift;
mod engine_command;
mod environment;
mod error;
pub mod hold;
pub mod limits;
pub mod mirror;
mod mode;
pub mod process;
mod processes;
mod program;
pub mod provider;
pub mod provider_log;
pub mod scratch;
mod stage;
mod starts;
pub mod stop;
pub mod time_spent;
mod usage;
pub mod worker;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use equiform_proto::control::ControlError;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::case::{Batch, Case, StagedBatch};
use crate::engines::driver::{Access, Driver, Syntax};
use crate::engines::workspace::ProgramFile;
use crate::evidence::{self, StageRecord};
use crate::private;
use crate::spec::Action;
use checkpoint::Checkpoints;
use control::ServedEndpoint;
pub use drift::drift_arguments;
pub use engine_command::engine_command;
use engine_command::own_variables;
pub use environment::{EnvironmentError, raise_file_limit};
pub use error::DeployError;
use error::io_error;
use hold::Hold;
use limits::Limits;
pub use mode::{Mode, Start};
use process::{Command, Ended};
use program::{remove_program, write_program};
use provider::{Incarnation, Server};
use provider_log::ProviderLog;
use scratch::Scratch;
use starts::{Place, Starts};
use stop::Stop;
use time_spent::TimeSpent;
use worker::{Worker, Workers};

/// In what process the commands of a deployment are run.
enum EngineProcess {
    /// Each in one of its own. All connect to this endpoint, if the provider is up.
    Cold(Option<ServedEndpoint>),
    /// All in this one.
    Warm(Worker),
}

/// An engine, and how it is run.
#[derive(Debug, Clone)]
pub struct Runner {
    /// The engine.
    pub engine: Arc<dyn Driver>,
    /// How it reaches the provider.
    pub access: Access,
    /// The provider's binary, which also changes the world behind the engine's back.
    pub provider: PathBuf,
    /// The provider that is up, if it is one that engines attach to and that another one can take the place of.
    pub server: Option<Arc<Server>>,
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
    /// Where it works; none for the variant's own folder.
    pub scratch: Option<Arc<Scratch>>,
    /// What keeps the engine warm; none if it is not.
    pub workers: Option<Arc<Workers>>,
}

/// How long one command may take unless somebody says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Runner {
    /// An engine that reaches a provider, run as usual: programs in HCL, operations held until the engine is quiet,
    /// and a process for each command, which works in the variant's folder. Change fields to run it otherwise.
    pub fn new(
        engine: Arc<dyn Driver>,
        access: Access,
        provider: PathBuf,
        provider_log: Arc<ProviderLog>,
    ) -> Self {
        Self {
            engine,
            access,
            provider,
            server: None,
            provider_log,
            syntax: Syntax::Hcl,
            hold: Hold::QUIET,
            timeout: TIMEOUT,
            stop: Stop::default(),
            spent: Arc::default(),
            scratch: None,
            workers: None,
        }
    }

    /// The same, with the engine kept warm if it can be. One that installs its providers itself is not: that is for
    /// seeing it as its users do.
    #[must_use]
    pub fn kept_warm(self) -> Self {
        let workers = match (&self.access, self.engine.worker()) {
            (Access::Served { control }, Some(program)) => Some(Arc::new(Workers::new(
                program,
                own_variables(|name| self.is_foreign(name)),
                (self.engine.clone(), control.clone()),
                self.stop.clone(),
                Limits::of_engine(&self.access),
            ))),
            _ => None,
        };
        Self { workers, ..self }
    }

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
        start: Start,
    ) -> Result<Vec<StageRecord>, DeployError> {
        self.deploy_on(case, variant, folder, start, None)
    }

    /// The same; it begins where an earlier deployment came to, as far as their stages are the same, and leaves
    /// checkpoints for later ones.
    pub fn deploy_on(
        &self,
        case: &Case,
        variant: usize,
        folder: &Path,
        start: Start,
        checkpoints: Option<&Checkpoints<'_>>,
    ) -> Result<Vec<StageRecord>, DeployError> {
        let since = self.provider_is_up()?;
        let mut process = match (start, &self.workers) {
            (Start::Warm, Some(workers)) => {
                let broken = |error| DeployError::Worker { stage: String::new(), error };
                EngineProcess::Warm(workers.take().map_err(broken)?)
            }
            _ => EngineProcess::Cold(self.endpoint()?),
        };
        let deployed = self.deploy_with(case, variant, folder, &mut process, checkpoints, since);
        let records = deployed.map_err(|error| match self.provider_killed(since) {
            Some(signal) if !matches!(error, DeployError::Stopped) => DeployError::ProviderKilled { signal },
            _ => error,
        })?;
        if let (Some(workers), EngineProcess::Warm(worker)) = (&self.workers, process) {
            let stage = records.last().map(|record| record.stage.clone()).unwrap_or_default();
            workers.give_back(worker).map_err(|error| DeployError::Worker { stage, error })?;
        }
        Ok(records)
    }

    fn deploy_with(
        &self,
        case: &Case,
        variant: usize,
        folder: &Path,
        process: &mut EngineProcess,
        checkpoints: Option<&Checkpoints<'_>>,
        since: Option<Incarnation>,
    ) -> Result<Vec<StageRecord>, DeployError> {
        let stages = self.spent.generating.time(|| case.stages(variant))?;
        let place = self.spent.keeping.time(|| self.place(folder, folder.join(evidence::LEDGER)))?;
        let own = &place.0;
        let work = &*own.work;
        self.prepare(own)?;
        let reader = self.engine.profile().reader;
        let mut starts = Starts::of(&stages);
        let key = |staged: &StagedBatch<'_>| self.key_of(case.seed, variant, staged);
        let mut records = match checkpoints {
            Some(checkpoints) => checkpoints.restore(&stages, key, variant, folder, work)?,
            None => Vec::new(),
        };
        // The program that is in the working directory.
        let mut written = self.program(&stages[records.len().saturating_sub(1)].batch);
        for (place, staged) in stages.iter().enumerate().skip(records.len()) {
            if self.stopped() {
                return Err(DeployError::Stopped);
            }
            let seed = seed_of(case.seed, variant, &staged.stage.name);
            let (workspace, program) = (self.engine.workspace(), self.program(&staged.batch));
            self.spent.keeping.time(|| starts.note(&staged.stage.name, own, workspace))?;
            let mut record = match &staged.stage.repeats {
                None => {
                    remove_program(&written, &program, work)?;
                    let record = self.stage(staged, &program, seed, own, folder, process)?;
                    written = program;
                    record
                }
                Some(repeated) => {
                    let kept = folder.join(&staged.stage.name);
                    make_folder(&kept)?;
                    let again =
                        self.spent.keeping.time(|| self.place(folder, kept.join(evidence::LEDGER)))?;
                    self.prepare(&again.0)?;
                    self.spent.keeping.time(|| starts.restore(repeated, own, &again.0, workspace))?;
                    self.stage(staged, &program, seed, &again.0, folder, process)?
                }
            };
            if self.stop.asked_now() {
                return Err(DeployError::Stopped);
            }
            let (succeeded, stage) = (reader.succeeded(&record), folder.join(&record.stage));
            let last = records.len() + 1 == stages.len();
            record.provider_killed = self.provider_killed(since);
            let killed = record.provider_killed.is_some();
            if (!succeeded || last) && !killed {
                let check = || {
                    environment::check(
                        folder,
                        work,
                        &stage,
                        succeeded || record.exceeded.is_some(),
                        &self.access,
                        &self.provider_log,
                    )
                };
                self.spent.keeping.time(check)?;
            }
            self.spent.costs.add(&record, &folder.display().to_string());
            let can_go_on = record.ended_in_order() && !matches!(staged.stage.action, Action::Drift { .. });
            records.push(record);
            if killed || (!succeeded && !can_go_on) {
                break;
            }
            if checkpoints.is_some() && !last {
                checkpoint::leave(folder, place, work)?;
            }
        }
        self.spent.keeping.time(|| {
            let text = serde_json::to_string_pretty(&records).expect("records are JSON");
            write(&folder.join(evidence::STAGES), &text)
        })?;
        Ok(records)
    }

    /// What a stage does, all of it: two stages with the same key do the same in the same place.
    fn key_of(&self, seed: u64, variant: usize, staged: &StagedBatch<'_>) -> String {
        let stage = serde_json::to_string(staged.stage).expect("a stage is JSON");
        let seed = seed_of(seed, variant, &staged.stage.name);
        let files = self.engine.files(&staged.batch, self.syntax);
        let files = files.iter().map(|file| format!("{}\n{}", file.path.as_str(), file.content));
        format!("{seed} {stage}\n{}", files.collect::<String>())
    }

    /// A new place for the engine to work in, for as long as the second part lives. What the engine prints is kept
    /// beside its working directory, because it may do anything in that. One that installs its providers does not work
    /// in memory: programs may not be allowed to run from there.
    fn place(&self, folder: &Path, ledger: PathBuf) -> Result<(Place, TempDir), DeployError> {
        make_folder(folder)?;
        let place = match (&self.scratch, &self.access) {
            (Some(scratch), Access::Served { .. }) => scratch.path(),
            _ => folder,
        };
        let make = |place: &Path| {
            let owner_only = Permissions::from_mode(0o700);
            tempfile::Builder::new().prefix("work-").permissions(owner_only).tempdir_in(place)
        };
        // What is in memory may be taken away by the system, or be full.
        let both =
            make(place).or_else(|_| make(folder)).map_err(io_error("cannot make a folder in", folder))?;
        let (work, output) = (both.path().join("work"), both.path().join("output"));
        make_folder(&work)?;
        make_folder(&output)?;
        Ok((Place { work, ledger, output }, both))
    }

    /// Makes the folder ready, if the engine needs that, with a program that only names the provider: those of the case
    /// all need it, and the first of them may be one that the engine has to refuse, or be blank.
    fn prepare(&self, Place { work, output, .. }: &Place) -> Result<(), DeployError> {
        let Some(arguments) = self.engine.preparation(&self.access) else { return Ok(()) };
        let only_the_provider = self.program(&Batch::default());
        write_program(&only_the_provider, work)?;
        let (stdout, stderr) = (output.join("prepare.out"), output.join("prepare.err"));
        let ended = self
            .command(work, None)
            .run(&arguments, &stdout, &stderr, self.timeout)
            .map_err(io_error("cannot run", &self.engine.engine().path))?;
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

    fn program(&self, batch: &Batch) -> Vec<ProgramFile> {
        self.spent.rendering.time(|| self.engine.files(batch, self.syntax))
    }

    /// Whether a variable of ours is one that no engine gets: a run must not depend on who starts it.
    fn is_foreign(&self, variable: &str) -> bool {
        variable.starts_with("EQUIFORM_") || self.engine.is_steered_by(variable)
    }

    /// An endpoint of the provider, if it is one that engines attach to.
    fn endpoint(&self) -> Result<Option<ServedEndpoint>, DeployError> {
        let Access::Served { control } = &self.access else { return Ok(None) };
        ServedEndpoint::open(control).map(Some).map_err(|error| self.provider_gone(error))
    }

    /// The provider that is up now, and another one if it was killed.
    fn provider_is_up(&self) -> Result<Option<Incarnation>, DeployError> {
        let up = self.server.as_ref().map(|server| server.alive()).transpose();
        up.map_err(DeployError::ProviderNotStarted)
    }

    /// The signal by which the provider was killed since it was up.
    fn provider_killed(&self, since: Option<Incarnation>) -> Option<i32> {
        // The engines' commands are not the only ones to be ended when we are.
        let (server, since) = self.server.as_ref().zip(since).filter(|_| !self.stop.asked_now())?;
        // What it says of a crash of its own counts more.
        server.killed_since(since).filter(|_| self.provider_log.crash().is_none())
    }

    /// What is said of a provider that does not do as the control channel asks.
    fn provider_gone(&self, error: ControlError) -> DeployError {
        let crashed = self.provider_log.crash().map(EnvironmentError::ProviderCrashed);
        crashed.unwrap_or_else(|| error.into()).into()
    }

    fn command(&self, work: &Path, endpoint: Option<&ServedEndpoint>) -> Command {
        let access = (&self.access, endpoint.map(ServedEndpoint::address));
        let mut command =
            engine_command(&*self.engine, access, work, &self.stop, |name| self.is_foreign(name));
        command.limits = Limits::of_engine(&self.access);
        command
    }
}

/// The seed by which operations of a stage go on: another one in each, and the same whenever a case is run.
pub fn seed_of(case: u64, variant: usize, stage: &str) -> u32 {
    let text = format!("{case} {variant} {stage}");
    u32::from_be_bytes(*Sha256::digest(text).first_chunk().expect("a SHA-256 has 32 bytes"))
}

fn make_folder(path: &Path) -> Result<(), DeployError> {
    private::create_folder(path).map_err(io_error("cannot make", path))
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), DeployError> {
    private::write(path, text).map_err(io_error("cannot write", path))
}
