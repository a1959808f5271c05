//! What the provider says on stderr: JSON lines that engines fold into their own log, and crashes.

use std::fmt::Display;
use std::io::Write;
use std::panic;

use serde_json::json;

/// How loud a line is.
#[derive(Debug, Clone, Copy)]
pub enum Level {
    /// For those who look into the provider.
    Debug,
    /// Something is wrong that the engine cannot be told otherwise.
    Error,
}

/// Writes a line in the form engines expect of a plugin.
pub fn log(level: Level, message: &str) {
    let level = match level {
        Level::Debug => "debug",
        Level::Error => "error",
    };
    let line = json!({
        "@level": level,
        "@message": message,
        "@module": "mock",
        "@timestamp": jiff::Timestamp::now().to_string(),
    });
    write(&line.to_string());
}

/// Makes a panic visible to the engine's user, who is shown a plugin's stderr from a line on that starts with `panic: `.
/// The process ends: an engine must not go on with a provider that no longer knows what it is doing.
pub fn install_panic_hook() {
    panic::set_hook(Box::new(|info| {
        let trace = std::backtrace::Backtrace::capture();
        write(&crash(info, &trace));
        std::process::exit(2);
    }));
}

fn crash(what: impl Display, trace: impl Display) -> String {
    format!("panic: {what}\n\nThis is a bug in the mock provider.\n{trace}")
}

fn write(line: &str) {
    // Nobody is left to be told if stderr is closed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_starts_the_way_engines_look_for() {
        assert_eq!(
            crash("at x.rs:1", "0: main"),
            "panic: at x.rs:1\n\nThis is a bug in the mock provider.\n0: main"
        );
    }
}
