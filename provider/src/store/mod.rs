//! A state store: a folder of states, each a file that is whole or not there, with a lock beside it that outlives
//! processes. Plain data in, plain data out; all of it waits for the disk, so callers run it on a thread of its own.
//!
//! [`lock`] is who works on a state, [`transfer`] how its bytes come and go.

pub mod lock;
pub mod transfer;

#[cfg(test)]
mod tests;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::diagnostic::Problem;

/// The longest name of a file that a state's id may become.
const LONGEST_NAME: usize = 200;

/// The file whose lock is held while something in the folder changes.
const GUARD: &str = ".guard";
/// What is not whole yet; never a state.
const UNFINISHED: &str = ".new-";
const STATE: &str = ".tfstate";
const LOCK: &str = ".lock";

/// A state store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
    /// How many bytes a chunk of a state has, the last one excepted.
    pub chunk: usize,
}

impl Store {
    /// The store in a folder, which is made when something is first put there.
    pub fn new(folder: PathBuf, chunk: usize) -> Self {
        Self { folder, chunk: chunk.max(1) }
    }

    /// The states that are there, sorted.
    pub fn states(&self) -> Result<Vec<String>, Problem> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failure(&error)),
        };
        let mut states = Vec::new();
        for entry in entries {
            let name = entry.map_err(|error| self.failure(&error))?.file_name();
            states.extend(name.to_str().and_then(|name| name.strip_suffix(STATE)).and_then(state_of));
        }
        states.sort_unstable();
        Ok(states)
    }

    /// Removes a state. One that somebody works on stays.
    pub fn erase(&self, state: &str) -> Result<(), Problem> {
        let name = name_of(state)?;
        if !self.folder.is_dir() {
            return Err(self.no_state(state));
        }
        let _guard = self.guard()?;
        if let Some(lock) = self.lock_of(&name)? {
            return Err(lock.held(state));
        }
        match fs::remove_file(self.place(&name, STATE)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.no_state(state)),
            Err(error) => Err(self.failure(&error)),
        }
    }

    fn place(&self, name: &str, kind: &str) -> PathBuf {
        self.folder.join(format!("{name}{kind}"))
    }

    /// A file that is not whole yet, in the store's folder.
    fn unfinished(&self) -> Result<NamedTempFile, Problem> {
        self.make_folder()?;
        let file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.folder);
        file.map_err(|error| self.failure(&error))
    }

    fn make_folder(&self) -> Result<(), Problem> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        made.map_err(|error| self.failure(&error))
    }

    /// Keeps other processes from changing the store until it is dropped.
    fn guard(&self) -> Result<File, Problem> {
        let guard = || {
            let path = self.folder.join(GUARD);
            let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)?;
            file.lock()?;
            Ok::<_, io::Error>(file)
        };
        guard().map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &io::Error) -> Problem {
        failure(&self.folder, error)
    }

    fn no_state(&self, state: &str) -> Problem {
        Problem::new(
            format!("There is no state {state:?}"),
            format!("The folder {} holds no such state.", self.folder.display()),
        )
    }
}

fn failure(folder: &Path, error: &io::Error) -> Problem {
    Problem::new(
        "The state store cannot be used",
        format!(
            "It is the folder {}, and the system says: {error}. Give `path` of the state store as a folder that you \
             may write to.",
            folder.display()
        ),
    )
}

/// The name of a state's files, without their endings: letters, digits, `-` and `_` as they are, other bytes as
/// `%` and two digits. So no id leads out of the folder, and no two share a file.
fn name_of(state: &str) -> Result<String, Problem> {
    let mut name = String::new();
    for byte in state.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02x}")),
        }
        if name.len() > LONGEST_NAME {
            return Err(Problem::new(
                "The state's name is too long",
                format!(
                    "A state's name may have {LONGEST_NAME} plain characters, and fewer if they are not plain."
                ),
            ));
        }
    }
    if name.is_empty() {
        return Err(Problem::new("The state has no name", "A state store keeps states by their names."));
    }
    Ok(name)
}

/// The state whose files have this name; `None` if none can have it.
fn state_of(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    let state = String::from_utf8(bytes).ok()?;
    (name_of(&state).ok()? == name).then_some(state)
}
