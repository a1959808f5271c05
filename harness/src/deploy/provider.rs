//! The mock provider: its binary, and one that is up for engines to attach to.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A provider that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProviderError {
    /// The binary is missing.
    #[error("the provider is not at {}: build it with `make build`, or name it in EQUIFORM_PROVIDER", .0.display())]
    Missing(PathBuf),
    /// It did not start.
    #[error("the provider {} does not start: {source}", path.display())]
    Start {
        /// The binary.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// It could not be put where engines install it from.
    #[error("the provider {} cannot be put into a folder for engines to install it from: {source}", path.display())]
    Mirror {
        /// The binary.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// It printed something else than the line to export.
    #[error("the provider {} is another program, or of another version: it printed {line:?}", path.display())]
    Foreign {
        /// The binary.
        path: PathBuf,
        /// What it printed.
        line: String,
    },
}

/// The provider's binary: named in `EQUIFORM_PROVIDER`, or beside this one.
pub fn locate() -> Result<PathBuf, ProviderError> {
    let path = match std::env::var_os("EQUIFORM_PROVIDER").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => {
            let own = std::env::current_exe().unwrap_or_default();
            let folder = own.parent().unwrap_or(Path::new(""));
            // Test binaries stand one folder deeper.
            let folder = if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder };
            folder.join("terraform-provider-mock")
        }
    };
    if path.is_file() { Ok(path) } else { Err(ProviderError::Missing(path)) }
}

/// A provider that is up for engines to attach to, for as long as this lives.
pub struct Server {
    child: Child,
    reattach: OsString,
}

impl Server {
    /// Starts one.
    pub fn start(path: &Path) -> Result<Self, ProviderError> {
        let start = |source| ProviderError::Start { path: path.to_owned(), source };
        let mut child = Command::new(path)
            .arg("reattach")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // Ctrl-C goes to our own group: the provider has to outlive it until the commands in flight have ended.
            .process_group(0)
            .spawn()
            .map_err(start)?;
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output is piped");
        BufReader::new(stdout).read_line(&mut line).map_err(start)?;
        let value = line
            .trim()
            .strip_prefix("export TF_REATTACH_PROVIDERS='")
            .and_then(|rest| rest.strip_suffix('\''));
        match value {
            Some(value) => Ok(Self { child, reattach: value.into() }),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                Err(ProviderError::Foreign { path: path.to_owned(), line })
            }
        }
    }

    /// The value of `TF_REATTACH_PROVIDERS` by which engines find it.
    pub fn reattach(&self) -> &OsStr {
        &self.reattach
    }

    /// How much time the provider has computed so far, where the system tells.
    pub fn computed(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        // The name in the second field may hold blanks; the times are fields 14 and 15 of the whole.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
        // SAFETY: a plain system call.
        let per_second = u64::try_from(unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).ok()?;
        Some(Duration::from_millis(ticks * 1000 / per_second))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // SAFETY: a plain system call on a child that has not been waited for. It removes its socket when asked to end.
            unsafe { libc::kill(pid, libc::SIGTERM) };
        }
        let _ = self.child.wait();
    }
}
