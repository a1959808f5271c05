//! Makes the mock provider reachable for engines, in one of the two modes.

use std::sync::Arc;
use std::time::Duration;

use super::mirror::Mirror;
use super::provider::{self, ProviderError, Server};
use super::provider_log::ProviderLog;
use crate::engines::Family;
use crate::engines::driver::{Access, ProviderMode};

/// A provider that engines can reach, for as long as this lives.
pub enum Provider {
    /// One that is up.
    Up(Arc<Server>),
    /// One to install.
    Installable(Mirror),
}

impl Provider {
    /// Makes the provider beside this program reachable for engines of a family.
    pub fn start(mode: ProviderMode, family: Family) -> Result<Self, ProviderError> {
        match mode {
            ProviderMode::Reattach => Self::up(),
            ProviderMode::Init => Mirror::of(&provider::locate()?, family).map(Self::Installable),
        }
    }

    /// Starts the provider beside this program, for engines of any family to attach to.
    pub fn up() -> Result<Self, ProviderError> {
        Server::start(&provider::locate()?).map(|server| Self::Up(Arc::new(server)))
    }

    /// What engines need to reach it.
    pub fn access(&self) -> Access {
        match self {
            Self::Up(server) => Access::Served { control: server.control().to_owned() },
            Self::Installable(mirror) => Access::Mirror {
                config: mirror.config().to_owned(),
                crash_log: mirror.crash_log().to_owned(),
            },
        }
    }

    /// The one that is up, if engines attach to it.
    pub fn server(&self) -> Option<Arc<Server>> {
        match self {
            Self::Up(server) => Some(server.clone()),
            Self::Installable(_) => None,
        }
    }

    /// What it says of itself.
    pub fn log(&self) -> Arc<ProviderLog> {
        match self {
            Self::Up(server) => server.log().clone(),
            Self::Installable(mirror) => mirror.log().clone(),
        }
    }

    /// How much time it has computed so far, where that is known: engines start those that they installed themselves.
    pub fn computed(&self) -> Option<Duration> {
        match self {
            Self::Up(server) => server.computed(),
            Self::Installable(_) => None,
        }
    }
}
