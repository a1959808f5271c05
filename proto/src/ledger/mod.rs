//! The ledger: what the provider did to its world, line by line, in a form people and programs can read.
//!
//! `docs/ledger.md` describes the format. [`Entry`] is one line, [`Reader`] walks a ledger and checks its chain as it
//! goes, and [`World`] is what folding the committed entries gives.

mod entry;
mod hash;
mod packed;
mod reader;
#[cfg(test)]
mod sample;
mod world;

pub use entry::{Attributes, Entry, FORMAT_VERSION, Header, Operation, Phase, Reference, Torn};
pub use hash::{Digest, LineHash};
pub use packed::PackedAttributes;
pub use reader::{BadLine, Chain, HEADER_LIMIT, LINE_LIMIT, LedgerError, Line, Reader, Record, Tail};
pub use world::{Conflict, Object, World};
