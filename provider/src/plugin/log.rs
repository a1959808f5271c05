//! What the provider says on stderr: JSON lines that engines fold into their own log, and crashes.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{self, PanicHookInfo};
use std::sync::LazyLock;

use serde_json::json;

/// Names a file to which a crash is written as well: what a plugin has on stderr is its engine's to show or
/// to drop.
const CRASH_LOG_VARIABLE: &str = "EQUIFORM_CRASH_LOG";

/// How loud a line is.
#[derive(Debug, Clone, Copy)]
pub enum Level {
    /// For those who look into the provider.
    Debug,
    /// Something is wrong that the engine cannot be told otherwise.
    Error,
}

/// Writes a line in the form engines expect of a plugin. What is only for those who look into the provider is written
/// only where someone does: an engine passes on a plugin's log when one of these variables is set.
pub fn log(level: Level, message: &str) {
    static WATCHED: LazyLock<bool> = LazyLock::new(|| {
        ["TF_LOG", "TF_LOG_PROVIDER"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
    });
    if matches!(level, Level::Debug) && !*WATCHED {
        return;
    }
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

/// Makes a panic visible to the engine's user, who is shown a plugin's stderr from a line on that starts with
/// `panic: `, and to whoever reads the stderr of a provider that engines attach to. The process ends: an
/// engine must not go on with a provider that no longer knows what it is doing, and must not be blamed for a
/// lost connection.
pub fn install_panic_hook() {
    panic::set_hook(Box::new(|info| {
        let trace = std::backtrace::Backtrace::capture();
        let text = crash(&place_of(info), message_of(info), &trace);
        write(&text);
        if let Some(path) = std::env::var_os(CRASH_LOG_VARIABLE).filter(|path| !path.is_empty()) {
            let log = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
            // Stderr has it all the same.
            let _ = log.and_then(|mut log| writeln!(log, "{text}"));
        }
        std::process::abort();
    }));
}

fn place_of(info: &PanicHookInfo<'_>) -> String {
    info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string)
}

fn message_of<'a>(info: &'a PanicHookInfo<'_>) -> &'a str {
    let payload = info.payload();
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}

fn crash(place: &str, message: &str, trace: impl Display) -> String {
    format!("panic: at {place}: {message}\n\nThis is a bug in the mock provider.\n{trace}")
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
            crash("x.rs:1:2", "no such thing", "0: main"),
            "panic: at x.rs:1:2: no such thing\n\nThis is a bug in the mock provider.\n0: main"
        );
    }
}
