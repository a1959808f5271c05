//! Where Terraform and OpenTofu keep their memory: a state file, and beside it a file that is there while it is locked.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, fcntl_lock};

use crate::engines::workspace::{HeldLock, RelativePath, Snapshot, Workspace};
use crate::evidence::FileRole;
use crate::private;

const STATE: &str = "terraform.tfstate";
const LOCK: &str = ".terraform.tfstate.lock.info";

/// What a file or folder in a working directory is for.
pub fn role_of(path: &str) -> Option<FileRole> {
    match path {
        STATE => Some(FileRole::State),
        "terraform.tfstate.backup" => Some(FileRole::Backup),
        LOCK => Some(FileRole::Lock),
        super::PLAN_FILE => Some(FileRole::SavedPlan),
        ".terraform/" | ".terraform.lock.hcl" => Some(FileRole::Installation),
        _ => None,
    }
}

/// What stands in the file of a lock that another command holds.
const OF_ANOTHER: &str = r#"{"ID":"0e0a7a1c-0000-4000-8000-000000000000","Operation":"OperationTypeApply","Info":"",
"Who":"another command","Version":"","Created":"2026-01-01T00:00:00Z","Path":"terraform.tfstate"}"#;

/// The lock that a command holds. It ends when the state file is closed: by the system's rules, that of any other
/// handle of this process on the file ends it too.
#[derive(Debug)]
struct LockedState {
    file: File,
    path: PathBuf,
    notice: PathBuf,
}

impl HeldLock for LockedState {}

impl Drop for LockedState {
    fn drop(&mut self) {
        // An engine that has removed it is found out before.
        let _ = fs::remove_file(&self.notice);
        // As engines do, the lock has made the file if there was none.
        if self.file.metadata().is_ok_and(|file| file.len() == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A working directory with a local state.
#[derive(Debug)]
pub struct LocalState;

impl Workspace for LocalState {
    fn snapshot(&self, folder: &Path) -> io::Result<Snapshot> {
        Snapshot::take(folder, [RelativePath::new(STATE).map_err(io::Error::other)?])
    }

    fn is_installation(&self, path: &str) -> bool {
        role_of(path) == Some(FileRole::Installation)
    }

    fn is_locked(&self, folder: &Path) -> bool {
        folder.join(LOCK).exists()
    }

    fn lock_file(&self, folder: &Path) -> PathBuf {
        folder.join(STATE)
    }

    fn lock(&self, folder: &Path) -> io::Result<Box<dyn HeldLock>> {
        let path = folder.join(STATE);
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
        fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let notice = folder.join(LOCK);
        private::write(&notice, OF_ANOTHER.as_bytes())?;
        Ok(Box::new(LockedState { file, path, notice }))
    }

    fn copy_state(&self, folder: &Path, to: &Path, most: u64) -> io::Result<()> {
        let state = folder.join(STATE);
        if fs::exists(&state)? { private::copy_beginning(&state, to, most) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_kept_restored_and_seen_to_be_locked() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [work, again] = folders.each_ref().map(|folder| folder.path());
        let kept = again.join("kept.json");
        LocalState.copy_state(work, &kept, u64::MAX).unwrap();
        assert!(!kept.exists() && !LocalState.is_locked(work));
        fs::write(work.join(STATE), "{}").unwrap();
        fs::write(work.join(LOCK), "").unwrap();
        LocalState.copy_state(work, &kept, u64::MAX).unwrap();
        LocalState.restore(again, &LocalState.snapshot(work).unwrap()).unwrap();
        assert_eq!(
            (fs::read(&kept).unwrap(), fs::read(again.join(STATE)).unwrap()),
            (b"{}".into(), b"{}".into())
        );
        assert!(LocalState.is_locked(work) && !LocalState.is_locked(again), "a lock is not carried over");
    }
}
