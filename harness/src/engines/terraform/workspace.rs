//! Where Terraform and OpenTofu keep their memory: a state file, and beside it a file that is there while it is locked.

use std::fs;
use std::io;
use std::path::Path;

use crate::engines::workspace::{RelativePath, Snapshot, Workspace};
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
