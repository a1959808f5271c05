//! The two ways in which an engine reaches the mock provider.

use std::ffi::OsString;
use std::fmt::{self, Display};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::mirror::Mirror;
use super::provider::{self, ProviderError, Server};
use super::provider_log::ProviderLog;

/// Which way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// One provider is up for all, and engines attach to it
    #[default]
    Reattach,
    /// Engines install it by `init` and start it themselves, as they do for their users
    Init,
}

impl Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reattach => "reattach",
            Self::Init => "init",
        })
    }
}

/// How an engine reaches the provider.
#[derive(Debug, Clone)]
pub enum Access {
    /// It attaches to one that is up.
    Reattached {
        /// The value of `TF_REATTACH_PROVIDERS` by which it finds it.
        variable: OsString,
        /// What the provider says.
        log: Arc<ProviderLog>,
    },
    /// It installs it from a mirror, which this configuration file names.
    Mirror {
        /// The engine's configuration file.
        config: PathBuf,
        /// Where providers that crash say so.
        crash_log: PathBuf,
        /// The same, as it is read.
        log: Arc<ProviderLog>,
    },
}

impl Access {
    /// What the provider says of itself.
    pub fn log(&self) -> &ProviderLog {
        match self {
            Self::Reattached { log, .. } | Self::Mirror { log, .. } => log,
        }
    }
}

/// A provider that engines can reach, for as long as this lives.
pub enum Provider {
    /// One that is up.
    Up(Server),
    /// One to install.
    Installable(Mirror),
}

impl Provider {
    /// Makes the provider beside this program reachable.
    pub fn start(way: Way) -> Result<Self, ProviderError> {
        let path = provider::locate()?;
        match way {
            Way::Reattach => Server::start(&path).map(Self::Up),
            Way::Init => Mirror::of(&path).map(Self::Installable),
        }
    }

    /// What engines need to reach it.
    pub fn access(&self) -> Access {
        match self {
            Self::Up(server) => {
                Access::Reattached { variable: server.reattach().to_owned(), log: server.log().clone() }
            }
            Self::Installable(mirror) => Access::Mirror {
                config: mirror.config().to_owned(),
                crash_log: mirror.crash_log().to_owned(),
                log: mirror.log().clone(),
            },
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
