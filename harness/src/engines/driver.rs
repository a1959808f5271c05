//! What a deployment asks of an engine, whichever it is.

use std::ffi::OsString;
use std::fmt::{self, Debug, Display};
use std::path::PathBuf;

use equiform_proto::control::Endpoint;
use serde::{Deserialize, Serialize};

use super::Engine;
use super::workspace::{ProgramFile, Workspace};
use crate::case::Batch;
use crate::case::workflow::{Feature, Workflow};
use crate::evidence::{ExitCodes, Reader, StoredIdentity, StoredSetting};
use crate::spec::{Action, Encoding, Semantics};

/// All that judging needs to know of an engine.
#[derive(Debug, Clone, Copy)]
pub struct EngineProfile {
    /// Reads back what it leaves.
    pub reader: &'static dyn Reader,
    /// The order that it keeps.
    pub semantics: &'static dyn Semantics,
    /// Whether its states have the identity of objects whose type has one.
    pub identity: StoredIdentity,
    /// Whether its states keep a setting that has spread to an object.
    pub setting: StoredSetting,
    /// Its version, as it says itself; none if that is not known.
    pub version: Option<(u64, u64, u64)>,
    /// How lines begin that it prints on standard error although nothing is wrong.
    pub known_stderr: &'static [&'static str],
    /// Whether the backup of a state is a copy of it, byte for byte.
    pub backup_is_a_copy: bool,
    /// How often its commands may call the provider.
    pub calls: CallBounds,
    /// The options that all of its commands have, which people need not read.
    pub usual_options: &'static [&'static str],
}

/// How often a command of an engine may call the provider at most. Measured on sound engines.
#[derive(Debug, Clone, Copy)]
pub struct CallBounds {
    /// How often each object may be read.
    pub reads: u64,
    /// How often each node may be planned.
    pub plans: u64,
    /// How often each node may be validated.
    pub validations: u64,
    /// How often other calls may be made, by their names.
    pub others: &'static [(&'static str, u64)],
    /// The same for each object that there is.
    pub per_object: &'static [(&'static str, u64)],
    /// The calls about resources, which are bounded by the other numbers.
    pub about_resources: &'static [&'static str],
    /// How many operations and calls about resources may be under way at once, unless a command says otherwise.
    pub at_once: u64,
}

impl CallBounds {
    /// Nothing is too often.
    pub const UNBOUNDED: Self = Self {
        reads: u64::MAX,
        plans: u64::MAX,
        validations: u64::MAX,
        others: &[],
        per_object: &[],
        about_resources: &[],
        at_once: u64::MAX,
    };

    /// Whether no other calls may be made than those that it lists.
    pub fn is_closed(&self) -> bool {
        !self.about_resources.is_empty()
    }
}

/// How engines reach the mock provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ProviderMode {
    /// One provider is up for all, and engines attach to it
    #[default]
    Reattach,
    /// Engines install it and start it themselves, as they do for their users
    Init,
}

impl Display for ProviderMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reattach => "reattach",
            Self::Init => "init",
        })
    }
}

/// Where an engine finds the provider.
#[derive(Debug, Clone)]
pub enum Access {
    /// It attaches to one that is up, at an endpoint that the provider gives out.
    Served {
        /// The provider's control socket, at which endpoints are asked for.
        control: PathBuf,
    },
    /// It installs it from a folder that its family has laid out.
    Mirror {
        /// The file that names the folder, in the family's form.
        config: PathBuf,
        /// Where providers that crash say so.
        crash_log: PathBuf,
    },
}

/// How a program is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// As people write it.
    #[default]
    Hcl,
    /// As programs write it.
    Json,
}

impl Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hcl => "hcl",
            Self::Json => "json",
        })
    }
}

/// What an engine can do. A deployment asks for nothing that is not declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// It attaches to a provider that is up already.
    pub reattach: bool,
    /// It installs providers from a folder.
    pub mirror: bool,
    /// The syntaxes that it reads.
    pub syntaxes: &'static [Syntax],
    /// What it offers beyond what every engine does.
    pub features: &'static [Feature],
}

impl Capabilities {
    /// Whether the engine can be run in this way.
    pub fn allow(&self, mode: ProviderMode, syntax: Syntax) -> bool {
        let reached = match mode {
            ProviderMode::Reattach => self.reattach,
            ProviderMode::Init => self.mirror,
        };
        reached && self.syntaxes.contains(&syntax)
    }

    /// Whether the engine offers all that a workflow needs.
    pub fn suffice_for(&self, workflow: &Workflow) -> bool {
        workflow.needs.iter().all(|feature| self.features.contains(feature))
    }
}

/// A command of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineCommand {
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What it promises to say by its exit code.
    pub exit_codes: ExitCodes,
}

/// A program that keeps an engine warm: [`super::worker`] says how it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram {
    /// The program.
    pub path: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The variables that it needs, beside those of the engine's commands.
    pub environment: Vec<(OsString, OsString)>,
}

/// An engine, as a deployment drives it: commands in a working directory that holds a program.
pub trait Driver: Debug + Send + Sync {
    /// The engine.
    fn engine(&self) -> &Engine;

    /// What keeps it warm; none if each of its commands needs a process of its own.
    fn worker(&self) -> Option<WorkerProgram>;

    /// What judging needs to know of it.
    fn profile(&self) -> EngineProfile;

    /// What it can do.
    fn capabilities(&self) -> Capabilities;

    /// The files of a program, its resources in the given order.
    fn files(&self, batch: &Batch, syntax: Syntax) -> Vec<ProgramFile>;

    /// Whether a variable steers the engine, so that it must not come from whoever starts us.
    fn is_steered_by(&self, variable: &str) -> bool;

    /// The variables that its commands need. `endpoint` is where it attaches to a provider that is up.
    fn environment(&self, access: &Access, endpoint: Option<&Endpoint>) -> Vec<(OsString, OsString)>;

    /// The arguments of the command that makes a folder with a program in it ready; none where that is not needed.
    fn preparation(&self, access: &Access) -> Option<Vec<String>>;

    /// The command for an action, which names resources where the encoding has them.
    fn command(&self, action: &Action, encoding: &Encoding) -> EngineCommand;

    /// How it keeps its memory in a working directory.
    fn workspace(&self) -> &dyn Workspace;
}
