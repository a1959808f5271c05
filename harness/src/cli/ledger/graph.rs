//! `equiform ledger graph`: which object depends on which.

use std::io::{self, Write};
use std::path::Path;

use clap::{Args, ValueEnum};

use super::LedgerFile;
use super::output::{self, Stop};
use super::state_args::StateArgs;
use crate::algebra::graph::NamedGraph;
use crate::audit::{AddressBook, printable};
use crate::cli::Outcome;
use crate::judge::observe::{Dangling, SharedKey, graph_of, shared_keys};

/// Show the graph of the existing objects, by the ids that they hold
///
/// An edge leads from a dependency to its dependent. `depends_on` leaves no id in the objects, and so no edge here. A
/// reference to an object that does not exist is not an edge either; such references are listed separately. So are
/// objects that share a key, like the two of a replacement in progress: they are one node.
#[derive(Debug, Args)]
pub(super) struct Graph {
    #[command(flatten)]
    file: LedgerFile,

    /// The graph just after this entry instead of at the end; 0 is the empty graph
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,

    #[command(flatten)]
    state: StateArgs,

    /// The output format
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    format: GraphFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GraphFormat {
    /// Text to read
    Text,
    /// One line: {"nodes":["r0","r1"],"edges":[["r0","r1"]]}
    Json,
    /// For Graphviz
    Dot,
    /// For Mermaid
    Mermaid,
}

impl Graph {
    pub(super) fn run(self) -> Result<Outcome, Stop> {
        let book = self.state.book(&self.file.path)?;
        let mut walk = output::open(&self.file.path)?;
        let mut world = walk.fold(self.at)?;
        book.name_world(&mut world);
        let (graph, dangling) = graph_of(&world);
        let shared = shared_keys(&world);
        let mut out = output::stdout();
        match self.format {
            GraphFormat::Json => {
                let json = serde_json::to_string(&graph).expect("names serialise");
                writeln!(out, "{json}")?;
            }
            GraphFormat::Dot => write!(out, "{}", graph.to_dot())?,
            GraphFormat::Mermaid => write!(out, "{}", graph.to_mermaid())?,
            GraphFormat::Text => {
                write_text(&mut out, &graph, &dangling, &shared)?;
            }
        }
        out.flush()?;
        if self.format != GraphFormat::Text {
            for reference in &dangling {
                eprintln!("warning: {}; it is not an edge of the graph", printable(&reference.to_string()));
            }
            for key in &shared {
                eprintln!("warning: {}; they are one node of the graph", printable(&key.to_string()));
            }
        }
        if self.at.is_none() {
            output::note_torn(&self.file.path, walk.torn_bytes());
        }
        Ok(Outcome::Clean)
    }
}

/// Prints the graph at the end of a ledger as text, and how certain the names are.
pub(super) fn text(ledger: &Path, book: &AddressBook) -> Result<(), Stop> {
    let mut world = output::open(ledger)?.fold(None)?;
    let doubts = book.doubts(&world);
    book.name_world(&mut world);
    let (graph, dangling) = graph_of(&world);
    let mut out = output::stdout();
    write_text(&mut out, &graph, &dangling, &shared_keys(&world))?;
    let certain = world.len() - doubts.len();
    writeln!(out, "names: {certain} of {} are certain", world.len())?;
    for doubt in &doubts {
        writeln!(out, "  {}", printable(doubt))?;
    }
    Ok(out.flush()?)
}

fn write_text(
    out: &mut impl Write,
    graph: &NamedGraph,
    dangling: &[Dangling],
    shared: &[SharedKey],
) -> io::Result<()> {
    writeln!(out, "nodes: {}", graph.nodes.len())?;
    for node in &graph.nodes {
        writeln!(out, "  {}", printable(node))?;
    }
    writeln!(out, "edges, dependency -> dependent: {}", graph.edges.len())?;
    for (dependency, dependent) in &graph.edges {
        writeln!(out, "  {} -> {}", printable(dependency), printable(dependent))?;
    }
    if !dangling.is_empty() {
        writeln!(out, "dangling references: {}", dangling.len())?;
        for reference in dangling {
            writeln!(out, "  {}", printable(&reference.to_string()))?;
        }
    }
    if !shared.is_empty() {
        writeln!(out, "keys of several objects, which are one node: {}", shared.len())?;
        for key in shared {
            writeln!(out, "  {}", printable(&key.to_string()))?;
        }
    }
    Ok(())
}
