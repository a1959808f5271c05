//! What the commands of `equiform` and `equiform-lab` share: how they print and fail, and the options of those that
//! generate programs.

pub mod algebra_args;
pub mod amount;
pub mod format;
pub mod generate;
pub mod graph_file;
pub mod no_effect;
pub mod size;

use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

/// Why a subcommand could not run, as a sentence for the user: exit code 2.
#[derive(Debug)]
pub struct CannotRun(pub String);

impl<E: Display> From<E> for CannotRun {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Turns the result of a subcommand into an exit code. What could not be done is printed to standard error.
pub fn exit_code(result: Result<impl Into<ExitCode>, CannotRun>) -> ExitCode {
    match result {
        Ok(outcome) => outcome.into(),
        Err(CannotRun(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output. If the reader has gone away (`| head`), that is not an error.
pub fn output(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CannotRun> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(format!("cannot write the output: {error}").into()),
        Ok(()) => Ok(()),
    }
}
