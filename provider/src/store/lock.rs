//! Who works on a state. A lock is a file, so it outlives the process that took it, and goes by its id alone.

use std::fs;
use std::io::{ErrorKind, Write};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{LOCK, Store, name_of};
use crate::diagnostic::Problem;
use crate::mint;

/// A lock on a state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// What unlocks it.
    pub id: String,
    /// What the engine is doing.
    pub operation: String,
    /// Who took it.
    pub who: String,
    /// When.
    pub since: Timestamp,
}

impl Lock {
    /// What to say to whoever comes too late.
    pub(super) fn held(&self, state: &str) -> Problem {
        let Self { id, operation, who, since } = self;
        Problem::new(
            format!("The state {state:?} is locked"),
            format!(
                "The lock {id} was taken by {who} at {since:.0} for {operation:?}. Wait until that is done, or, if it \
                 has ended without unlocking, unlock the state by that id (`force-unlock {id}`)."
            ),
        )
    }
}

impl Store {
    /// Locks a state; fails if it is locked.
    pub fn lock(&self, state: &str, operation: &str, who: String) -> Result<Lock, Problem> {
        let name = name_of(state)?;
        let lock =
            Lock { id: mint::random("lock"), operation: operation.to_owned(), who, since: Timestamp::now() };
        let mut file = self.unfinished()?;
        let _guard = self.guard()?;
        if let Some(lock) = self.lock_of(&name)? {
            return Err(lock.held(state));
        }
        let text = serde_json::to_vec(&lock).expect("a lock is JSON");
        let written = file.write_all(&text).and_then(|()| file.as_file().sync_all());
        written.map_err(|error| self.failure(&error))?;
        let kept = file.persist_noclobber(self.place(&name, LOCK));
        kept.map_err(|error| self.failure(&error.error))?;
        Ok(lock)
    }

    /// Unlocks a state, if this is the id of its lock.
    pub fn unlock(&self, state: &str, id: &str) -> Result<(), Problem> {
        let name = name_of(state)?;
        let not_locked = || {
            Problem::new(
                format!("The state {state:?} is not locked"),
                "There is nothing to unlock: it was already unlocked, or never locked.",
            )
        };
        if !self.folder.is_dir() {
            return Err(not_locked());
        }
        let _guard = self.guard()?;
        match self.lock_of(&name)? {
            None => Err(not_locked()),
            Some(lock) if lock.id != id => {
                let held = lock.held(state);
                let detail = format!("The id that was given is {id:?}. {}", held.detail);
                Err(Problem::new(format!("The state {state:?} is locked under another id"), detail))
            }
            Some(_) => fs::remove_file(self.place(&name, LOCK)).map_err(|error| self.failure(&error)),
        }
    }

    pub(super) fn lock_of(&self, name: &str) -> Result<Option<Lock>, Problem> {
        let path = self.place(name, LOCK);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failure(&error)),
        };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| {
            Problem::new(
                "A lock cannot be read",
                format!(
                    "The file {} is not one that this provider wrote: {error}. Remove it if nobody works on the state.",
                    path.display()
                ),
            )
        })
    }
}
