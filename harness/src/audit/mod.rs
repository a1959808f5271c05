//! Reading a ledger for a person: filters, text, the tail, and the difference between two worlds. Plain data
//! in, text out.

mod address_book;
mod diff;
mod entry_text;
mod filter;
mod names;
mod palette;
mod tail;
mod walk;
mod world_text;

pub use address_book::{AddressBook, Named, Sureness};
pub use diff::{AttributeChange, Change, ChangeKind, WorldDiff, Worlds};
pub use entry_text::EntryText;
pub use filter::{Filter, NotARange, SeqRange};
pub use names::{Names, printable, short_id};
pub use palette::Palette;
pub use tail::{Follow, Tailed, last_entries};
pub use walk::{AuditError, Walk};
pub use world_text::world_text;
