//! What commands that run an engine share: which engine, and how it is run.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;

use super::amount::duration;
use super::no_effect::refuse;
use super::{CannotRun, interrupt};
use crate::case::workflow::Shares;
use crate::deploy::access::Provider;
use crate::deploy::hold::Hold;
use crate::deploy::scratch::Scratch;
use crate::deploy::stop::Stop;
use crate::deploy::time_spent::TimeSplit;
use crate::deploy::worker::WorkerCounts;
use crate::deploy::{Mode, Runner, provider};
use crate::engines::driver::{ProviderMode, Syntax};
use crate::engines::{self, Engine, EngineChoice, EngineName, Engines, RecordedEngine};

/// Which engine, and how it is run.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// The engine: terraform or tofu, with @VERSION if it matters, or the path of an executable that takes
    /// their commands
    #[arg(long, default_value = "terraform")]
    engine: EngineChoice,
    #[command(flatten)]
    pub how: HowArgs,
}

impl EngineArgs {
    /// Finds the engine and starts the provider.
    pub fn start(&self) -> Result<Started, CannotRun> {
        let engine = Engines::from_env()?.find(&self.engine)?;
        self.how.start(engine, self.how.watch()?)
    }
}

/// How an engine is run.
#[derive(Debug, Args)]
pub struct HowArgs {
    /// How many variants are deployed at once [default: as many as there are processors]
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
    /// How the provider holds operations between begin and end, so that those that may overlap do: `quiet` (until the
    /// engine sends nothing more), `quiet:5ms`, `5ms` or `off`
    #[arg(long, default_value = "quiet")]
    hold: Hold,
    /// Start a process for every command, as people do. Without it, an engine that can be kept warm explores, and fresh
    /// processes confirm what it finds
    #[arg(long)]
    cold: bool,
}

/// An engine that is ready, with a provider to attach to, and Ctrl-C in hand.
pub struct Started {
    /// The engine.
    pub engine: RecordedEngine,
    /// How it is run.
    pub runner: Runner,
    provider: Provider,
}

impl Started {
    /// Leaves what the provider says of itself in a folder, if it says anything.
    pub fn keep_provider_log_in(&self, folder: &Path) {
        self.runner.provider_log.keep_in(folder);
    }

    /// What became of the processes that kept the engine warm; none if it was not.
    pub fn workers(&self) -> Option<WorkerCounts> {
        self.runner.workers.as_ref().map(|workers| workers.counts()).filter(|counts| counts.started > 0)
    }

    /// Where the time went; none if there was nothing to do.
    pub fn spent(&self) -> Option<TimeSplit> {
        let split = self.runner.spent.split(self.provider.computed());
        (!split.engine.is_zero()).then_some(split)
    }
}

impl Started {
    /// Refuses workflows that the engine lacks.
    pub fn can_be_driven_by(&self, workflows: &Shares) -> Result<(), CannotRun> {
        let lacking = self.runner.engine.capabilities().lacking;
        let lacks: Vec<&str> = workflows.names().filter(|name| lacking.contains(name)).collect();
        if lacks.is_empty() {
            return Ok(());
        }
        let others: Vec<&str> = workflows.names().filter(|name| !lacking.contains(name)).collect();
        let instead = if others.is_empty() { vec!["plain"] } else { others };
        let (lacks, instead) = (lacks.join(", "), instead.join(","));
        Err(format!("{} lacks what these workflows need: {lacks}; give `--workflows {instead}`", self.engine)
            .into())
    }
}

impl HowArgs {
    /// How many variants are deployed at once.
    pub fn jobs(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(2, usize::from);
        self.jobs.map_or_else(all, usize::from)
    }

    /// Refuses options that have no effect beside others. `given` tells which were given.
    pub fn refuse_idle(&self, given: &dyn Fn(&str) -> bool) -> Result<(), CannotRun> {
        let installs = self.provider_mode == ProviderMode::Init;
        refuse(given("cold") && installs, "--cold", "with --provider-mode init, which keeps no engine warm")
    }

    /// What there is to choose.
    pub fn mode(&self) -> Mode {
        Mode { provider: self.provider_mode, syntax: self.syntax, hold: self.hold, warm: !self.cold }
    }

    /// Takes Ctrl-C in hand.
    pub fn watch(&self) -> Result<Stop, CannotRun> {
        let stop = Stop::default();
        interrupt::watch(stop.clone())?;
        Ok(stop)
    }

    /// Starts the provider for an engine.
    pub fn start(&self, engine: Engine, stop: Stop) -> Result<Started, CannotRun> {
        let engine = engines::open(&engine);
        let (binary, provider) = (provider::locate()?, Provider::start(self.provider_mode)?);
        if let Provider::Installable(mirror) = &provider {
            stop.removes(mirror.folder());
        }
        if !engine.capabilities().allow(self.provider_mode, self.syntax) {
            return Err(format!("{} cannot be run with these options", engine.engine()).into());
        }
        let scratch = Scratch::in_memory().map(Arc::new);
        if let Some(scratch) = &scratch {
            stop.removes(scratch.path());
        }
        let recorded = engine.engine().recorded();
        let runner = Runner {
            engine,
            access: provider.access(),
            provider: binary,
            provider_log: provider.log(),
            syntax: self.syntax,
            hold: self.hold,
            timeout: self.timeout,
            stop,
            spent: Arc::default(),
            scratch,
            workers: None,
        };
        let runner = if self.cold { runner } else { runner.kept_warm() };
        Ok(Started { engine: recorded, runner, provider })
    }
}

/// Every engine that is installed or on the PATH, in ascending order, each version once.
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
