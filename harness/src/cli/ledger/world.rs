//! `equiform ledger world`: the objects that exist.

use std::io::Write;

use clap::Args;
use equiform_proto::ledger::Object;
use serde::Serialize;

use super::LedgerFile;
use super::output::{self, Stop};
use super::state_args::StateArgs;
use crate::audit::{AddressBook, Named, world_text};
use crate::cli::Outcome;
use crate::cli::format::OutputFormat;

/// Show the objects that exist, at the end of the ledger or at an earlier point
///
/// The world is the result of the committed entries: creates, updates, deletes, and changes made behind the engine's
/// back.
#[derive(Debug, Args)]
pub(super) struct World {
    #[command(flatten)]
    file: LedgerFile,

    /// The world just after this entry instead of at the end; 0 is the empty world
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,

    #[command(flatten)]
    state: StateArgs,

    /// A line for each object, or one line of JSON with all attributes
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    format: OutputFormat,
}

/// The world as JSON.
#[derive(Serialize)]
struct Snapshot<'a> {
    seq: u64,
    objects: Vec<Addressed<'a>>,
}

/// An object with its address, if it is known.
#[derive(Serialize)]
struct Addressed<'a> {
    #[serde(flatten)]
    object: &'a Object,
    #[serde(flatten)]
    named: Option<&'a Named>,
}

impl<'a> Addressed<'a> {
    fn of(object: &'a Object, book: &'a AddressBook) -> Self {
        Self { object, named: book.of(&object.id) }
    }
}

impl World {
    pub(super) fn run(self) -> Result<Outcome, Stop> {
        let book = self.state.book(&self.file.path)?;
        let mut walk = output::open(&self.file.path)?;
        let mut world = walk.fold(self.at)?;
        let mut out = output::stdout();
        match self.format {
            OutputFormat::Text => {
                book.name_world(&mut world);
                write!(out, "{}", world_text(&world, output::palette()))?;
                let objects = if world.len() == 1 { "object" } else { "objects" };
                writeln!(out, "{} {objects} at seq {}", world.len(), walk.last_seq())?;
            }
            OutputFormat::Json => {
                let mut objects: Vec<&Object> = world.objects().collect();
                objects.sort_by_key(|object| (&object.key, &object.id));
                let objects = objects.into_iter().map(|object| Addressed::of(object, &book)).collect();
                let snapshot = Snapshot { seq: walk.last_seq(), objects };
                writeln!(out, "{}", serde_json::to_string(&snapshot).expect("attributes serialise"))?;
            }
        }
        out.flush()?;
        if self.at.is_none() {
            output::note_torn(&self.file.path, walk.torn_bytes());
        }
        Ok(Outcome::Clean)
    }
}
