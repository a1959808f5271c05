//! What a user can ask of the provider's binary: to stay up for engines to attach to, to serve the runs of another
//! program, and to change the world behind an engine's back.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use equiform_proto::ledger::{Operation, Phase};

use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger};
use crate::resource::{find, node, references};
use crate::value::{Number, Object, Value};
use crate::{plugin, resource};

/// The mock provider of equiform: a plugin for Terraform and OpenTofu that has no side effects. Its ledger is
/// the cloud.
///
/// Engines start this binary by themselves. Put it where `init` finds it (`make install` does) and write
/// `source = "equiform.test/equiform/mock"` into the program.
#[derive(Debug, Parser)]
#[command(name = "terraform-provider-mock", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve any number of engines from one process
    ///
    /// Prints the line to `export`, then serves in plaintext on a private socket until Ctrl-C. An engine that has the
    /// variable starts no provider of its own. Ledger and run are taken from each engine's provider block, environment
    /// and working directory, as if it had started the provider itself.
    Reattach {
        /// End also when standard input does: whoever holds its other end is then gone, however it ended
        #[arg(long)]
        until_stdin_closes: bool,
        /// The version of the plugin protocol that engines are told to speak: 5 or 6
        #[arg(long, env = "EQUIFORM_PROTOCOL", default_value = "6")]
        protocol: plugin::Protocol,
    },
    /// Serve the runs that another program begins
    ///
    /// Prints a line of JSON that names the control socket, then serves until standard input ends. Over the control
    /// socket a program asks for an endpoint, and says which run is served there: its ledger, label, hold and faults.
    /// docs/provider.md describes the messages.
    Serve {
        /// The version of the plugin protocol that engines are told to speak: 5 or 6
        #[arg(long, env = "EQUIFORM_PROTOCOL", default_value = "6")]
        protocol: plugin::Protocol,
    },
    /// Change the world behind the engine's back
    Drift {
        #[command(subcommand)]
        change: Drift,
    },
    /// Write a remark into the ledger
    Mark {
        /// The remark
        text: String,
        #[command(flatten)]
        ledger: LedgerArgs,
    },
}

#[derive(Debug, Subcommand)]
enum Drift {
    /// Delete an object
    Delete {
        #[command(flatten)]
        object: ObjectArgs,
        #[command(flatten)]
        ledger: LedgerArgs,
    },
    /// Give an attribute of an object another value
    Set {
        #[command(flatten)]
        object: ObjectArgs,
        /// The attribute
        attribute: Settable,
        /// Its new value; null without one
        value: Option<String>,
        /// Make it null, which is also what no value does
        #[arg(long, conflicts_with = "value")]
        null: bool,
        #[command(flatten)]
        ledger: LedgerArgs,
    },
    /// Give an object another label: the same as `set OBJECT label LABEL`
    Label {
        #[command(flatten)]
        object: ObjectArgs,
        /// The new label
        label: String,
        #[command(flatten)]
        ledger: LedgerArgs,
    },
}

#[derive(Debug, Args)]
struct ObjectArgs {
    /// The object's id or key
    object: String,
    /// If several objects have the key, take the one that changed last: after an interrupted replacement, that is the
    /// new one
    #[arg(long)]
    last_changed: bool,
}

/// The attributes that can be set: those whose value is any text.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Settable {
    /// Its change in the program is an update
    Label,
    /// Its change in the program is a replacement
    Pin,
}

impl Settable {
    fn name(self) -> &'static str {
        match self {
            Self::Label => node::LABEL,
            Self::Pin => node::PIN,
        }
    }
}

/// The exit code of a command that could not run, as `equiform` has it.
const COULD_NOT_RUN: u8 = 2;

#[derive(Debug, Args)]
struct LedgerArgs {
    /// The ledger's file, which must be there
    #[arg(long, env = "EQUIFORM_LEDGER", default_value = "equiform.ledger.jsonl")]
    ledger: PathBuf,
    /// A label for the entry
    #[arg(long, env = "EQUIFORM_RUN")]
    run: Option<String>,
}

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    if std::env::args_os().len() == 1 {
        eprintln!(
            "This is a plugin: Terraform and OpenTofu start it, people do not. What people can do with it:\n\n{}",
            Cli::command().render_help()
        );
        return ExitCode::FAILURE;
    }
    match Cli::parse().command {
        Command::Reattach { until_stdin_closes, protocol } => {
            exit_code(plugin::reattach(protocol, until_stdin_closes))
        }
        Command::Serve { protocol } => exit_code(plugin::controlled(protocol)),
        Command::Drift { change } => told(block_on(drift(change)), ExitCode::from(COULD_NOT_RUN)),
        Command::Mark { text, ledger } => told(block_on(mark(text, ledger)), ExitCode::from(COULD_NOT_RUN)),
    }
}

/// The exit code for a result, with the failure told on stderr.
pub fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    told(result, ExitCode::FAILURE)
}

fn told(result: Result<(), Box<dyn Error>>, on_failure: ExitCode) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            on_failure
        }
    }
}

fn block_on(task: impl Future<Output = Result<(), Problem>>) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(task).map_err(|problem| format!("{}\n\n{}", problem.summary, problem.detail).into())
}

async fn drift(change: Drift) -> Result<(), Problem> {
    let (object, args, new) = match change {
        Drift::Delete { object, ledger } => (object, ledger, None),
        Drift::Set { object, attribute, value, ledger, .. } => (object, ledger, Some((attribute, value))),
        Drift::Label { object, label, ledger } => (object, ledger, Some((Settable::Label, Some(label)))),
    };
    let node = resource::node::resource();
    let ledger = Ledger::open_existing(&args.ledger)?;
    let found = match find::by_id_or_key(&ledger, &node, &object.object).await {
        Err(_) if object.last_changed => find::by_key(&ledger, &node, &object.object).await?,
        found => found?,
    };
    let id = found.id.as_str();
    // Looked up again under the lock: an engine may have changed the object meanwhile, or deleted it.
    let mut transaction = ledger.lock().await?;
    let before = match transaction.by_id(id)? {
        Some(entry) => node.object_of(&entry)?,
        None => return Err(find::not_found(&ledger, &node, id, "id")),
    };
    let after: Option<Object> = match new {
        None => None,
        Some((attribute, value)) => {
            let mut after = before.clone();
            after.insert(attribute.name().to_owned(), value.map_or(Value::Null, Value::String));
            if let Some(Value::Number(revision)) = before.get(node::REVISION) {
                let next = revision.as_i64().unwrap_or(0).saturating_add(1);
                after.insert(node::REVISION.to_owned(), Value::Number(Number::from(next)));
            }
            Some(after)
        }
    };
    let body = Body {
        run: args.run,
        type_name: Some(node.name.to_owned()),
        key: resource::text(&before, node::KEY).map(str::to_owned),
        id: Some(id.to_owned()),
        refs: after.as_ref().map(|after| references::of(&node, after, Some(id))).unwrap_or_default(),
        before: Some(node.attributes_of(&before)),
        after: after.as_ref().map(|after| node.attributes_of(after)),
        ..Body::default()
    };
    transaction.append(Operation::Drift, Phase::Commit, body)?;
    Ok(())
}

async fn mark(text: String, args: LedgerArgs) -> Result<(), Problem> {
    let ledger = Ledger::open_existing(&args.ledger)?;
    let body = Body { run: args.run, note: Some(text), ..Body::default() };
    ledger.lock().await?.append(Operation::Mark, Phase::Commit, body)?;
    Ok(())
}
