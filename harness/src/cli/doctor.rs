//! `equiform doctor`: what is installed, what is missing, and what to type. [`checks`] checks, this prints.

mod checks;

use clap::Args;

use super::{CannotRun, CliResult, Outcome, output};
use checks::Diagnosis;

/// Check whether a campaign can run here: what is installed, what is missing, and the command that helps
///
/// The exit code is 0 if a campaign can run, otherwise 2. Python and Go are needed only to install engines.
#[derive(Debug, Args)]
pub struct DoctorArgs {}

/// Runs the checks and prints one line for each.
pub fn run(_: DoctorArgs) -> CliResult {
    let Diagnosis { checks, campaign } = Diagnosis::make();
    output(|out| {
        for check in &checks {
            match &check.found {
                Ok(found) => writeln!(out, "ok       {}: {found}", check.what)?,
                Err(help) => writeln!(out, "missing  {}: {help}", check.what)?,
            }
        }
        campaign.iter().try_for_each(|command| writeln!(out, "a campaign can be run: `{command}`"))
    })?;
    match campaign {
        Some(_) => Ok(Outcome::Clean),
        None => Err(CannotRun::from("no campaign can be run here: see what is missing above")),
    }
}
