//! What commands that run an engine share: which engine, and how it is run.

use std::time::Duration;

use clap::Args;

use super::{CannotRun, interrupt};
use crate::deploy::Runner;
use crate::deploy::provider::{self, Server};
use crate::deploy::stop::Stop;
use crate::engine::{EngineSpec, Engines};

/// Which engine, and how it is run.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// The engine: NAME[@VERSION]
    #[arg(long, default_value = "terraform")]
    engine: EngineSpec,
    /// How many variants are deployed at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// How many seconds one engine command may take
    #[arg(long, default_value_t = 60)]
    timeout: u64,
}

/// An engine that is ready, with a provider to attach to, and Ctrl-C in hand.
pub struct Started {
    /// The engine with its exact version.
    pub name: String,
    /// How it is run.
    pub runner: Runner,
    _server: Server,
}

impl EngineArgs {
    /// How many variants are deployed at once.
    pub fn jobs(&self) -> usize {
        self.jobs.max(1)
    }

    /// Finds the engine and starts the provider.
    pub fn start(&self) -> Result<Started, CannotRun> {
        let engine = Engines::from_env()?.locate(&self.engine)?;
        let server = Server::start(&provider::locate()?)?;
        let stop = Stop::default();
        interrupt::watch(stop.clone())?;
        let runner = Runner {
            engine: engine.path,
            attachment: server.attachment().clone(),
            patience: Duration::from_secs(self.timeout),
            stop,
        };
        Ok(Started { name: format!("{}@{}", engine.name, engine.version), runner, _server: server })
    }
}
