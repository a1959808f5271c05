//! The folder that engines work in: in memory where the system has such a place, because engines write their state to
//! the disk after every resource, and wait for it. What is kept of it goes to the variant's folder.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

/// Where Linux has files in memory.
const IN_MEMORY: &str = "/dev/shm";

/// How much room there has to be: working directories hold a program and a state, some kilobytes each.
const ROOM: u64 = 256 << 20;

const PREFIX: &str = "equiform-work-";

/// The file that is locked for as long as a folder is in use.
const LOCK: &str = "lock";

/// A folder for working directories, for as long as this lives.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    _lock: File,
}

impl Scratch {
    /// A folder in memory; none where there is no room for it. What processes left there that were killed is removed.
    pub fn in_memory() -> Option<Self> {
        let place = Path::new(IN_MEMORY);
        let system = rustix::fs::statvfs(place).ok()?;
        let is_memory = fs::read_to_string("/proc/mounts").ok()?.lines().any(|line| {
            let mut words = line.split(' ').skip(1);
            words.next() == Some(IN_MEMORY) && words.next() == Some("tmpfs")
        });
        if !is_memory || system.f_bavail * system.f_frsize < ROOM {
            return None;
        }
        Self::within(place).ok()
    }

    fn within(place: &Path) -> io::Result<Self> {
        remove_left(place);
        let owner_only = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(owner_only).tempdir_in(place)?;
        // It has its name only once it is locked, so nobody finds it there and free.
        let unnamed = folder.path().join("new");
        let lock = File::create(&unnamed)?;
        lock.try_lock()?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders of ours that nobody holds the lock of. Best effort.
fn remove_left(place: &Path) {
    let own = rustix::process::getuid().as_raw();
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let is_own = entry.metadata().is_ok_and(|entry| entry.uid() == own && entry.is_dir());
        if !is_own || !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        // A folder without a lock file is being made just now.
        let Ok(lock) = File::open(entry.path().join(LOCK)) else { continue };
        if lock.try_lock().is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_use_stays_and_one_that_was_left_is_removed_by_the_next() {
        let place = tempfile::tempdir().unwrap();
        let used = Scratch::within(place.path()).unwrap();
        let left = place.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "").unwrap();
        let foreign = place.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        let work = used.path().join("work");
        fs::create_dir(&work).unwrap();
        let other = Scratch::within(place.path()).unwrap();
        assert!(work.exists() && foreign.exists() && !left.exists());
        drop(used);
        assert!(!work.exists() && other.path().exists());
    }
}
