//! What lies in an engine's working directory: the files of a program, and what the engine remembers between commands.

use std::fmt::Debug;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A path inside a folder: it leads neither out of it nor to the folder itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelativePath(String);

/// A path that leads out of its folder, or nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no path inside a folder")]
pub struct InvalidRelativePath(String);

impl RelativePath {
    /// A path, if it stays inside the folder.
    pub fn new(path: &str) -> Result<Self, InvalidRelativePath> {
        let stays = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if stays && !path.is_empty() {
            Ok(Self(path.to_owned()))
        } else {
            Err(InvalidRelativePath(path.to_owned()))
        }
    }

    /// Where it leads from a folder.
    pub fn within(&self, folder: &Path) -> PathBuf {
        folder.join(&self.0)
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A file of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Where it lies in the working directory.
    pub path: RelativePath,
    /// What is in it.
    pub content: String,
}

/// What an engine remembered at some point, to go back to: files of its working directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    files: Vec<(RelativePath, Vec<u8>)>,
}

impl Snapshot {
    /// Takes those of these files that are in a folder.
    pub fn take(folder: &Path, paths: impl IntoIterator<Item = RelativePath>) -> io::Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            match std::fs::read(path.within(folder)) {
                Ok(bytes) => files.push((path, bytes)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { files })
    }

    /// Puts the files into a folder.
    pub fn put_into(&self, folder: &Path) -> io::Result<()> {
        for (path, bytes) in &self.files {
            let place = path.within(folder);
            crate::private::create_folder(place.parent().unwrap_or(folder))?;
            crate::private::write(&place, bytes)?;
        }
        Ok(())
    }
}

/// A lock on an engine's memory, for as long as this lives.
pub trait HeldLock: Debug + Send {}

/// How engines of a family keep their memory in a working directory.
pub trait Workspace: Debug + Send + Sync {
    /// What the engine remembers now.
    fn snapshot(&self, folder: &Path) -> io::Result<Snapshot>;

    /// Makes another folder's engine remember that.
    fn restore(&self, folder: &Path, snapshot: &Snapshot) -> io::Result<()> {
        snapshot.put_into(folder)
    }

    /// Whether a folder in the working directory is one that the engine installs providers into. Its path ends with a
    /// slash.
    fn is_installation(&self, path: &str) -> bool;

    /// Whether a command left its memory locked.
    fn is_locked(&self, folder: &Path) -> bool;

    /// The file that a command keeps locked while it asks about objects.
    fn lock_file(&self, folder: &Path) -> PathBuf;

    /// Locks its memory as another command of the engine does, until what comes back is dropped.
    fn lock(&self, folder: &Path) -> io::Result<Box<dyn HeldLock>>;

    /// Copies the state, in the form in which the family's reader reads it, or its first `most` bytes to a file. Leaves
    /// no file if there is no state.
    fn copy_state(&self, folder: &Path, to: &Path, most: u64) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_its_folder() {
        for path in ["main.tf", "modules/a/main.tf"] {
            assert_eq!(RelativePath::new(path).unwrap().within(Path::new("/w")), Path::new("/w").join(path));
        }
        for path in ["", "/etc/passwd", "../x", "a/../../x", "."] {
            assert!(RelativePath::new(path).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_snapshot_brings_back_what_was_there_and_nothing_else() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let paths = || ["a/state", "absent"].map(|path| RelativePath::new(path).unwrap());
        std::fs::create_dir(from.path().join("a")).unwrap();
        std::fs::write(from.path().join("a/state"), "1").unwrap();
        let snapshot = Snapshot::take(from.path(), paths()).unwrap();
        std::fs::write(from.path().join("a/state"), "2").unwrap();
        snapshot.put_into(to.path()).unwrap();
        assert_eq!(std::fs::read(to.path().join("a/state")).unwrap(), b"1");
        assert!(!to.path().join("absent").exists());
    }
}
