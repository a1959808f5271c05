//! Files that are written whole or not at all, copies of folders, and names that are not taken yet.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::private;

/// Who may read a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Its owner alone, as evidence may contain secrets.
    Private,
    /// Whoever the umask allows.
    Usual,
    /// Everybody, whatever the umask.
    Shared,
    /// Everybody may read and run it, whatever the umask.
    Executable,
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Self::Private => 0o600,
            Self::Usual => 0o666,
            Self::Shared => 0o644,
            Self::Executable => 0o755,
        }
    }
}

/// A file that is being written. Readers see the old content until [`AtomicFile::finish`], and then the new one; a
/// file that is dropped before leaves nothing behind.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl AtomicFile {
    /// Begins a file at a path, whose folder must exist. What begins with a dot in that folder may be a draft.
    pub fn begin(path: &Path, access: Access) -> io::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = tempfile::Builder::new()
            .prefix(&format!(".{name}-"))
            .permissions(Permissions::from_mode(access.mode()))
            .tempfile_in(folder_of(path))?;
        if matches!(access, Access::Shared | Access::Executable) {
            file.as_file().set_permissions(Permissions::from_mode(access.mode()))?;
        }
        Ok(Self { path: path.to_owned(), file })
    }

    /// Puts the file in its place.
    pub fn finish(self) -> io::Result<()> {
        self.file.persist(&self.path).map(drop).map_err(|error| error.error)
    }

    /// Puts the file in its place unless there is one already. Gives whether it did.
    pub fn finish_unless_there(self) -> io::Result<bool> {
        match self.file.persist_noclobber(&self.path) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file, whole or not at all.
pub fn write_atomic(path: &Path, access: Access, content: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = AtomicFile::begin(path, access)?;
    file.write_all(content.as_ref())?;
    file.finish()
}

/// Writes a private file of JSON, whole or not at all.
pub fn write_json(path: &Path, content: &impl Serialize) -> io::Result<()> {
    // In one go: serde_json writes every token on its own.
    write_atomic(path, Access::Private, serde_json::to_vec_pretty(content)?)
}

/// The folder that a path is in: `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether there is anything at a path but an empty folder.
pub fn is_occupied(path: &Path) -> bool {
    match fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.exists(),
    }
}

/// A path in a folder at which there is nothing yet: the name itself, or the name with a number.
pub fn unused(within: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|number| within.join(format!("{name}-{number}")));
    let mut paths = std::iter::once(within.join(name)).chain(numbered);
    paths.find(|path| !path.exists()).expect("there is always a next number")
}

/// How the files of a folder are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copying {
    /// Copies are their owner's alone, whoever may read the originals.
    Private,
    /// Copies have the permissions of the originals.
    AsTheyAre,
    /// Both are the same file where the system allows it, for files that nobody changes; otherwise a private copy.
    Linked,
}

/// Copies a folder with everything in it. Symbolic links stay what they are; entries with a name in `skipped` are left
/// out. The new folders are their owner's alone, and may exist already.
pub fn copy_folder(from: &Path, to: &Path, how: Copying, skipped: &[&str]) -> io::Result<()> {
    private::create_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, name, kind) = (entry.path(), entry.file_name(), entry.file_type()?);
        if skipped.iter().any(|skipped| name == *skipped) {
            continue;
        }
        let target = to.join(name);
        if kind.is_dir() {
            copy_folder(&path, &target, how, skipped)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&path)?, &target)?;
        } else {
            copy_file(&path, &target, how)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, how: Copying) -> io::Result<()> {
    match how {
        Copying::Linked if fs::hard_link(from, to).is_ok() => Ok(()),
        Copying::Linked | Copying::Private => private::copy(from, to),
        Copying::AsTheyAre => fs::copy(from, to).map(drop),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    /// The names of what is in a folder, sorted.
    pub fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_atomic(&path, Access::Private, "old").unwrap();
        let mut file = AtomicFile::begin(&path, Access::Shared).unwrap();
        file.write_all(b"ne").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(file);
        assert_eq!(names(folder.path()), ["file"]);
        write_atomic(&path, Access::Executable, "new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o755);
    }

    #[test]
    fn of_two_who_write_a_new_file_the_first_wins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut drafts = ["one", "two"].map(|text| {
            let mut file = AtomicFile::begin(&path, Access::Private).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            Some(file)
        });
        let mut finish = |draft: usize| drafts[draft].take().unwrap().finish_unless_there().unwrap();
        assert!(finish(1) && !finish(0));
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn a_folder_is_copied_with_its_links_and_without_what_is_skipped() {
        let root = tempfile::tempdir().unwrap();
        let from = root.path().join("from");
        fs::create_dir_all(from.join("inner/skipped")).unwrap();
        fs::write(from.join("inner/file"), "x").unwrap();
        fs::set_permissions(from.join("inner/file"), Permissions::from_mode(0o755)).unwrap();
        symlink("inner/file", from.join("link")).unwrap();
        for (how, mode) in [(Copying::Private, 0o600), (Copying::AsTheyAre, 0o755), (Copying::Linked, 0o755)]
        {
            let to = root.path().join(format!("{how:?}"));
            copy_folder(&from, &to, how, &["skipped"]).unwrap();
            assert_eq!(
                (names(&to), names(&to.join("inner"))),
                (vec!["inner".into(), "link".into()], vec!["file".into()])
            );
            assert_eq!(fs::read_link(to.join("link")).unwrap(), Path::new("inner/file"));
            let file = fs::metadata(to.join("inner/file")).unwrap();
            assert_eq!(
                (file.mode() & 0o777, file.nlink()),
                (mode, if how == Copying::Linked { 2 } else { 1 })
            );
        }
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(unused(folder.path(), "a"), folder.path().join("a"));
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::create_dir(folder.path().join("a-2")).unwrap();
        assert_eq!(unused(folder.path(), "a"), folder.path().join("a-3"));
        assert!(is_occupied(folder.path()) && !is_occupied(&folder.path().join("a")));
        assert!(!is_occupied(&folder.path().join("none")));
        assert_eq!(folder_of(Path::new("file")), Path::new("."));
    }
}
