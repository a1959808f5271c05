//! `equiform completions`: scripts that let a shell complete commands and options.

use clap::{Args, Command};
use clap_complete::{Shell, generate};

use super::{CliResult, Outcome, output};

/// Print a script that lets a shell complete commands and options
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(equiform completions bash)
  equiform completions fish > ~/.config/fish/completions/equiform.fish")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the script for a command.
pub fn run(args: CompletionsArgs, command: &mut Command) -> CliResult {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    // clap panics if it cannot write, so it writes to memory.
    generate(args.shell, command, name, &mut script);
    output(|out| out.write_all(&script))?;
    Ok(Outcome::Clean)
}
