//! What commands that run an engine share: which engine, and how it is run.

use std::time::Duration;

use clap::Args;

use super::amount::duration;
use super::no_effect::refuse;
use super::{CannotRun, interrupt};
use crate::campaign::host::EngineHost;
use crate::deploy::Mode;
use crate::deploy::hold::{self, Hold};
use crate::deploy::stop::Stop;
use crate::engines::driver::{ProviderMode, Syntax};
use crate::engines::{Engine, EngineChoice, EngineName, Engines, RecordedEngine};

/// Which engine, and how it is run.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// The engine: terraform or tofu, optionally with @VERSION, or the path of an executable that accepts their
    /// commands [default: terraform, or the engine of a stored case]
    #[arg(long)]
    engine: Option<EngineChoice>,
    #[command(flatten)]
    pub how: HowArgs,
}

impl EngineArgs {
    /// The engine that was named; else the one that something was run on, if there is one; else Terraform.
    pub fn choice(&self, stored: Option<&RecordedEngine>) -> EngineChoice {
        let terraform = || "terraform".parse().expect("that is an engine's name");
        let usual = || stored.map_or_else(terraform, EngineChoice::again);
        self.engine.clone().unwrap_or_else(usual)
    }

    /// Finds the engine and starts the provider.
    pub fn start(&self, stored: Option<&RecordedEngine>) -> Result<EngineHost, CannotRun> {
        self.how.start_choice(&self.choice(stored), self.how.mode())
    }
}

/// How an engine is run.
#[derive(Debug, Args)]
pub struct HowArgs {
    /// How many variants to deploy at once [default: the number of processors]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// How long one engine command may take: 60s, 2m
    #[arg(long, default_value = "60s", value_parser = duration)]
    timeout: Duration,
    /// How the engine reaches the provider
    #[arg(long, value_name = "MODE", default_value = "reattach")]
    provider_mode: ProviderMode,
    /// How programs are written
    #[arg(long, default_value = "hcl")]
    syntax: Syntax,
    /// How the provider holds operations between begin and end, so that operations that may overlap do: `quiet`
    /// (until the engine sends nothing more), `quiet:5ms`, `5ms` or `off`
    #[arg(long, default_value = "quiet", value_parser = hold::parse)]
    hold: Hold,
    /// Start a process for every command, as people do. Without it, an engine that can be kept warm runs in one
    /// process, and fresh processes confirm what it finds
    #[arg(long)]
    cold: bool,
}

impl HowArgs {
    /// How many variants are deployed at once.
    pub fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(2, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }

    /// Refuses options that have no effect in combination with others. `given` says which were given.
    pub fn refuse_idle(&self, given: &dyn Fn(&str) -> bool) -> Result<(), CannotRun> {
        let installs = self.provider_mode == ProviderMode::Init;
        refuse(given("cold") && installs, "--cold", "with --provider-mode init, which keeps no engine warm")
    }

    /// The settings of the driver.
    pub fn mode(&self) -> Mode {
        Mode { provider: self.provider_mode, syntax: self.syntax, hold: self.hold, warm: !self.cold }
    }

    /// Handles Ctrl-C from now on.
    pub fn watch(&self) -> Result<Stop, CannotRun> {
        let stop = Stop::default();
        interrupt::watch(stop.clone())?;
        Ok(stop)
    }

    /// Finds an engine, starts the provider for it, and handles Ctrl-C.
    pub fn start_choice(&self, choice: &EngineChoice, mode: Mode) -> Result<EngineHost, CannotRun> {
        self.start(&Engines::from_env()?.find(choice)?, mode, self.watch()?)
    }

    /// Starts the provider for an engine.
    pub fn start(&self, engine: &Engine, mode: Mode, stop: Stop) -> Result<EngineHost, CannotRun> {
        Ok(EngineHost::start(engine, mode, self.timeout, stop)?)
    }
}

/// Every engine that is installed or on the PATH, in ascending order, with each version once.
pub fn installed_engines() -> Result<Vec<Engine>, CannotRun> {
    let places = Engines::from_env()?;
    let all = EngineName::ALL.into_iter();
    let mut engines: Vec<Engine> =
        all.flat_map(|name| places.on_path(name).into_iter().chain(places.installed(name))).collect();
    engines.sort_by(|a, b| a.id.cmp(&b.id));
    engines.dedup_by(|a, b| a.id == b.id);
    if engines.is_empty() {
        return Err("there is no engine: `equiform engines install terraform` brings one".into());
    }
    Ok(engines)
}
