//! What the provider says of itself while engines use it, and what that tells of a crash. A provider's crash
//! must never be held against the engine that it leaves without an answer.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, OnceLock};

/// The log in a campaign's folder; there is one only if a provider had something to say.
pub const FILE: &str = "provider.log";

/// How the lines begin that the provider, or its run-time library, leaves before it gives up.
const LAST_WORDS: &[&str] = &["panic: ", "memory allocation of ", "fatal runtime error: "];

/// What the provider says if it may open no more files.
const NO_FILES: &str = "Too many open files";

/// The log of one provider: its standard error where engines attach to it, and its crashes where they start
/// it.
#[derive(Debug)]
pub struct ProviderLog {
    file: File,
    folder: OnceLock<PathBuf>,
    kept: Mutex<Option<PathBuf>>,
}

/// A provider that ended where it should not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crash {
    /// What it said of it.
    pub line: String,
    /// Where all is that it said.
    pub log: PathBuf,
}

impl ProviderLog {
    /// A log without a name: it is gone with whoever holds it, however that ends, unless it is kept.
    pub fn unnamed() -> io::Result<Self> {
        tempfile::tempfile().map(Self::of)
    }

    /// A log that providers find by its name.
    pub fn at(path: &Path) -> io::Result<Self> {
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path).map(Self::of)
    }

    fn of(file: File) -> Self {
        Self { file, folder: OnceLock::new(), kept: Mutex::new(None) }
    }

    /// The log as a process's standard error.
    pub fn stderr(&self) -> io::Result<Stdio> {
        self.file.try_clone().map(Stdio::from)
    }

    /// Says in which folder it is left if there is anything in it. The first word counts.
    pub fn keep_in(&self, folder: &Path) {
        self.folder.get_or_init(|| folder.to_owned());
    }

    /// The crash that the log tells of, if there was one. The log is kept then: in its folder, or in a
    /// temporary file.
    pub fn crash(&self) -> Option<Crash> {
        let text = self.text();
        let is_last = |line: &&str| LAST_WORDS.iter().any(|words| line.starts_with(words));
        let line = text.lines().find(is_last)?.trim_end().to_owned();
        Some(Crash { line, log: self.keep(&text) })
    }

    /// The line in which the provider says that it may open no more files, if it does.
    pub fn wants_files(&self) -> Option<String> {
        self.text().lines().find(|line| line.contains(NO_FILES)).map(str::to_owned)
    }

    fn text(&self) -> String {
        let length = self.file.metadata().map_or(0, |log| log.len());
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        let read = self.file.read_at(&mut bytes, 0).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    }

    /// Leaves the log where people find it, once.
    fn keep(&self, text: &str) -> PathBuf {
        let mut kept = self.kept.lock().expect("no holder panics");
        let path = kept.get_or_insert_with(|| {
            let in_folder = self.folder.get().and_then(|folder| append(&folder.join(FILE), text).ok());
            in_folder.or_else(|| temporary(text).ok()).unwrap_or_default()
        });
        path.clone()
    }
}

impl Drop for ProviderLog {
    fn drop(&mut self) {
        let text = self.text();
        if self.folder.get().is_some() && !text.is_empty() {
            self.keep(&text);
        }
    }
}

fn append(path: &Path, text: &str) -> io::Result<PathBuf> {
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(path.to_owned())
}

fn temporary(text: &str) -> io::Result<PathBuf> {
    let mut file = tempfile::Builder::new().prefix("equiform-provider-").suffix(".log").tempfile()?;
    file.write_all(text.as_bytes())?;
    file.keep().map(|(_, path)| path).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_crash_is_told_by_its_line_and_the_log_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        for line in [
            "panic: at x.rs:1:2: index out of bounds",
            "memory allocation of 12884901888 bytes failed",
            "fatal runtime error: stack overflow, aborting",
        ] {
            let log = ProviderLog::unnamed().unwrap();
            log.keep_in(folder.path());
            writeln!(&log.file, "{{\"@level\":\"error\",\"@message\":\"panic: not really\"}}").unwrap();
            assert_eq!(log.crash(), None);
            writeln!(&log.file, "{line}\n\nThis is a bug.").unwrap();
            let crash = Crash { line: line.to_owned(), log: folder.path().join(FILE) };
            assert_eq!(log.crash().as_ref(), Some(&crash));
            assert_eq!(log.crash(), Some(crash));
        }
        let text = fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(text.matches("This is a bug.").count(), 3, "{text}");
    }

    #[test]
    fn without_a_folder_the_log_of_a_crash_is_a_temporary_file() {
        let log = ProviderLog::unnamed().unwrap();
        writeln!(&log.file, "panic: at x.rs:1:2: what").unwrap();
        let kept = log.crash().unwrap().log;
        drop(log);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "panic: at x.rs:1:2: what\n");
        fs::remove_file(kept).unwrap();
    }

    #[test]
    fn what_a_provider_said_is_kept_in_the_end_and_silence_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for (said, kept) in [("", false), ("a connection was refused\n", true)] {
            let log = ProviderLog::at(&folder.path().join("named")).unwrap();
            log.keep_in(folder.path());
            write!(&log.file, "{said}").unwrap();
            drop(log);
            assert_eq!(folder.path().join(FILE).exists(), kept);
        }
    }
}
