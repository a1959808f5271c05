//! How an engine is run.

use serde::{Deserialize, Serialize};

use super::hold::Hold;
use crate::engines::driver::{ProviderMode, Syntax};

/// How an engine is run, as people choose it. What it does must not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// How it reaches the provider.
    pub provider: ProviderMode,
    /// How programs are written.
    pub syntax: Syntax,
    /// How operations are held.
    pub hold: Hold,
    /// Whether an engine that can be kept warm is.
    #[serde(default)]
    pub warm: bool,
}

impl Default for Mode {
    fn default() -> Self {
        Self { provider: ProviderMode::default(), syntax: Syntax::default(), hold: Hold::QUIET, warm: false }
    }
}

/// How the engine's commands are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Each in a process of its own, as people run them.
    Cold,
    /// One after another in a process that stays.
    Warm,
}
