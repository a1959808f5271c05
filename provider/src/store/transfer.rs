//! How a state's bytes come and go: in chunks that say which bytes of the whole they are.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};

use tempfile::NamedTempFile;

use super::{STATE, Store, name_of};
use crate::diagnostic::Problem;

/// A part of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// How many the whole state has.
    pub total: i64,
    /// The place of the first byte.
    pub start: i64,
    /// The place of the last byte.
    pub end: i64,
}

/// A state on its way out. It is the one that was there when the reading began, also if another takes its place.
#[derive(Debug)]
pub struct Reading {
    store: Store,
    file: File,
    total: u64,
    read: u64,
}

impl Reading {
    /// The next chunk; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Chunk>, Problem> {
        if self.read == self.total {
            return Ok(None);
        }
        let length = (self.total - self.read).min(self.store.chunk as u64);
        let mut bytes = Vec::new();
        let read = (&mut self.file).take(length).read_to_end(&mut bytes);
        read.map_err(|error| self.store.failure(&error))?;
        if bytes.len() as u64 != length {
            return Err(Problem::new(
                "The state became shorter while it was read",
                "Someone changes the files of the state store by hand. Run the command again.",
            ));
        }
        let place = |place: u64| i64::try_from(place).unwrap_or(i64::MAX);
        let start = self.read;
        self.read += length;
        Ok(Some(Chunk { bytes, total: place(self.total), start: place(start), end: place(self.read - 1) }))
    }
}

/// A state on its way in. Nothing of it is there before all of it is.
#[derive(Debug)]
pub struct Writing {
    store: Store,
    name: String,
    file: NamedTempFile,
    total: i64,
    written: i64,
}

impl Writing {
    /// Takes the next chunk.
    pub fn add(&mut self, chunk: &Chunk) -> Result<(), Problem> {
        let length = i64::try_from(chunk.bytes.len()).unwrap_or(i64::MAX);
        let end = self.written.saturating_add(length);
        let is_last = end == self.total;
        let wrong = if chunk.total != self.total {
            Some(format!("that the state has {} bytes, after it had said {}", chunk.total, self.total))
        } else if length == 0 || (chunk.start, chunk.end) != (self.written, end - 1) {
            let Chunk { start, end, .. } = chunk;
            Some(format!("{length} bytes as bytes {start} to {end}, after byte {}", self.written - 1))
        } else if end > self.total {
            Some(format!("more than the {} bytes that it had announced", self.total))
        } else if chunk.bytes.len() > self.store.chunk || (chunk.bytes.len() < self.store.chunk && !is_last) {
            Some(format!("a chunk of {length} bytes where {} had been agreed on", self.store.chunk))
        } else {
            None
        };
        if let Some(wrong) = wrong {
            return Err(Problem::engine(format!("It sent {wrong}.")));
        }
        self.file.write_all(&chunk.bytes).map_err(|error| self.store.failure(&error))?;
        self.written = end;
        Ok(())
    }

    /// Puts the state in its place. How many bytes it has.
    pub fn finish(self) -> Result<i64, Problem> {
        let Self { store, name, file, total, written } = self;
        if written != total {
            return Err(Problem::engine(format!("It sent {written} of the {total} bytes of a state.")));
        }
        file.as_file().sync_all().map_err(|error| store.failure(&error))?;
        let _guard = store.guard()?;
        file.persist(store.place(&name, STATE)).map_err(|error| store.failure(&error.error))?;
        Ok(total)
    }
}

impl Store {
    /// Begins to read a state; `None` if there is none.
    pub fn read(&self, state: &str) -> Result<Option<Reading>, Problem> {
        let file = match File::open(self.place(&name_of(state)?, STATE)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failure(&error)),
        };
        let total = file.metadata().map_err(|error| self.failure(&error))?.len();
        Ok(Some(Reading { store: self.clone(), file, total, read: 0 }))
    }

    /// Begins to write a state with this number of bytes.
    pub fn write(&self, state: &str, total: i64) -> Result<Writing, Problem> {
        let name = name_of(state)?;
        if total <= 0 {
            return Err(Problem::engine(format!("It sent a state of {total} bytes.")));
        }
        Ok(Writing { store: self.clone(), name, file: self.unfinished()?, total, written: 0 })
    }
}
