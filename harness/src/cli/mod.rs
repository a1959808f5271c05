//! The subcommands of `equiform`, one file each, and what they share: exit codes and how errors are printed.

mod amount;
mod bundle;
mod campaign_text;
mod cases_args;
mod compare;
mod completions;
mod doctor;
mod engine_args;
mod engines;
mod exercised_text;
mod explain;
mod generate;
mod here;
mod interrupt;
mod judge;
mod known_args;
mod layered;
mod leave_out_args;
mod ledger;
mod limit_args;
mod merge;
mod model;
mod observer;
mod oracles;
mod reduce;
mod reduce_failures_args;
mod replay;
mod report;
mod report_args;
mod run;
mod show;
mod size;
mod standin;
mod steps_shown;
mod summary;
mod variant_args;
mod verdict_args;
mod workflows;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser, Subcommand};
pub use equiform_algebra::cli::CannotRun;
use equiform_algebra::cli::{exit_code, format, no_effect, output};

/// Test Infrastructure-as-Code engines: programs that mean the same must build the same infrastructure
#[derive(Debug, Parser)]
#[command(name = "equiform", version, propagate_version = true)]
#[command(after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// clap has only one heading for all subcommands, so the groups are listed below them.
const AFTER_HELP: &str = "\
Groups of commands:
  campaigns       run, show, judge, report, replay, compare, merge
  findings        reduce, explain, bundle
  around them     standin, ledger, engines, doctor, completions
  explanations    oracles, workflows, model
  programs        generate

Exit codes: 0 all is well, 1 something was found (a difference, a bad ledger), 2 the command could not run.
`equiform-lab` evaluates, compares and rewrites programs of the algebra, and studies their generators.";

/// In the order of use, which is the order of the help.
#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Show(show::ShowArgs),
    Judge(judge::JudgeArgs),
    Report(report::ReportPageArgs),
    Replay(replay::ReplayArgs),
    Compare(compare::CompareArgs),
    Merge(merge::MergeArgs),
    Reduce(reduce::ReduceArgs),
    Explain(explain::ExplainArgs),
    Bundle(bundle::BundleArgs),
    Standin(standin::Standin),
    Ledger(ledger::Ledger),
    Engines(engines::Engines),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
    Oracles(oracles::OraclesArgs),
    Workflows(workflows::WorkflowsArgs),
    Model(model::ModelArgs),
    Generate(generate::GenerateArgs),
}

/// The exit code after a second Ctrl-C.
const INTERRUPTED: u8 = 130;

/// The result of a subcommand that ran to its end; the exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to report: exit code 0.
    Clean,
    /// The command did its work and found something wrong: exit code 1.
    Findings,
    /// The user interrupted it twice: exit code 130.
    Interrupted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Clean => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
            Outcome::Interrupted => Self::from(INTERRUPTED),
        }
    }
}

/// The result of a subcommand.
pub type CliResult = Result<Outcome, CannotRun>;

/// Parses the command line, runs the subcommand and turns its result into an exit code.
pub fn main() -> ExitCode {
    // A limit on the size of files would kill us; with a handler it is an error like a full disk.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let cli = Cli::parse();
    let result: CliResult = match cli.command {
        Command::Run(args) => run::run(*args),
        Command::Show(args) => show::run(args),
        Command::Reduce(args) => reduce::run(args),
        Command::Explain(args) => explain::run(args),
        Command::Bundle(args) => bundle::run(args),
        Command::Judge(args) => judge::run(args),
        Command::Report(args) => report::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Merge(args) => merge::run(args),
        Command::Standin(standin) => standin.run(),
        Command::Ledger(ledger) => ledger.run(),
        Command::Engines(engines) => engines.run(),
        Command::Doctor(args) => doctor::run(args),
        Command::Completions(args) => completions::run(args, &mut Cli::command()),
        Command::Oracles(args) => oracles::run(args),
        Command::Workflows(args) => workflows::run(args),
        Command::Model(args) => model::run(args),
        Command::Generate(args) => generate::run(args),
    };
    exit_code(result)
}
