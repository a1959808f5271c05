//! `equiform-lab eval`: what programs mean.

use std::io;

use clap::Args;
use equiform_algebra::cli::output;
use equiform_algebra::graph::NamedGraph;
use equiform_algebra::program::{Parsed, SyntaxError, TermReader};

use super::{CliResult, Outcome};

/// Evaluate programs from standard input, and print their graphs as JSON, one line each.
///
/// Programs are s-expressions such as `(con r0 r1 (add r1 (add r0 empty)))`, or the JSON lines of `generate --format
/// json`. A program may span lines, and `;` starts a comment. Each `con a b` goes upward in an order that the program's
/// own `con` determine, so no intermediate graph has a cycle.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Print the graph after each batch, not only the last.
    #[arg(long)]
    each_batch: bool,
}

/// Runs the subcommand.
pub fn run(args: EvalArgs) -> CliResult {
    let mut failure: Option<SyntaxError> = None;
    output(|out| {
        for parsed in TermReader::new(io::stdin().lock()) {
            match parsed.and_then(|parsed| evaluate(&parsed, args.each_batch)) {
                Ok(lines) => lines.iter().try_for_each(|line| writeln!(out, "{line}"))?,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        Ok(())
    })?;
    failure.map_or(Ok(Outcome::Clean), |error| Err(format!("standard input, {error}").into()))
}

fn evaluate(parsed: &Parsed, each_batch: bool) -> Result<Vec<String>, SyntaxError> {
    let json = |graph: &_| {
        serde_json::to_string(&NamedGraph::new(graph, &parsed.names)).expect("a graph is plain data")
    };
    let mut lines = Vec::new();
    let graph = parsed.eval_each(|done, graph| {
        if each_batch && done < parsed.derivation.len() && parsed.cuts.contains(&done) {
            lines.push(json(graph));
        }
    })?;
    lines.push(json(&graph));
    Ok(lines)
}
