//! What commands that judge share: which engine bugs are known.

use std::path::PathBuf;

use clap::Args;

use super::CannotRun;
use crate::judge::known::KnownFindings;

/// Which engine bugs are known.
#[derive(Debug, Args)]
pub struct KnownArgs {
    /// A file of known findings, in place of those that come with equiform
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Report known findings like new ones
    #[arg(long, conflicts_with = "known")]
    no_known: bool,
}

impl KnownArgs {
    /// What is known.
    pub fn read(&self) -> Result<KnownFindings, CannotRun> {
        match &self.known {
            _ if self.no_known => Ok(KnownFindings::none()),
            Some(path) => Ok(KnownFindings::read(path)?),
            None => Ok(KnownFindings::shipped()),
        }
    }
}
