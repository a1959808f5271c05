//! `equiform standin`: the mock provider under the address of a real one.

mod install;
mod list;
mod missing;
mod remove;
mod run;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::CliResult;
use crate::standin::mirror::StandinMirror;
use crate::util::shell;

/// Let the mock provider stand in for any other: plan, apply, change and destroy programs without a cloud
///
/// A stand-in is the mock provider under the address of a real provider, with that provider's schema. Programs are used
/// unchanged. It builds nothing, and records every operation in a ledger. The schema is what
/// `terraform providers schema -json` prints in a folder whose program uses the provider.
///
/// `equiform standin run DIR` does everything for a program. See docs/standin.md.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    equiform standin run infrastructure --destroy\n  \
    equiform standin install --schema schema.json --as hashicorp/aws@5.31.0\n  \
    equiform standin list")]
pub struct Standin {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::Run>),
    Install(install::Install),
    List(list::List),
    Remove(remove::Remove),
}

impl Standin {
    /// Runs the command.
    pub fn run(self) -> CliResult {
        match self.command {
            Command::Run(run) => run.run(),
            Command::Install(install) => install.run(),
            Command::List(list) => list.run(),
            Command::Remove(remove) => remove.run(),
        }
    }
}

/// The name of the configuration file, inside a mirror, that makes engines use its stand-ins.
const CONFIGURATION: &str = "standin.tfrc";

/// Where stand-ins are installed.
#[derive(Debug, Args)]
struct MirrorArgs {
    /// The folder of installed providers
    #[arg(long, value_name = "DIR", default_value = ".equiform/mirror")]
    mirror: PathBuf,
}

impl MirrorArgs {
    fn mirror(&self) -> StandinMirror {
        StandinMirror::at(&self.mirror)
    }
}

/// A path quoted for a shell.
fn shell_word(path: &Path) -> String {
    shell::word(&path.display().to_string()).into_owned()
}
