//! Options that commands which judge share: which engine bugs are known.

use std::path::PathBuf;

use clap::Args;

use super::CannotRun;
use crate::judge::known::KnownFindings;

/// Which engine bugs are known.
#[derive(Debug, Args)]
pub struct KnownArgs {
    /// A file of known findings, instead of the built-in one
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Report known findings like new ones
    #[arg(long, conflicts_with = "known")]
    no_known: bool,
}

impl KnownArgs {
    /// The known engine bugs.
    pub fn read(&self) -> Result<KnownFindings, CannotRun> {
        match &self.known {
            _ if self.no_known => Ok(KnownFindings::none()),
            Some(path) => Ok(KnownFindings::read(path)?),
            None => Ok(KnownFindings::shipped()),
        }
    }
}
