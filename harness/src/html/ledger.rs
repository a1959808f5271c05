//! The page of a ledger on its own.

use std::path::Path;

use super::ledger_data::Columns;
use super::page::{Kind, Page, PageError};
use crate::audit::{AddressBook, AuditError, Walk};

/// A page of a ledger that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LedgerPageError {
    /// The ledger cannot be read, or is damaged.
    #[error(transparent)]
    Ledger(#[from] AuditError),
    /// The page cannot be written.
    #[error(transparent)]
    Page(#[from] PageError),
}

/// The most bytes of lines that a page shows. Others are left out.
const ENOUGH: u64 = 10 << 20;

/// How many lines stand together: those are read as one when somebody looks at one of them.
const TOGETHER: usize = 500;

/// Writes the page of a ledger that was opened, and gives its length in bytes. Nothing is written if the ledger is
/// damaged. Objects that have no key go by the address in the book, or by their id.
pub fn write(
    walk: &mut Walk,
    ledger: &Path,
    book: &AddressBook,
    path: &Path,
    private: bool,
) -> Result<u64, LedgerPageError> {
    let name = ledger.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut page = Page::begin(path, private, Kind::Ledger, &format!("equiform: {name}"))?;
    let mut columns = Columns::new(ledger, walk.header());
    let (mut lines, mut first) = (Vec::new(), 1);
    while let Some((number, mut entry)) = walk.next_entry()? {
        // Most lines of a long ledger are plans and reads, which say little that their columns do not.
        let is_told = page.bytes() < ENOUGH && (!entry.op.changes_nothing() || columns.len() < TOGETHER * 20);
        lines.push(is_told.then(|| columns.line(walk.bytes())));
        book.name_entry(&mut entry);
        if entry.key.is_none() {
            entry.key.clone_from(&entry.id);
        }
        columns.add(entry).map_err(|conflict| AuditError::Contradiction {
            path: ledger.to_owned(),
            line: number,
            conflict,
        })?;
        if lines.len() == TOGETHER {
            page.block(&format!("lines-{first}"), &lines)?;
            first += TOGETHER;
            lines.clear();
        }
    }
    page.block(&format!("lines-{first}"), &lines)?;
    let (torn, open) = (walk.torn_bytes(), walk.open_operations().len());
    page.block("overview", &columns.finish(torn, open, TOGETHER))?;
    Ok(page.finish()?)
}
