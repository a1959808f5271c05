//! `equiform report`: what a campaign or a comparison left, as pictures.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::campaign_text::note;
use super::format::OutputFormat;
use super::known_args::KnownArgs;
use super::{CannotRun, CliResult, Outcome, output};
use crate::campaign::comparison::{Comparison, EngineCampaign};
use crate::campaign::folder::{self, Expected};
use crate::campaign::manifest::CampaignManifest;
use crate::campaign::report::Report;
use crate::campaign::timing::Timing;
use crate::deploy::stop::Stop;
use crate::html::campaign::{self as campaign_page, CampaignSource};
use crate::html::comparison::{self as comparison_page, ComparisonSource};
use crate::html::page::{FILE, PageError};
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;

/// Show a campaign, or a comparison of engines, in one HTML file: what was found, graphs, timelines, programs
///
/// The file needs no network and no other file. `run` and `compare` write it when they end. This command writes it
/// again from the folder, using what is known now; no engine runs. Like the evidence, the report contains all values
/// of programs in clear, so only its owner can read it, unless you name it with --out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  equiform report .equiform/campaign\n  \
                  equiform report .equiform/compare --out engines.html")]
pub struct ReportPageArgs {
    /// The folder of a campaign or comparison (--out of `equiform run` or `equiform compare`)
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The file to write [default: report.html in the folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    known: KnownArgs,
}

/// Writes the page.
pub fn run(args: ReportPageArgs) -> CliResult {
    let known = args.known.read()?;
    let folder = &args.folder;
    let path = args.out.clone().unwrap_or_else(|| folder.join(FILE));
    let private = args.out.is_none();
    let engines = compared(folder);
    let bytes = if engines.is_empty() {
        let bar = Progress::new(&folder::manifest(folder)?);
        let (manifest, report) = folder::read(folder, &known, Expected::Stored, || bar.step())?;
        bar.finish();
        let (oracles, timing) = (folder::oracles(&manifest), Timing::read(folder));
        let source =
            CampaignSource { report: &report, folder, oracles: &oracles, known: &known, timing: &timing };
        campaign_page::write(&source, &path, private)?
    } else {
        let campaigns: Vec<(EngineCampaign, CampaignManifest, bool)> =
            engines.iter().map(|engine| read_engine(engine, &known)).collect::<Result<_, CannotRun>>()?;
        write_comparison(folder, campaigns, &known, &path, private)?
    };
    tell(&path, Some(bytes), OutputFormat::Text)?;
    Ok(Outcome::Clean)
}

/// Prints where a page is: on standard output, or on standard error if the output is JSON.
fn tell(path: &Path, bytes: Option<u64>, format: OutputFormat) -> Result<(), CannotRun> {
    let size = bytes.map(|bytes| format!(" ({:.1} MB)", bytes as f64 / 1e6)).unwrap_or_default();
    let line = format!("  report        {}{size}", path.display());
    match format {
        OutputFormat::Text => output(|out| writeln!(out, "{line}")),
        OutputFormat::Json => {
            note(line.trim_start());
            Ok(())
        }
    }
}

/// Writes the page of a campaign into its folder, and returns its path. A page that cannot be written changes no
/// verdict; a note says so.
pub fn write_page(
    folder: &Path,
    report: &Report,
    oracles: &[&Oracle],
    known: &KnownFindings,
) -> Option<PathBuf> {
    let (path, timing) = (folder.join(FILE), Timing::read(folder));
    let source = CampaignSource { report, folder, oracles, known, timing: &timing };
    written(campaign_page::write(&source, &path, true)).map(|_| path)
}

/// The same, and prints where the page is.
pub fn leave_page(
    folder: &Path,
    report: &Report,
    oracles: &[&Oracle],
    known: &KnownFindings,
    format: OutputFormat,
) -> Result<(), CannotRun> {
    write_page(folder, report, oracles, known).map_or(Ok(()), |path| tell(&path, None, format))
}

/// Writes the page of a comparison that has ended or was stopped, and prints where it is.
pub fn leave_comparison(source: &ComparisonSource<'_>, format: OutputFormat) -> Result<(), CannotRun> {
    let path = source.folder.join(FILE);
    match written(comparison_page::write(source, &path, true)) {
        Some(_) => tell(&path, None, format),
        None => Ok(()),
    }
}

fn written(result: Result<u64, PageError>) -> Option<u64> {
    result.map_err(|error| note(&format!("error: {error}"))).ok()
}

/// The folders of the campaigns in a comparison's folder; none if it is not a comparison's.
fn compared(folder: &Path) -> Vec<PathBuf> {
    if matches!(CampaignManifest::read(folder), Ok(Some(_)) | Err(_)) {
        return Vec::new();
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| !matches!(CampaignManifest::read(path), Ok(None)))
        .collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

/// The campaign of one engine, its manifest, and whether it is whole. Its page is written too.
fn read_engine(
    folder: &Path,
    known: &KnownFindings,
) -> Result<(EngineCampaign, CampaignManifest, bool), CannotRun> {
    let bar = Progress::new(&folder::manifest(folder)?);
    let (manifest, report) = folder::read(folder, known, Expected::Stored, || bar.step())?;
    bar.finish();
    let (oracles, timing) = (folder::oracles(&manifest), Timing::read(folder));
    let source = CampaignSource { report: &report, folder, oracles: &oracles, known, timing: &timing };
    campaign_page::write(&source, &folder.join(FILE), true)?;
    let engine = manifest.engine().clone();
    let verdicts = report.cases.into_iter().map(|(_, verdict)| verdict).collect();
    Ok((EngineCampaign { engine, folder: folder.to_owned(), verdicts }, manifest, report.not_run == 0))
}

fn write_comparison(
    folder: &Path,
    mut campaigns: Vec<(EngineCampaign, CampaignManifest, bool)>,
    known: &KnownFindings,
    path: &Path,
    private: bool,
) -> Result<u64, CannotRun> {
    campaigns.sort_by(|(one, ..), (other, ..)| one.engine.cmp(&other.engine));
    let settings = campaigns[0].1.settings().clone();
    if let Some((other, ..)) = campaigns.iter().find(|(_, manifest, _)| *manifest.settings() != settings) {
        return Err(format!(
            "{} holds campaigns with different settings, such as {}: they cannot be compared. Name the folder of one \
             of them",
            folder.display(),
            other.folder.display()
        )
        .into());
    }
    let unfinished = campaigns.iter().find(|(_, _, whole)| !whole);
    let stopped =
        unfinished.map(|(campaign, ..)| format!("the campaign on {} is not whole", campaign.engine));
    let campaigns: Vec<EngineCampaign> = campaigns.into_iter().map(|(campaign, ..)| campaign).collect();
    let comparison = match &stopped {
        None => Comparison::of(&settings, &campaigns, &Stop::default()),
        Some(_) => None,
    };
    let source = ComparisonSource {
        folder,
        settings: &settings,
        campaigns: &campaigns,
        comparison: comparison.as_ref(),
        known,
        stopped: stopped.as_deref(),
    };
    Ok(comparison_page::write(&source, path, private)?)
}

/// A progress bar while a large folder is read, if there is a terminal.
struct Progress(ProgressBar);

impl Progress {
    fn new(manifest: &CampaignManifest) -> Self {
        let target = if io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(manifest.cases().count() as u64), target);
        let style = ProgressStyle::with_template("reading {bar:30} {pos}/{len} cases, {eta} left");
        bar.set_style(style.expect("the template is valid"));
        Self(bar)
    }

    fn step(&self) {
        self.0.inc(1);
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
