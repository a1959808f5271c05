//! What is not the engine's doing: a disk that is full, a provider that is gone. After a stage that failed, and after
//! the last one, it is asked whether the environment was fit to judge an engine in; if it was not, nothing is held
//! against it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use equiform_proto::control::ControlError;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::control::{self, ANSWER_TIMEOUT};
use super::provider_log::{Crash, ProviderLog};
use crate::engines::driver::Access;
use crate::evidence::{ERRORS, LEDGER, OUTPUT, STATE};

/// How much room there must be, beyond what the largest file has taken already.
const ROOM: usize = 64 << 10;

/// How large a file must be allowed to become for an engine not to be believed that it had no room for its state.
const STATE_SIZE: u64 = 1 << 20;

/// With less than this free on a disk, an engine is believed that there is no room.
const FREE: u64 = 8 << 20;

/// The number of files that must be allowed to be open at once. A provider that serves two jobs has some thirty open.
const FILES: u64 = 256;

/// What engines and the provider say when they have no room, in small letters.
const NO_ROOM: &[&str] =
    &["no space left on device", "file too large", "there is no room to append", "disk quota exceeded"];

/// An environment in which no engine can be judged.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// Files cannot grow.
    #[error(
        "there is no room to write in {}: {why}. Free some room there, or raise the limit on the size of files",
        folder.display()
    )]
    NoRoom {
        /// Where.
        folder: PathBuf,
        /// The operating system's error.
        why: String,
    },
    /// Too few files may be open at once.
    #[error(
        "the provider or the engine ran out of file descriptors, which is no fault of the engine: {why}. Raise the \
         limit on open files (`ulimit -n`)"
    )]
    NoFiles {
        /// How that is known.
        why: String,
    },
    /// The provider does not answer.
    #[error("the provider that engines attach to is gone, because it was killed or crashed: {0}")]
    ProviderGone(ControlError),
    /// The provider is there, and does not answer.
    #[error(
        "the provider that engines attach to does not answer within {} s, which is no fault of the engine: it hangs, \
         or it was stopped",
        .0.as_secs_f64()
    )]
    ProviderHangs(Duration),
    /// The provider said that it crashed.
    #[error(
        "the provider crashed, which is a bug in the mock provider and not in the engine: {:?}. All that it said \
         is in {}",
        .0.line, .0.log.display()
    )]
    ProviderCrashed(Crash),
}

impl From<ControlError> for EnvironmentError {
    fn from(error: ControlError) -> Self {
        match error {
            ControlError::Unreachable(error)
                if matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) =>
            {
                Self::ProviderHangs(ANSWER_TIMEOUT)
            }
            error => Self::ProviderGone(error),
        }
    }
}

/// Checks the environment after a stage that failed, or the last one: the provider has not crashed, there is room to
/// write in the variant's folder, and, if the engine failed, it was not for want of room or of the provider. `access`
/// tells how the engine reached the provider.
///
/// What an engine says of a provider that it lost is no evidence: a faulty one may have ended the provider
/// itself. The provider's own word is, and it is written before any connection of the provider ends.
pub fn check(
    variant: &Path,
    work: &Path,
    stage: &Path,
    succeeded: bool,
    access: &Access,
    log: &ProviderLog,
) -> Result<(), EnvironmentError> {
    if let Some(crash) = log.crash() {
        return Err(EnvironmentError::ProviderCrashed(crash));
    }
    let no_room = |folder: &Path, why: String| EnvironmentError::NoRoom { folder: folder.to_owned(), why };
    let files = [variant.join(LEDGER), stage.join(STATE), stage.join(OUTPUT)];
    let largest = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|file| file.len()).max();
    let largest = largest.unwrap_or(0);
    try_to_write(variant, largest).map_err(|error| no_room(variant, error.to_string()))?;
    if succeeded {
        return Ok(());
    }
    check_files(log)?;
    if says_no_room(stage) {
        // It is believed only where it is so: a faulty engine may say it.
        let mut places = [work, variant].into_iter();
        if let Some((place, why)) = places.find_map(|place| Some((place, want_of_room(place, largest)?))) {
            return Err(no_room(place, format!("{why}, and the engine said so")));
        }
    }
    check_provider(access)
}

/// Checks that a command did not fail for want of file descriptors. The provider's word for it counts, and a limit
/// under which no campaign is known to work; what an engine says of it does not.
fn check_files(log: &ProviderLog) -> Result<(), EnvironmentError> {
    if let Some(line) = log.wants_files() {
        return Err(EnvironmentError::NoFiles { why: format!("the provider said {line:?}") });
    }
    match getrlimit(Resource::Nofile).current {
        Some(limit) if limit < FILES => {
            Err(EnvironmentError::NoFiles { why: format!("at most {limit} may be open at once") })
        }
        _ => Ok(()),
    }
}

/// Lets this process, and all that it starts, open as many files as the system allows.
pub fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    // Best effort: where it stays low, a failure is not held against the engine.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

/// Checks that the provider which engines attach to answers.
pub fn check_provider(access: &Access) -> Result<(), EnvironmentError> {
    let Access::Served { control } = access else { return Ok(()) };
    control::ping(control).map_err(EnvironmentError::from)
}

/// Whether the engine, or the provider through it, said that there was no room.
fn says_no_room(stage: &Path) -> bool {
    [OUTPUT, ERRORS].iter().any(|file| {
        let text = fs::read(stage.join(file)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).to_lowercase();
        NO_ROOM.iter().any(|words| text.contains(words))
    })
}

/// What there is little room for in a folder, if there is: files cannot grow, or hardly any block or file is free. What
/// the engine had written before it failed may be gone again.
fn want_of_room(folder: &Path, largest: u64) -> Option<String> {
    if let Err(error) = try_to_write(folder, largest.max(STATE_SIZE)) {
        return Some(error.to_string());
    }
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    (free < FREE || (disk.f_files > 0 && disk.f_favail < 16)).then(|| format!("{free} bytes are free"))
}

/// Writes a file that is a little larger than the largest, most of it a hole, and removes it.
fn try_to_write(folder: &Path, largest: u64) -> io::Result<()> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(&[0; ROOM])?;
    file.set_len(largest + ROOM as u64)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    /// A provider that is not reached by a socket.
    fn installed() -> Access {
        Access::Mirror { config: PathBuf::new(), crash_log: PathBuf::new() }
    }

    /// Answers as a provider does that is asked whether it is there.
    fn answer(mut client: UnixStream) {
        let requests = BufReader::new(client.try_clone().unwrap()).lines();
        for (_, answer) in requests.zip([r#"{"answer":"hello","version":1}"#, r#"{"answer":"pong"}"#]) {
            writeln!(client, "{answer}").unwrap();
        }
    }

    #[test]
    fn a_failure_is_the_engines_as_long_as_the_provider_answers() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        std::thread::spawn(move || listener.incoming().for_each(|client| answer(client.unwrap())));
        let log = folder.path().join("log");
        let access = Access::Served { control: socket.clone() };
        let provider_log = ProviderLog::at(&log).unwrap();
        let checked =
            |succeeded| check(folder.path(), folder.path(), folder.path(), succeeded, &access, &provider_log);
        checked(false).unwrap();
        fs::remove_file(socket).unwrap();
        let error = checked(false).unwrap_err();
        assert!(matches!(error, EnvironmentError::ProviderGone(_)), "{error}");
        checked(true).unwrap();
        fs::write(&log, "panic: at x.rs:1:2: what\n").unwrap();
        provider_log.keep_in(folder.path());
        for succeeded in [true, false] {
            let error = checked(succeeded).unwrap_err().to_string();
            assert!(error.contains("not in the engine: \"panic: at x.rs:1:2: what\""), "{error}");
            assert!(error.ends_with("provider.log"), "{error}");
        }
    }

    #[test]
    fn an_engine_that_says_there_is_no_room_is_believed_only_if_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let log = ProviderLog::unnamed().unwrap();
        let checked = |work: &Path| check(folder.path(), work, folder.path(), false, &installed(), &log);
        fs::write(folder.path().join(ERRORS), "Error: write state: No space left on device").unwrap();
        checked(folder.path()).unwrap();
        // Nothing can be written there.
        let error = checked(Path::new("/proc/self")).unwrap_err();
        assert!(error.to_string().contains("Free some room there"), "{error}");
        fs::write(folder.path().join(ERRORS), "Error: Cycle").unwrap();
        checked(Path::new("/proc/self")).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_told() {
        let nowhere = Path::new("/proc/self");
        let error = check(nowhere, nowhere, nowhere, true, &installed(), &ProviderLog::unnamed().unwrap())
            .unwrap_err();
        assert!(matches!(error, EnvironmentError::NoRoom { .. }), "{error}");
    }
}
