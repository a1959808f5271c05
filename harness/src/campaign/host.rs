//! An engine that is ready to run cases, with a provider to attach to.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::builds::Builds;
use crate::case::workflow::{Shares, Workflow};
use crate::deploy::access::Provider;
use crate::deploy::provider::ProviderError;
use crate::deploy::scratch::Scratch;
use crate::deploy::stop::Stop;
use crate::deploy::time_spent::TimeSplit;
use crate::deploy::worker::WorkerCounts;
use crate::deploy::{Mode, Runner, provider, raise_file_limit};
use crate::engine_id::RecordedEngine;
use crate::engines::{self, Engine};

/// An engine that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// There is no provider, or it does not start.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The engine cannot be run in this mode.
    #[error("{engine} cannot be run with the provider mode {} and programs in {}", mode.provider, mode.syntax)]
    Mode {
        /// The engine.
        engine: Box<RecordedEngine>,
        /// The mode.
        mode: Mode,
    },
    /// The engine lacks something that workflows need.
    #[error(
        "{engine} lacks what these workflows need: {}; choose among {}",
        lacking.join(", "),
        possible.join(",")
    )]
    Workflows {
        /// The engine.
        engine: Box<RecordedEngine>,
        /// The workflows that it cannot be driven by.
        lacking: Vec<&'static str>,
        /// Those that it can.
        possible: Vec<&'static str>,
    },
    /// A file of the engine or the provider cannot be read.
    #[error("{0}")]
    Builds(String),
}

/// An engine with what it needs to run cases.
pub struct EngineHost {
    /// The engine.
    pub engine: RecordedEngine,
    /// What runs it.
    pub runner: Runner,
    mode: Mode,
    provider: Provider,
}

impl EngineHost {
    /// Starts the provider for an engine, and keeps the engine warm if the mode says so. What would be left behind by
    /// a process that ends at once is named to `stop`.
    pub fn start(engine: &Engine, mode: Mode, timeout: Duration, stop: Stop) -> Result<Self, HostError> {
        raise_file_limit();
        let driver = engines::open(engine);
        let recorded = engine.recorded();
        if !driver.capabilities().allow(mode.provider, mode.syntax) {
            return Err(HostError::Mode { engine: recorded.into(), mode });
        }
        let (binary, provider) = (provider::locate()?, Provider::start(mode.provider, engine.id.family)?);
        if let Provider::Installable(mirror) = &provider {
            stop.removes(mirror.folder());
        }
        let scratch = Scratch::in_memory().map(Arc::new);
        if let Some(scratch) = &scratch {
            stop.removes(scratch.path());
        }
        let usual = Runner::new(driver, provider.access(), binary, provider.log());
        let server = provider.server();
        let runner = Runner { server, syntax: mode.syntax, hold: mode.hold, timeout, stop, scratch, ..usual };
        let runner = if mode.warm { runner.kept_warm() } else { runner };
        Ok(Self { engine: recorded, runner, mode, provider })
    }

    /// How the engine is run.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The builds of the engine and the provider as they are on disk now.
    pub fn builds(&self) -> Result<Builds, HostError> {
        let engine = &self.runner.engine.engine().path;
        Builds::at(engine, &self.runner.provider).map_err(HostError::Builds)
    }

    /// Refuses workflows that the engine cannot be driven by.
    pub fn check_workflows(&self, workflows: &Shares) -> Result<(), HostError> {
        let capabilities = self.runner.engine.capabilities();
        let suffices = |name: &&str| Workflow::named(name).is_none_or(|it| capabilities.suffice_for(it));
        let (others, lacking): (Vec<_>, Vec<_>) = workflows.names().partition(suffices);
        if lacking.is_empty() {
            return Ok(());
        }
        let possible = if others.is_empty() { vec!["plain"] } else { others };
        Err(HostError::Workflows { engine: Box::new(self.engine.clone()), lacking, possible })
    }

    /// Keeps what the provider prints in a folder, if it prints anything.
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
