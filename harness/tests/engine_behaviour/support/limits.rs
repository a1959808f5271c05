//! Making things scarce: permissions, the size of files.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes a command obey permissions, also as root: without these capabilities root is a user like any other.
pub fn obey_permissions(command: &mut Command) {
    const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
    const CAP_DAC_READ_SEARCH: libc::c_ulong = 2;
    let drop_capabilities = || {
        // SAFETY: these calls touch no memory of ours and are safe between fork and exec.
        let failed = unsafe {
            libc::geteuid() == 0
                && [CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH]
                    .iter()
                    .any(|&capability| libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
        };
        if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
    };
    // SAFETY: the closure only makes system calls.
    unsafe { command.pre_exec(drop_capabilities) };
}

/// Limits the size of every file that a command, or what it starts, writes.
pub fn limit_file_size(command: &mut Command, bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    let set = move || {
        // SAFETY: it reads the limit, which the closure owns, and is safe between fork and exec.
        if unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) } == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    // SAFETY: the closure only makes a system call.
    unsafe { command.pre_exec(set) };
}
