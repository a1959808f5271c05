//! One stage: its program is written, its command is run, and what that left is kept.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use equiform_proto::control::{Calls, Run};

use super::control::ServedEndpoint;
use super::directory;
use super::drift::drift_arguments;
use super::engine_command::own_variables;
use super::environment;
use super::error::{DeployError, io_error};
use super::limits::KEPT;
use super::process::{Command, Ended, Outcome};
use super::starts::Place;
use super::worker::{self, Worker};
use super::{EngineProcess, Runner, make_folder, write_program};
use crate::case::StagedBatch;
use crate::engines::driver::EngineCommand;
use crate::engines::workspace::ProgramFile;
use crate::evidence::{self, Cost, ExitCodes, StageRecord};
use crate::private;
use crate::spec::Action;

/// The command of a stage.
struct StageCommand<'a> {
    stage: &'a str,
    place: &'a Place,
    arguments: Vec<String>,
    run: Run,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// How it went, and what there was when it had ended.
struct Ran {
    outcome: Outcome,
    ledger_bytes: u64,
    lock_left: bool,
    left_running: Vec<String>,
    changed_late: Vec<String>,
    warm: bool,
    calls: Option<Calls>,
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
        process: &mut EngineProcess,
    ) -> Result<StageRecord, DeployError> {
        let name = &staged.stage.name;
        let kept = folder.join(name);
        self.spent.keeping.time(|| {
            make_folder(&kept)?;
            write_program(program, &place.work)?;
            write_program(program, &kept)
        })?;
        let [stdout, stderr] = [evidence::OUTPUT, evidence::ERRORS].map(|file| place.output.join(file));
        let EngineCommand { arguments, exit_codes } = match &staged.stage.action {
            Action::Drift { key, change } => {
                let mut arguments = drift_arguments(key, change);
                // A faulty engine may have left a second object with the key. The current one changes then.
                arguments.insert(2, "--last-changed".to_owned());
                EngineCommand { arguments, exit_codes: ExitCodes::Usual }
            }
            action => self.engine.command(action, &staged.batch.program.encoding),
        };
        let command = StageCommand {
            stage: name,
            place,
            arguments,
            run: self.run_of(staged, seed, place),
            stdout,
            stderr,
        };
        let lock = || self.engine.workspace().lock(&place.work).map_err(io_error("cannot lock", &place.work));
        let held = if staged.stage.locked { Some(lock()?) } else { None };
        let mut ran = match (&staged.stage.action, process) {
            // What happens behind the engine's back is no command of it.
            (Action::Drift { .. }, _) => self.drift(&command)?,
            (_, EngineProcess::Cold(endpoint)) => self.cold(&command, endpoint.as_mut())?,
            (_, EngineProcess::Warm(worker)) => self.warm(&command, worker)?,
        };
        let lock_broken = held.is_some() && !ran.lock_left;
        ran.lock_left &= held.is_none();
        drop(held);
        self.spent.stages.add(name, ran.outcome.took);
        self.spent.engine.add(ran.outcome.took);
        // What a drift does is none of the engine's doing.
        let look =
            || directory::look(&place.work, program, |path| self.engine.workspace().is_installation(path));
        let is_engines = !matches!(staged.stage.action, Action::Drift { .. });
        let directory = is_engines.then(|| self.spent.keeping.time(look));
        self.keep(&command, &ran, &kept)?;
        let Outcome { end, took, usage } = ran.outcome;
        let printed =
            [&command.stdout, &command.stderr].map(|file| fs::metadata(file).map_or(0, |file| file.len()));
        let cost = usage.filter(|_| is_engines).map(|usage| Cost {
            cpu_milliseconds: u64::try_from(usage.cpu.as_millis()).unwrap_or(u64::MAX),
            peak_memory: usage.peak_memory,
            output_bytes: printed.iter().sum(),
        });
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
            changed_late: ran.changed_late,
            provider_killed: None,
            lock_left: ran.lock_left,
            lock_broken,
            exit_codes,
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            ledger_bytes: ran.ledger_bytes,
            warm: ran.warm,
            calls: ran.calls,
            cost,
            directory,
        })
    }

    /// What the provider has to know of the stage.
    fn run_of(&self, staged: &StagedBatch<'_>, seed: u32, place: &Place) -> Run {
        Run {
            ledger: place.ledger.clone(),
            label: Some(staged.stage.name.clone()),
            working_directory: place.work.clone(),
            hold: self.hold.with_seed(seed.into()),
            faults: staged.stage.faults.clone(),
            locked: Some(self.engine.workspace().lock_file(&place.work)),
            engine: None,
        }
    }

    /// Changes the world behind the engine's back. That fails if the engine has not left what is to change: the stage
    /// fails then, and nothing after it can be judged.
    fn drift(&self, stage: &StageCommand<'_>) -> Result<Ran, DeployError> {
        let mut command = Command::new(&self.provider, &stage.place.work);
        command.removed = own_variables(|name| self.is_foreign(name));
        command.stop = self.stop.clone();
        command.environment.extend(stage.environment());
        let outcome = command
            .run(&stage.arguments, &stage.stdout, &stage.stderr, self.timeout)
            .map_err(io_error("cannot run", &self.provider))?;
        match outcome.end {
            Ended::Exit(_) => Ok(self.ran(stage, outcome)),
            _ if self.stop.asked_now() => Err(DeployError::Stopped),
            end => Err(DeployError::Drift { stage: stage.stage.to_owned(), end: format!("{end:?}") }),
        }
    }

    /// Runs the command in a process of its own.
    fn cold(
        &self,
        stage: &StageCommand<'_>,
        mut endpoint: Option<&mut ServedEndpoint>,
    ) -> Result<Ran, DeployError> {
        let mut command = self.command(&stage.place.work, endpoint.as_deref());
        command.environment.extend(stage.environment());
        if let Some(endpoint) = &mut endpoint {
            endpoint.begin(stage.run.clone()).map_err(|error| self.provider_gone(error))?;
        }
        let (outcome, rest) = command
            .run_with_rest(&stage.arguments, &stage.stdout, &stage.stderr, self.timeout)
            .map_err(io_error("cannot run", &self.engine.engine().path))?;
        // Whatever the rest of it does from now on came too late.
        let ran = self.ran(stage, outcome);
        let files = stage.files();
        let left = rest.end();
        let changed_late = changed(&files, &stage.files());
        let calls = endpoint.and_then(ServedEndpoint::end);
        let ended_by_itself = matches!(outcome.end, Ended::Exit(_));
        if !ended_by_itself {
            return Ok(Ran { calls, ..ran });
        }
        Ok(Ran { left_running: left, changed_late, calls, ..ran })
    }

    /// Runs the command in a process that stays.
    fn warm(&self, stage: &StageCommand<'_>, worker: &mut Worker) -> Result<Ran, DeployError> {
        let broken = |error| DeployError::Worker { stage: stage.stage.to_owned(), error };
        let request = || worker::request(&stage.arguments, &stage.place.work, &stage.stdout, &stage.stderr);
        let request = self.spent.keeping.time(request).map_err(io_error("cannot make", &stage.stdout))?;
        match worker.serve(stage.run.clone(), &request, self.timeout) {
            Err(_) if self.stop.asked_now() => Err(DeployError::Stopped),
            Err(error) => {
                // A provider that hangs is no finding about the engine that waits for it.
                environment::check_provider(&self.access)?;
                Err(broken(error))
            }
            Ok((outcome, calls)) => Ok(Ran { warm: true, calls, ..self.ran(stage, outcome) }),
        }
    }

    /// What there is right after a command.
    fn ran(&self, stage: &StageCommand<'_>, outcome: Outcome) -> Ran {
        Ran {
            outcome,
            ledger_bytes: fs::metadata(&stage.place.ledger).map_or(0, |ledger| ledger.len()),
            lock_left: self.engine.workspace().is_locked(&stage.place.work),
            left_running: Vec::new(),
            changed_late: Vec::new(),
            warm: false,
            calls: None,
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

/// The names of the files that are not the same in two looks at them.
fn changed(before: &BTreeSet<SeenFile>, after: &BTreeSet<SeenFile>) -> Vec<String> {
    let names: BTreeSet<&String> = before.symmetric_difference(after).map(|(name, ..)| name).collect();
    names.into_iter().cloned().collect()
}

/// A file by its name, with its size and the time of its last change, in seconds and nanoseconds.
type SeenFile = (String, u64, i64, i64);

impl StageCommand<'_> {
    /// The files that the command may write: those in its working directory, and what it prints.
    fn files(&self) -> BTreeSet<SeenFile> {
        let in_work =
            fs::read_dir(&self.place.work).into_iter().flatten().flatten().map(|entry| entry.path());
        let printed = [self.stdout.clone(), self.stderr.clone()];
        let seen = |path: PathBuf| {
            let file = fs::symlink_metadata(&path).ok()?;
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some((name, file.len(), file.mtime(), file.mtime_nsec()))
        };
        in_work.chain(printed).filter_map(seen).collect()
    }

    /// What the provider has to know, as variables: for one that the engine starts, and for drift. One that is up goes
    /// by the control channel alone.
    fn environment(&self) -> impl Iterator<Item = (OsString, OsString)> {
        let Run { ledger, label, hold, faults, .. } = &self.run;
        let faults = (!faults.is_empty()).then(|| ("EQUIFORM_FAULTS", faults.to_json().into()));
        let label = label.as_ref().map(|label| ("EQUIFORM_RUN", label.into()));
        let variables: [(&str, OsString); 2] =
            [("EQUIFORM_LEDGER", ledger.into()), ("EQUIFORM_HOLD", hold.to_string().into())];
        variables.into_iter().chain(label).chain(faults).map(|(name, value)| (name.into(), value))
    }
}
