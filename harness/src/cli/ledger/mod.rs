//! `equiform ledger`: reading ledgers, one file for each subcommand.

mod diff;
mod graph;
mod output;
mod report;
mod show;
mod state_args;
mod tail;
mod verify;
mod world;

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use equiform_proto::ledger::{Operation, Phase};

use self::output::Stop;
use super::format::OutputFormat;
use super::{CannotRun, CliResult, Outcome};
use crate::audit::{AddressBook, AuditError, Filter, SeqRange};

/// Read a ledger: what the provider did, and what exists now
///
/// The ledger is a file of JSON lines that the mock provider appends to. Equiform judges engines by it. These commands
/// read it and never change it.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all is well, 1 the ledger is damaged (or, for diff, the worlds differ), \
                        2 there is no ledger to read."
)]
pub struct Ledger {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Show(show::Show),
    Tail(tail::Tail),
    Verify(verify::Verify),
    World(world::World),
    Graph(graph::Graph),
    Diff(diff::Diff),
    Report(report::Report),
}

impl Ledger {
    /// Runs the command, and reports what stopped it.
    pub fn run(self) -> CliResult {
        let (result, verifies) = match self.command {
            Command::Show(show) => (show.run(), false),
            Command::Tail(tail) => (tail.run(), false),
            Command::Verify(verify) => (verify.run(), true),
            Command::World(world) => (world.run(), false),
            Command::Graph(graph) => (graph.run(), false),
            Command::Diff(diff) => (diff.run(), false),
            Command::Report(report) => (report.run(), false),
        };
        match result {
            Ok(outcome) => Ok(outcome),
            Err(Stop::ClosedPipe) => Ok(Outcome::Clean),
            Err(Stop::Audit(error)) if error.is_damage() => {
                eprintln!("error: {error}");
                if !verifies && !matches!(error, AuditError::Shrunk { .. }) {
                    eprintln!(
                        "hint: `equiform ledger verify` checks the whole ledger and names the first bad line"
                    );
                }
                Ok(Outcome::Findings)
            }
            Err(Stop::Audit(error)) => Err(error.into()),
            Err(Stop::Page(error)) => Err(error.into()),
            Err(Stop::State(error)) => Err(error.into()),
            Err(Stop::Output(error)) => Err(format!("the output could not be written: {error}").into()),
        }
    }
}

/// Prints the entries after the given one that change something, as `ledger show` does. Returns whether there are any.
pub fn show_entries(ledger: &Path, book: &AddressBook, after: u64) -> Result<bool, CannotRun> {
    let seqs = SeqRange { first: after + 1, ..SeqRange::default() };
    ended(show::entries(ledger, book, &Filter { seqs, ..Filter::default() }, OutputFormat::Text))
}

/// Prints the graph of a ledger, as `ledger graph` does, and how certain the names are.
pub fn show_graph(ledger: &Path, book: &AddressBook) -> Result<(), CannotRun> {
    ended(graph::text(ledger, book))
}

fn ended<T: Default>(result: Result<T, Stop>) -> Result<T, CannotRun> {
    match result {
        Ok(done) => Ok(done),
        Err(Stop::ClosedPipe) => Ok(T::default()),
        Err(Stop::Audit(error)) => Err(error.into()),
        Err(Stop::Page(error)) => Err(error.into()),
        Err(Stop::State(error)) => Err(error.into()),
        Err(Stop::Output(error)) => Err(format!("the output could not be written: {error}").into()),
    }
}

/// The ledger to read.
#[derive(Debug, Args)]
struct LedgerFile {
    /// The ledger file
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

/// Which entries to show. If an option has several values, any of them may match; if several options are given, all of
/// them must match.
#[derive(Debug, Args)]
#[command(next_help_heading = "Filters")]
struct FilterArgs {
    /// Entries about the object with this key (repeatable)
    #[arg(long, value_name = "KEY")]
    key: Vec<String>,

    /// Entries about the object with this id or a prefix of it (repeatable)
    #[arg(long, value_name = "ID")]
    id: Vec<String>,

    /// Entries of the run with this label (repeatable)
    #[arg(long, value_name = "LABEL")]
    run: Vec<String>,

    /// Entries of these operations, separated by commas
    #[arg(long, value_name = "OPERATION", value_delimiter = ',', value_parser = operation_parser())]
    op: Vec<Operation>,

    /// Also show what changes nothing: plans, reads, configurations and stops. With --op or --seq they are always shown
    #[arg(long, conflicts_with_all = ["op", "seq"])]
    all: bool,

    /// Entries of these phases, separated by commas
    #[arg(long, value_name = "PHASE", value_delimiter = ',', value_parser = phase_parser())]
    phase: Vec<Phase>,

    /// Entries in this range of seq, both ends included: 5, 5..9, 5.. or ..9
    #[arg(long, value_name = "RANGE", default_value = "..", hide_default_value = true)]
    seq: SeqRange,
}

impl FilterArgs {
    fn into_filter(self) -> Filter {
        Filter {
            keys: self.key,
            ids: self.id,
            runs: self.run,
            requests: self.all || !self.op.is_empty() || !self.seq.is_everything(),
            ops: self.op,
            phases: self.phase,
            seqs: self.seq,
        }
    }
}

fn operation_parser() -> impl TypedValueParser<Value = Operation> {
    PossibleValuesParser::new(Operation::ALL.map(Operation::name)).map(|name| {
        Operation::ALL.into_iter().find(|op| op.name() == name).expect("only an operation's name is accepted")
    })
}

fn phase_parser() -> impl TypedValueParser<Value = Phase> {
    PossibleValuesParser::new(Phase::ALL.map(Phase::name)).map(|name| {
        Phase::ALL.into_iter().find(|phase| phase.name() == name).expect("only a phase's name is accepted")
    })
}
