//! `equiform workflows`: the ways to drive an engine.

use clap::Args;

use super::format::OutputFormat;
use super::{CliResult, Outcome, output};
use crate::case::workflow::{WORKFLOWS, Workflow};

/// List the workflows: how each drives an engine, and what it shares with plain applies of the same batches
///
/// `equiform run --workflows plain=2,drift` selects some of them with weights, `plain=60%,drift=40%` with percentages.
#[derive(Debug, Args)]
pub struct WorkflowsArgs {
    /// The output format
    #[arg(long, default_value = "text")]
    format: OutputFormat,
}

/// Prints the workflows.
pub fn run(args: WorkflowsArgs) -> CliResult {
    let width = WORKFLOWS.iter().map(|workflow| workflow.name.len()).max().unwrap_or(0);
    output(|out| match args.format {
        OutputFormat::Text => WORKFLOWS.iter().try_for_each(|Workflow { name, about, unchanged, .. }| {
            writeln!(out, "{name:width$}  {about}")?;
            writeln!(out, "{:width$}  leaves unchanged: {}", "", unchanged.text())
        }),
        OutputFormat::Json => {
            let listed: Vec<_> = WORKFLOWS
                .iter()
                .map(|Workflow { name, about, unchanged, .. }| {
                    serde_json::json!({ "name": name, "about": about, "unchanged": unchanged })
                })
                .collect();
            writeln!(out, "{}", serde_json::to_string_pretty(&listed)?)
        }
    })?;
    Ok(Outcome::Clean)
}
