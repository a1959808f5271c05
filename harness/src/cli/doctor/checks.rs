//! What a campaign needs, and what installing engines needs: whether it is there.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::campaign::builds::provider_version;
use crate::deploy::provider::{self, ProviderError, Server};
use crate::engines::install::LAUNCHER;
use crate::engines::{EngineName, Engines, probe};

/// Room for a campaign of the default size: its evidence takes some 140 MB.
const ROOM_FOR_EVIDENCE: u64 = 200_000_000;

/// Room for an engine: the largest takes some 170 MB, and its package as much meanwhile.
const ROOM_FOR_AN_ENGINE: u64 = 500_000_000;

/// Where campaigns go unless another folder is named.
const EVIDENCE: &str = ".equiform";

/// One thing that was looked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is.
    pub what: String,
    /// Where or of which version it is; or why it cannot be used, with the command that helps.
    pub found: Result<String, String>,
}

impl Check {
    fn new(what: impl Into<String>, found: Result<String, String>) -> Self {
        Self { what: what.into(), found }
    }
}

/// What there is on this machine.
#[derive(Debug)]
pub struct Diagnosis {
    /// All that was looked for.
    pub checks: Vec<Check>,
    /// The command that runs a campaign; none if none can be run.
    pub campaign: Option<String>,
}

impl Diagnosis {
    /// Looks.
    pub fn make() -> Self {
        let own = std::env::current_exe().unwrap_or_default();
        let equiform = format!("{} at {}", env!("CARGO_PKG_VERSION"), own.display());
        let provider = Check::new("provider", started_provider().map_err(|error| error.to_string()));
        let evidence =
            Check::new("room for campaigns", room(Path::new(EVIDENCE), ROOM_FOR_EVIDENCE, "`--out`"));
        let mut ready = provider.found.is_ok() && evidence.found.is_ok();
        let mut checks = vec![Check::new("equiform", Ok(equiform)), provider, evidence];
        let mut campaign = "equiform run".to_owned();
        match Engines::from_env() {
            Ok(engines) => {
                let found = EngineName::ALL.map(|name| (name, of_engine(&engines, name)));
                let usable = |checks: &[Check]| checks.iter().any(|check| check.found.is_ok());
                let first = found.iter().find(|(_, checks)| usable(checks)).map(|(name, _)| *name);
                ready &= first.is_some();
                // Without a name it runs on Terraform.
                if let Some(name) = first.filter(|name| *name != EngineName::Terraform) {
                    campaign = format!("{campaign} --engine {name}");
                }
                checks.extend(found.into_iter().flat_map(|(_, checks)| checks));
                checks.extend(to_install(&engines, &own));
            }
            Err(error) => {
                ready = false;
                checks.push(Check::new("engines", Err(error.to_string())));
            }
        }
        Self { checks, campaign: ready.then_some(campaign) }
    }
}

/// Starts the provider and ends it again.
fn started_provider() -> Result<String, ProviderError> {
    let path = provider::locate()?;
    Server::start(&path)?;
    let version = provider_version(&path).unwrap_or_else(|| "of an unknown version".to_owned());
    Ok(format!("{version} at {}", path.display()))
}

/// The engines of a name: on the PATH, and installed. Each is asked for its version, so one that does not start is
/// told.
fn of_engine(engines: &Engines, name: EngineName) -> Vec<Check> {
    let on_path = engines.program(name.as_str()).map(|path| (path, "on the PATH"));
    let installed = engines.installed(name).map(|engine| (engine.path, "installed"));
    let mut checks: Vec<Check> = on_path
        .into_iter()
        .chain(installed)
        .map(|(path, place)| {
            let found = match probe::version(&path) {
                Ok(version) => Ok(format!("{version}, {place} at {}", path.display())),
                Err(error) => Err(format!("{error}; remove it, and run `equiform engines install {name}`")),
            };
            Check::new(name.as_str(), found)
        })
        .collect();
    if checks.is_empty() {
        let help = format!("neither on the PATH nor installed; run `equiform engines install {name}`");
        checks.push(Check::new(name.as_str(), Err(help)));
    }
    checks
}

/// What installing engines needs.
fn to_install(engines: &Engines, own: &Path) -> Vec<Check> {
    let launcher = own.with_file_name(LAUNCHER);
    let launcher = match launcher.is_file() {
        true => Ok(launcher.display().to_string()),
        false => {
            Err(format!("not at {}; to install a prebuilt Terraform, run `make build`", launcher.display()))
        }
    };
    let python = said(engines, "python3", &["-I", "-m", "pip", "--version"])
        .map_err(|why| format!("{why}; to install a prebuilt Terraform, install Python 3 with pip"));
    let go = said(engines, "go", &["env", "GOVERSION"]).map_err(|why| {
        format!("{why}; to install OpenTofu, or Terraform from 1.16 on, install Go from https://go.dev/dl")
    });
    vec![
        Check::new(LAUNCHER, launcher),
        Check::new("python3", python),
        Check::new("go", go),
        Check::new("room for engines", room(engines.cache.root(), ROOM_FOR_AN_ENGINE, "EQUIFORM_CACHE")),
    ]
}

/// What a program on the PATH says of its version, in one line, with its path.
fn said(engines: &Engines, program: &str, arguments: &[&str]) -> Result<String, String> {
    let path = engines.program(program).ok_or("not on the PATH")?;
    let output = Command::new(&path).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{} cannot be started: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().next() {
        Some(line) if output.status.success() => {
            // What pip says goes on with where it lies.
            let line = line.split(" from ").next().unwrap_or(line);
            Ok(format!("{line} at {}", path.display()))
        }
        _ => Err(format!("`{program} {}` fails", arguments.join(" "))),
    }
}

/// How much room there is for a folder, which need not be there, if it is enough and can be written. Another is named
/// by `option`.
fn room(folder: &Path, enough: u64, option: &str) -> Result<String, String> {
    let shown = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let there = shown.ancestors().find(|folder| folder.exists()).unwrap_or(&shown);
    let free = tempfile::tempfile_in(there).and_then(|_| free(there));
    let (name, megabytes) = (shown.display(), |bytes: u64| bytes / 1_000_000);
    match free {
        Ok(free) if free >= enough => Ok(format!("{} MB free for {name}", megabytes(free))),
        Ok(free) => Err(format!(
            "{} MB free for {name}, and {} MB should be; free some, or name another folder with {option}",
            megabytes(free),
            megabytes(enough)
        )),
        Err(error) => Err(format!("{name} cannot be written: {error}; name another folder with {option}")),
    }
}

/// How many bytes are free on the disk of a folder for who is not root.
fn free(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::Cache;

    #[test]
    fn room_is_found_for_a_folder_that_is_not_there_yet_and_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new/folder");
        assert!(room(&new, 1, "--out").unwrap().ends_with(&format!("MB free for {}", new.display())));
        assert!(room(&new, u64::MAX, "--out").unwrap_err().ends_with("or name another folder with --out"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let error = room(Path::new("/dev/null/folder"), 1, "--out").unwrap_err();
        assert!(error.starts_with("/dev/null/folder cannot be written: "), "{error}");
    }

    #[test]
    fn an_engine_that_is_nowhere_is_told_with_the_command_that_installs_it() {
        let engines = Engines { cache: Cache::at("/nowhere"), search_path: "/nowhere".into() };
        let help = "neither on the PATH nor installed; run `equiform engines install tofu`".to_owned();
        assert_eq!(of_engine(&engines, EngineName::Tofu), [Check::new("tofu", Err(help))]);
    }
}
