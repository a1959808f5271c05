//! Terraform's shared library, loaded.

use std::error::Error;
use std::ffi::{CString, c_char, c_int};
use std::os::fd::RawFd;
use std::path::Path;

use libloading::{Library, Symbol};

/// What the library exports: the arguments without the program's name, and where its output goes. The library may
/// return more than a C int, but the exit code is in its low half.
type RunCli = unsafe extern "C" fn(i64, *const *const c_char, i64, i64) -> c_int;

/// A library that was loaded. It is never unloaded: with a Go runtime in it, that is not possible.
pub struct Terraform {
    run_cli: RunCli,
}

impl Terraform {
    /// Loads a library, which starts its Go runtime and makes that take over the signals.
    pub fn load(path: &Path) -> Result<Self, Box<dyn Error>> {
        survive_broken_pipes()?;
        // SAFETY: loading starts the Go runtime, which has no requirements on the process; the library is one whose
        // hash was checked when it was installed.
        let library = unsafe { Library::new(path) }?;
        // SAFETY: the symbol has this signature in every library of the catalogue.
        let run_cli: Symbol<RunCli> = unsafe { library.get("RunCli") }?;
        let run_cli = *run_cli;
        std::mem::forget(library);
        Ok(Self { run_cli })
    }

    /// Runs one command and gives its exit code. The library closes the files that the command writes to, so they must
    /// be nobody else's.
    pub fn run(&self, arguments: &[CString], stdout: RawFd, stderr: RawFd) -> Result<c_int, Box<dyn Error>> {
        let mut argv: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
        let argc = i64::try_from(argv.len())?;
        argv.push(std::ptr::null());
        // SAFETY: `argv` and the strings it points to outlive the call, and `argc` is their number.
        Ok(unsafe { (self.run_cli)(argc, argv.as_ptr(), stdout.into(), stderr.into()) })
    }
}

extern "C" fn ignore(_signal: c_int) {}

/// Makes a write to a closed pipe fail with an error, as it does in the plain `terraform` binary.
///
/// The Go runtime of a library leaves SIGPIPE alone, so by default a provider that dies would take Terraform with it.
/// Ignoring the signal would be inherited by every child; a handler is not.
fn survive_broken_pipes() -> std::io::Result<()> {
    // SAFETY: all zero is a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = ignore as *const () as libc::sighandler_t;
    // Go runs on small stacks of its own: its documentation asks foreign handlers for the alternate stack.
    action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: the handler does nothing, so it is safe at any instant; no old action is asked for.
    match unsafe { libc::sigaction(libc::SIGPIPE, &action, std::ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// An error with the one behind it: the loader's own words, such as which version of the C library it misses.
pub fn with_reason(error: &dyn Error) -> String {
    let reason = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    format!("{error}{reason}")
}
