//! One stage: its program is written, its command is run, and what that left is kept.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::drift::drift_arguments;
use super::engine_command::own_variables;
use super::environment;
use super::error::{DeployError, io_error};
use super::limits::KEPT;
use super::process::{Command, Ended, Outcome};
use super::starts::Place;
use super::worker::{self, Worker, WorkerError};
use super::{Runner, VARIABLES, make_folder, write, write_program};
use crate::case::StagedBatch;
use crate::engines::driver::EngineCommand;
use crate::engines::workspace::ProgramFile;
use crate::evidence::{self, ExitCodes, StageRecord};
use crate::private;
use crate::spec::{Action, Failure};

/// The command of a stage.
struct StageCommand<'a> {
    stage: &'a str,
    place: &'a Place,
    arguments: Vec<String>,
    variables: Vec<(&'static str, OsString)>,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// How it went, and what there was when it had ended.
struct Ran {
    outcome: Outcome,
    ledger_bytes: u64,
    lock_left: bool,
    left_running: Vec<String>,
    warm: bool,
}

impl Runner {
    /// Runs a stage in a place, and keeps its evidence in the variant's folder.
    pub(super) fn stage(
        &self,
        staged: &StagedBatch<'_>,
        program: &[ProgramFile],
        seed: u32,
        place: &Place,
        folder: &Path,
        worker: Option<&mut Worker>,
    ) -> Result<StageRecord, DeployError> {
        let name = &staged.stage.name;
        let kept = folder.join(name);
        self.spent.keeping.time(|| {
            make_folder(&kept)?;
            write_program(program, &place.work)?;
            write_program(program, &kept)
        })?;
        let [stdout, stderr] =
            [evidence::OUTPUT, evidence::ERRORS].map(|file| place.work.join(format!(".equiform-{file}")));
        let EngineCommand { arguments, exit_codes } = match &staged.stage.action {
            Action::Drift { key, change } => {
                EngineCommand { arguments: drift_arguments(key, change), exit_codes: ExitCodes::Usual }
            }
            action => self.engine.command(action, &staged.batch.program.encoding),
        };
        let command = StageCommand {
            stage: name,
            place,
            arguments,
            variables: self.variables(staged, seed, &place.ledger),
            stdout,
            stderr,
        };
        let ran = match (&staged.stage.action, worker) {
            // What happens behind the engine's back is no command of it.
            (Action::Drift { .. }, _) => self.drift(&command)?,
            (_, None) => self.cold(&command)?,
            (_, Some(worker)) => self.warm(&command, worker)?,
        };
        self.spent.stages.add(name, ran.outcome.took);
        self.spent.engine.add(ran.outcome.took);
        self.keep(&command, &ran, &kept)?;
        let Outcome { end, took } = ran.outcome;
        Ok(StageRecord {
            stage: name.clone(),
            command: command.arguments.join(" "),
            exit: match end {
                Ended::Exit(code) => Some(code),
                Ended::Signal(_) | Ended::TimedOut | Ended::Exceeded(_) => None,
            },
            timed_out: end == Ended::TimedOut,
            exceeded: match end {
                Ended::Exceeded(excess) => Some(excess),
                _ => None,
            },
            left_running: ran.left_running,
            lock_left: ran.lock_left,
            exit_codes,
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            ledger_bytes: ran.ledger_bytes,
            warm: ran.warm,
        })
    }

    /// What the provider is told of the stage.
    fn variables(&self, staged: &StagedBatch<'_>, seed: u32, ledger: &Path) -> Vec<(&'static str, OsString)> {
        let mut variables: Vec<(&str, OsString)> = vec![
            ("EQUIFORM_LEDGER", ledger.into()),
            ("EQUIFORM_RUN", (&staged.stage.name).into()),
            ("EQUIFORM_HOLD", self.hold.variable(seed).into()),
        ];
        if !staged.stage.failures.is_empty() {
            let failures: Vec<String> = staged.stage.failures.iter().map(Failure::variable).collect();
            variables.push(("EQUIFORM_FAILURES", failures.join(",").into()));
        }
        variables
    }

    /// Changes the world behind the engine's back.
    fn drift(&self, stage: &StageCommand<'_>) -> Result<Ran, DeployError> {
        let mut command = Command::new(&self.provider, &stage.place.work);
        command.removed = own_variables(|name| self.is_foreign(name));
        command.stop = self.stop.clone();
        command.environment.extend(stage.environment());
        let outcome = command
            .run(&stage.arguments, &stage.stdout, &stage.stderr, self.timeout)
            .map_err(io_error("cannot run", &self.provider))?;
        if outcome.end == Ended::Exit(0) {
            return Ok(self.ran(stage, outcome));
        }
        let said = fs::read_to_string(&stage.stderr).unwrap_or_default();
        Err(DeployError::Drift { stage: stage.stage.to_owned(), said: said.trim().to_owned() })
    }

    /// Runs the command in a process of its own.
    fn cold(&self, stage: &StageCommand<'_>) -> Result<Ran, DeployError> {
        let mut command = self.command(&stage.place.work);
        command.environment.extend(stage.environment());
        let (outcome, rest) = command
            .run_with_rest(&stage.arguments, &stage.stdout, &stage.stderr, self.timeout)
            .map_err(io_error("cannot run", &self.engine.engine().path))?;
        // Whatever the rest of it does from now on came too late.
        let ran = self.ran(stage, outcome);
        let left = rest.end();
        let ended_by_itself = matches!(outcome.end, Ended::Exit(_));
        Ok(Ran { left_running: if ended_by_itself { left } else { Vec::new() }, ..ran })
    }

    /// Runs the command in a process that stays.
    fn warm(&self, stage: &StageCommand<'_>, worker: &mut Worker) -> Result<Ran, DeployError> {
        let broken = |error| DeployError::Worker { stage: stage.stage.to_owned(), error };
        if stage.place.ledger.as_os_str().as_bytes().contains(&b'\n') {
            return Err(broken(WorkerError::Refused("the ledger's path has a line break".to_owned())));
        }
        let work = &stage.place.work;
        let request = self.spent.keeping.time(|| {
            write(&work.join(VARIABLES), lines_of(&stage.variables))?;
            worker::request(&stage.arguments, work, &stage.stdout, &stage.stderr)
                .map_err(io_error("cannot make", &stage.stdout))
        })?;
        match worker.run(&request, self.timeout) {
            Err(_) if self.stop.asked_now() => Err(DeployError::Stopped),
            Err(error) => {
                // A provider that hangs is no finding about the engine that waits for it.
                environment::check_provider(&self.access)?;
                Err(broken(error))
            }
            Ok(outcome) => Ok(Ran { warm: true, ..self.ran(stage, outcome) }),
        }
    }

    /// What there is right after a command.
    fn ran(&self, stage: &StageCommand<'_>, outcome: Outcome) -> Ran {
        Ran {
            outcome,
            ledger_bytes: fs::metadata(&stage.place.ledger).map_or(0, |ledger| ledger.len()),
            lock_left: self.engine.workspace().is_locked(&stage.place.work),
            left_running: Vec::new(),
            warm: false,
        }
    }

    /// Keeps what the command printed, and the state.
    fn keep(&self, stage: &StageCommand<'_>, ran: &Ran, kept: &Path) -> Result<(), DeployError> {
        let mut files = vec![(&stage.stdout, evidence::OUTPUT)];
        // Most commands say nothing on standard error, and making files takes its time.
        let said = fs::metadata(&stage.stderr).is_ok_and(|errors| errors.len() > 0);
        files.extend(said.then_some((&stage.stderr, evidence::ERRORS)));
        // An engine that ran away may do so in every variant, and the disk must have room for all of them.
        let most = match ran.outcome.end {
            Ended::Exceeded(_) => KEPT,
            _ => u64::MAX,
        };
        for (file, name) in files {
            let copy = || private::copy_beginning(file, &kept.join(name), most);
            self.spent.keeping.time(copy).map_err(io_error("cannot copy", file))?;
        }
        let (work, state) = (&stage.place.work, kept.join(evidence::STATE));
        let copy = || self.engine.workspace().copy_state(work, &state, most);
        self.spent.keeping.time(copy).map_err(io_error("cannot copy the state of", work))
    }
}

impl StageCommand<'_> {
    fn environment(&self) -> impl Iterator<Item = (OsString, OsString)> {
        self.variables.iter().map(|(name, value)| (name.into(), value.clone()))
    }
}

/// Variables as the provider reads them from a file.
fn lines_of(variables: &[(&str, OsString)]) -> Vec<u8> {
    let line = |(name, value): &(&str, OsString)| [name.as_bytes(), b"=", value.as_bytes(), b"\n"].concat();
    variables.iter().flat_map(line).collect()
}
