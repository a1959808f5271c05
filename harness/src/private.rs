//! Folders and files that are their owner's alone, whatever the umask. Evidence holds all values of programs
//! in clear, those that a program marks as sensitive included.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Makes a folder, and those above it that are missing. Folders that are there stay as they are.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes a file, or empties the one that is there.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Writes a whole file.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(content.as_ref())
}

/// The beginning of a file's content, at most this many bytes.
pub fn read_beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Copies the beginning of a file's content, at most this many bytes.
pub fn copy_beginning(from: &Path, to: &Path, most: u64) -> io::Result<()> {
    let from = File::open(from)?;
    io::copy(&mut from.take(most), &mut create(to)?).map(drop)
}

/// Copies a file's content. What others may do with the original says nothing about the copy.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    io::copy(&mut from, &mut create(to)?).map(drop)
}
