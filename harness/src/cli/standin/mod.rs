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

/// Have the mock provider stand in for any other: plan, apply, change and destroy programs without a cloud
///
/// A stand-in is the mock provider under the address of a real one, with that one's schema: programs are used as they
/// are. It builds nothing, and keeps a ledger of every operation. The schema is what `terraform providers schema -json`
/// prints in a folder whose program uses the provider.
///
/// `equiform standin run DIR` does all of it for a program. See docs/standin.md.
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

/// The name of the configuration file that leads engines to the stand-ins of a mirror. It stands in it.
const CONFIGURATION: &str = "standin.tfrc";

/// Where stand-ins are.
#[derive(Debug, Args)]
struct MirrorArgs {
    /// The folder of providers
    #[arg(long, value_name = "DIR", default_value = ".equiform/mirror")]
    mirror: PathBuf,
}

impl MirrorArgs {
    fn mirror(&self) -> StandinMirror {
        StandinMirror::at(&self.mirror)
    }
}

/// A path as a word of a shell.
fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+@:=".contains(c));
    if is_plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
