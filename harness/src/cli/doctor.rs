//! `equiform doctor`: what is installed, what is missing, and what to type. [`checks`] looks, this prints.

mod checks;

use clap::Args;

use super::{CannotRun, CliResult, Outcome, output};
use checks::Diagnosis;

/// Look whether a campaign can be run here: what is installed, what is missing, and the command that helps
///
/// Exit code 0 if a campaign can be run, else 2. Python and Go are needed to install engines only.
#[derive(Debug, Args)]
pub struct DoctorArgs {}

/// Looks, and prints a line for each thing.
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
