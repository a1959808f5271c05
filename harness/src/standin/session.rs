//! An engine in the copy of a program, with stand-ins to install from a mirror of its own.
//!
//! The folder has `program/` (the copy), `mirror/` (the stand-ins and our own provider), and `cli.tfrc`, all made anew
//! each time; and `terraform.tfstate` and `equiform.ledger.jsonl`, from which a later session goes on.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::chosen::Chosen;
use super::copy::{self, CopyError};
use super::mirror::{MirrorError, StandinMirror};
use super::program::Program;
use crate::deploy::engine_command;
use crate::deploy::process::Ended;
use crate::deploy::stop::Stop;
use crate::engines::driver::{Access, Driver};
use crate::engines::terraform::provider_access::{place_in_mirror, whole_mirror_configuration};
use crate::engines::{self, Engine};
use crate::private;

/// Variables of ours that the session sets itself, or that would go before those that it sets.
const OWN_VARIABLES: [&str; 3] = ["EQUIFORM_LEDGER", "EQUIFORM_RUN", "EQUIFORM_CRASH_LOG"];

/// Variables that are passed on though they steer an engine: the program's own.
const PROGRAMS_VARIABLES: &str = "TF_VAR_";

/// How much of what a command says is read.
const MOST_SAID: u64 = 64 << 20;

/// A folder, ready for an engine.
pub struct Session {
    engine: Arc<dyn Driver>,
    folder: PathBuf,
    program: PathBuf,
    /// Variables beyond those that are set anyway.
    pub environment: Vec<(OsString, OsString)>,
    /// How long one command may take.
    pub timeout: Duration,
    /// Who may end it before its time.
    pub stop: Stop,
}

/// A folder that cannot be made ready.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The program cannot be copied.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The folder is somebody else's.
    #[error("{} holds something else; name a folder that is empty, new, or was kept before", .0.display())]
    Foreign(PathBuf),
    /// A stand-in cannot be installed.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    /// A file cannot be written, or the engine not be started.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// How a command of an engine ended, and what it said.
#[derive(Debug)]
pub struct Said {
    /// How.
    pub end: Ended,
    /// What it wrote, and then its errors.
    pub text: String,
}

impl Said {
    /// Whether it did what it was asked to.
    pub fn succeeded(&self) -> bool {
        self.end == Ended::Exit(0)
    }
}

impl Session {
    /// Makes a folder ready: copies the program and installs the stand-ins. A state and a ledger that are there stay.
    pub fn prepare(
        engine: Engine,
        folder: &Path,
        program: &Program,
        chosen: &[Chosen],
        provider: &Path,
    ) -> Result<Self, SessionError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| SessionError::Io { path, source }
        };
        private::create_folder(folder).map_err(io(folder))?;
        let folder = folder.canonicalize().map_err(io(folder))?;
        // What is there is removed below, so it has to be ours.
        let marker = folder.join(MARKER);
        let is_empty = fs::read_dir(&folder).map_err(io(&folder))?.next().is_none();
        if !is_empty && !marker.exists() {
            return Err(SessionError::Foreign(folder));
        }
        fs::write(&marker, "equiform standin run\n").map_err(io(&marker))?;
        let (copied, mirror) = (folder.join("program"), folder.join("mirror"));
        for old in [&copied, &mirror] {
            match fs::remove_dir_all(old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(io(old)(error)),
                _ => {}
            }
        }
        let copied = copy::copy(program, &folder, &copied, &folder.join(STATE))?;
        let standins = StandinMirror::at(&mirror);
        for one in chosen {
            one.install(&standins, provider)?;
        }
        if program.uses_mock {
            let own = mirror.join(place_in_mirror(env!("CARGO_PKG_VERSION")));
            let parent = own.parent().unwrap_or(&mirror);
            fs::create_dir_all(parent).map_err(io(parent))?;
            fs::copy(provider, &own).map_err(io(&own))?;
        }
        fs::create_dir_all(&mirror).map_err(io(&mirror))?;
        let config = folder.join(CONFIGURATION);
        fs::write(&config, whole_mirror_configuration(&mirror)).map_err(io(&config))?;
        Ok(Self {
            engine: engines::open(&engine),
            folder,
            program: copied,
            environment: Vec::new(),
            timeout: Duration::from_secs(600),
            stop: Stop::default(),
        })
    }

    /// The engine's state.
    pub fn state(&self) -> PathBuf {
        self.folder.join(STATE)
    }

    /// The ledger that all stand-ins share.
    pub fn ledger(&self) -> PathBuf {
        self.folder.join(LEDGER)
    }

    /// The copy of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What providers said when they crashed; none if none did.
    pub fn crash(&self) -> Option<String> {
        let text = fs::read_to_string(self.folder.join(CRASH_LOG)).ok()?;
        Some(text).filter(|text| !text.trim().is_empty())
    }

    /// Runs a command of the engine. `run` is the label of what the ledger tells of it.
    pub fn run(&self, arguments: &[String], run: &str) -> Result<Said, SessionError> {
        let access = Access::Mirror {
            config: self.folder.join(CONFIGURATION),
            crash_log: self.folder.join(CRASH_LOG),
        };
        let is_removed = |name: &str| {
            let steers = self.engine.is_steered_by(name) && !name.starts_with(PROGRAMS_VARIABLES);
            steers || OWN_VARIABLES.contains(&name)
        };
        let mut command =
            engine_command(&*self.engine, (&access, None), &self.program, &self.stop, is_removed);
        command
            .environment
            .extend([("EQUIFORM_LEDGER".into(), self.ledger().into()), ("EQUIFORM_RUN".into(), run.into())]);
        command.environment.extend(self.environment.iter().cloned());
        let (stdout, stderr) =
            (self.folder.join(format!("{run}.out")), self.folder.join(format!("{run}.err")));
        let outcome = command
            .run(arguments, &stdout, &stderr, self.timeout)
            .map_err(|source| SessionError::Io { path: self.engine.engine().path.clone(), source })?;
        let text = |path: &Path| {
            let bytes = private::read_beginning(path, MOST_SAID).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Ok(Said { end: outcome.end, text: text(&stdout) + &text(&stderr) })
    }
}

/// The files of a folder. The first tells that it is ours.
const MARKER: &str = ".equiform-standin";
const STATE: &str = "terraform.tfstate";
const LEDGER: &str = "equiform.ledger.jsonl";
const CONFIGURATION: &str = "cli.tfrc";
const CRASH_LOG: &str = "crashes.log";
