//! A disk that is soon full.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A small disk in memory, mounted on a folder until it is dropped.
pub struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// Whether this machine lets us mount one, which mostly means that we are root.
    pub fn is_possible() -> bool {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        Self::try_mount(folder.path(), "64k").is_ok()
    }

    /// Mounts a disk of a size such as `64k`.
    pub fn mount(folder: &Path, size: &str) -> Self {
        Self::try_mount(folder, size).unwrap_or_else(|error| panic!("a disk cannot be mounted: {error}"))
    }

    /// Gives the disk another size.
    pub fn resize(&self, size: &str) {
        let resized = mount(&self.folder, size, libc::MS_REMOUNT);
        resized.unwrap_or_else(|error| panic!("the disk cannot be resized: {error}"));
    }

    fn try_mount(folder: &Path, size: &str) -> io::Result<Self> {
        mount(folder, size, 0)?;
        Ok(Self { folder: folder.to_owned() })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let folder = c_string(&self.folder);
        // SAFETY: the text outlives the call.
        unsafe { libc::umount2(folder.as_ptr(), libc::MNT_DETACH) };
    }
}

fn mount(folder: &Path, size: &str, flags: libc::c_ulong) -> io::Result<()> {
    let (folder, options) =
        (c_string(folder), CString::new(format!("size={size}")).expect("it holds no zero"));
    // SAFETY: the texts outlive the call.
    let mounted = unsafe {
        libc::mount(c"tmpfs".as_ptr(), folder.as_ptr(), c"tmpfs".as_ptr(), flags, options.as_ptr().cast())
    };
    if mounted == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn c_string(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).expect("paths hold no zero")
}
