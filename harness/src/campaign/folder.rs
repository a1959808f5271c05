//! What a campaign left in its folder, read back without an engine.

use std::io;
use std::path::{Path, PathBuf};

use super::case_folder;
use super::manifest::{CampaignManifest, ManifestError};
use super::reductions;
use super::report::Report;
use super::stored::{self, JudgeContext};
use crate::case::{CASE_FILE, Case, CaseError};
use crate::judge::known::KnownFindings;
use crate::judge::oracles::{ORACLES, Oracle};
use crate::judge::verdict::CaseVerdict;

/// A folder from which no campaign can be read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// It is none of a campaign.
    #[error(
        "{} holds no campaign: it has no campaign.json. Name the folder that `equiform run` or `equiform compare` was \
         given by --out",
        .0.display()
    )]
    NoCampaign(PathBuf),
    /// It cannot be looked at.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Its manifest cannot be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A case cannot be read.
    #[error("{error}. Remove {} and `equiform run --resume {}` runs it again", case.display(), folder.display())]
    Case {
        /// The campaign's folder.
        folder: PathBuf,
        /// The case's.
        case: PathBuf,
        /// What is wrong.
        error: CaseError,
    },
}

/// The manifest in a folder.
pub fn manifest(folder: &Path) -> Result<CampaignManifest, FolderError> {
    // A folder that is not there is another mistake than one that is no campaign's.
    std::fs::read_dir(folder).map_err(|source| FolderError::Io { path: folder.to_owned(), source })?;
    CampaignManifest::read(folder)?.ok_or_else(|| FolderError::NoCampaign(folder.to_owned()))
}

/// The oracles that a campaign asks.
pub fn oracles(manifest: &CampaignManifest) -> Vec<&'static Oracle> {
    ORACLES.iter().filter(|oracle| manifest.oracles().iter().any(|name| name == oracle.name())).collect()
}

/// Which cases verdicts must be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Those that are stored beside them.
    Stored,
    /// Those that the settings generate, which takes longer.
    Generated,
}

/// The campaign in a folder: its manifest, and what came of it, by what is known now. Calls `next` before each case.
pub fn read(
    folder: &Path,
    known: &KnownFindings,
    expected: Expected,
    mut next: impl FnMut(),
) -> Result<(CampaignManifest, Report), FolderError> {
    let manifest = manifest(folder)?;
    let oracles = oracles(&manifest);
    let context = JudgeContext { oracles: &oracles, known, engine: &manifest.engine().id };
    let variants = usize::try_from(manifest.settings().variants).unwrap_or(usize::MAX);
    let (mut cases, mut not_run): (Vec<(PathBuf, CaseVerdict)>, usize) = (Vec::new(), 0);
    for number in manifest.cases() {
        next();
        let place = case_folder(folder, number);
        if !place.join(CASE_FILE).exists() {
            not_run += variants;
            continue;
        }
        let unreadable = |error| FolderError::Case { folder: folder.to_owned(), case: place.clone(), error };
        let case = match expected {
            Expected::Stored => Case::read(&place.join(CASE_FILE)).map_err(unreadable)?,
            Expected::Generated => manifest.settings().case(number),
        };
        let mut verdict = stored::read(number, &place, &case, &context);
        verdict.compare_worlds();
        not_run += case.variants.len() - verdict.variants.len();
        if !verdict.variants.is_empty() {
            cases.push((place, verdict));
        }
    }
    let report = Report {
        title: folder.display().to_string(),
        engine: Some(manifest.engine().clone()),
        settings: Some(manifest.settings().clone()),
        shard: manifest.shard(),
        not_run,
        reductions: reductions::read(folder),
        cases,
        ..Report::default()
    };
    Ok((manifest, report))
}
