//! Names for objects without a key, from an engine's state.

use std::path::{Path, PathBuf};

use clap::Args;

use super::output::Stop;
use crate::audit::{AddressBook, Walk};
use crate::engines::terraform::instances;
use equiform_proto::ledger::World;

/// Which states.
#[derive(Debug, Args)]
pub(super) struct StateArgs {
    /// An engine's state, which provides the addresses of objects without a key (repeatable)
    #[arg(long = "state", value_name = "FILE")]
    states: Vec<PathBuf>,
}

impl StateArgs {
    /// The addresses of the objects of a ledger. Prints a note for each that is not certain.
    pub(super) fn book(&self, ledger: &Path) -> Result<AddressBook, Stop> {
        if self.states.is_empty() {
            return Ok(AddressBook::default());
        }
        // The command that shows the ledger reports damage. Certain names need no world.
        let world = Walk::open(ledger, |file| Box::new(file)).and_then(|mut walk| walk.fold(None));
        self.learn(&world.unwrap_or_default())
    }

    fn learn(&self, world: &World) -> Result<AddressBook, Stop> {
        let mut book = AddressBook::default();
        for path in &self.states {
            book.learn(&instances::read(path)?, world);
        }
        for doubt in book.doubts(world) {
            eprintln!("note: {doubt}");
        }
        Ok(book)
    }
}
