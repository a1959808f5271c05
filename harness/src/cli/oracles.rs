//! `equiform oracles`: who judges, and choosing among them.

use clap::Args;

use super::{CannotRun, CliResult, Outcome, output};
use crate::judge::oracles::{ORACLES, Oracle};

/// List the oracles: their names, and what each looks at.
#[derive(Debug, Args)]
pub struct OraclesArgs {}

/// Lists them.
pub fn run(_: OraclesArgs) -> CliResult {
    let width = ORACLES.iter().map(|oracle| oracle.name().len()).max().unwrap_or(0);
    output(|out| {
        ORACLES.iter().try_for_each(|oracle| writeln!(out, "{:width$}  {}", oracle.name(), oracle.about))
    })?;
    Ok(Outcome::Clean)
}

/// The oracles with these names; all, if no name is given.
pub fn chosen(names: &[String]) -> Result<Vec<&'static Oracle>, CannotRun> {
    if names.is_empty() {
        return Ok(ORACLES.iter().collect());
    }
    let find = |name: &String| {
        ORACLES.iter().find(|oracle| oracle.name() == name).ok_or_else(|| {
            CannotRun::from(format!("there is no oracle {name:?}; `equiform oracles` lists them"))
        })
    };
    names.iter().map(find).collect()
}
