//! The `equiform-lab` binary: commands for people who work on the algebra of programs. Campaigns need none of it.

mod egraph;
mod equiv;
mod eval;
mod generate;
mod rules;
mod study;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use equiform_algebra::cli::{CannotRun, exit_code};

/// The laboratory of equiform: evaluate, compare and rewrite programs of the algebra, and study their generators.
#[derive(Debug, Parser)]
#[command(name = "equiform-lab", version, propagate_version = true)]
#[command(
    after_help = "Exit codes: 0 all is well, 1 something was found (programs that differ, a rule that is \
                        unsound), 2 the command could not run."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// In the order of use, which is the order of the help.
#[derive(Debug, Subcommand)]
enum Command {
    Generate(Box<generate::GenerateArgs>),
    Eval(eval::EvalArgs),
    Equiv(equiv::EquivArgs),
    Egraph(egraph::EgraphArgs),
    Rules(rules::RulesArgs),
    Study(study::StudyArgs),
}

/// The result of a subcommand that ran to its end; the exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing to report: exit code 0.
    Clean,
    /// The command did its work and found something wrong: exit code 1.
    Findings,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Clean => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
        }
    }
}

/// The result of a subcommand.
type CliResult = Result<Outcome, CannotRun>;

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let (_, own) = matches.subcommand().expect("a subcommand is required");
    exit_code(match cli.command {
        Command::Generate(args) => generate::run(&args, own),
        Command::Eval(args) => eval::run(args),
        Command::Equiv(args) => equiv::run(args),
        Command::Egraph(args) => egraph::run(args),
        Command::Rules(args) => rules::run(args),
        Command::Study(args) => study::run(args),
    })
}
