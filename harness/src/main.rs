//! The `equiform` binary: parses the command line and leaves the rest to [`equiform::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    equiform::cli::main()
}
