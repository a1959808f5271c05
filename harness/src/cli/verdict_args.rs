//! What commands that judge stored cases share: by which oracles and rules, and what is known.

use clap::Args;

use super::CannotRun;
use super::known_args::KnownArgs;
use super::leave_out_args::LeaveOutArgs;
use super::oracles::chosen;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;

/// How stored cases are judged.
#[derive(Debug, Args)]
pub struct VerdictArgs {
    /// The oracles to run [default: all]
    #[arg(long, value_delimiter = ',')]
    oracles: Vec<String>,
    #[command(flatten)]
    pub leave_out: LeaveOutArgs,
    #[command(flatten)]
    known: KnownArgs,
}

impl VerdictArgs {
    /// The oracles, and what is known.
    pub fn read(&self) -> Result<(Vec<&'static Oracle>, KnownFindings), CannotRun> {
        Ok((chosen(&self.oracles)?, self.known.read()?))
    }
}
