//! `equiform-lab equiv`: whether two programs mean the same.

use clap::Args;
use equiform_algebra::cli::{CannotRun, output};
use equiform_algebra::graph::NamedGraph;
use equiform_algebra::program::parse;

use super::{CliResult, Outcome};

/// Decide whether two programs mean the same graph: exit 0 if they do, 1 with the difference if not, 2 if one is
/// ill-formed.
#[derive(Debug, Args)]
pub struct EquivArgs {
    /// A program, as an s-expression.
    #[arg(value_name = "A")]
    left: String,
    /// Another program.
    #[arg(value_name = "B")]
    right: String,
}

/// Runs the subcommand.
pub fn run(args: EquivArgs) -> CliResult {
    let (left, right) = (graph("A", &args.left)?, graph("B", &args.right)?);
    let differences = left.differences(&right);
    if differences.is_empty() {
        return Ok(Outcome::Clean);
    }
    output(|out| {
        writeln!(out, "A and B differ; from A to B:")?;
        differences.iter().try_for_each(|line| writeln!(out, "{line}"))
    })?;
    Ok(Outcome::Findings)
}

fn graph(which: &str, text: &str) -> Result<NamedGraph, CannotRun> {
    let located = |error| format!("{which}, {error}");
    let parsed = parse(text).map_err(located)?;
    Ok(NamedGraph::new(&parsed.eval().map_err(located)?, &parsed.names))
}
