//! What a campaign left in its folder, read back without an engine.

use std::io;
use std::path::{Path, PathBuf};

use super::case_folder;
use super::claim::{Claim, ClaimError};
use super::reductions;
use super::report::Report;
use super::stored::{self, Bench};
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
    /// Its claim cannot be read.
    #[error(transparent)]
    Claim(#[from] ClaimError),
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

/// The claim in a folder.
pub fn claim(folder: &Path) -> Result<Claim, FolderError> {
    // A folder that is not there is another mistake than one that is no campaign's.
    std::fs::read_dir(folder).map_err(|source| FolderError::Io { path: folder.to_owned(), source })?;
    Claim::read(folder)?.ok_or_else(|| FolderError::NoCampaign(folder.to_owned()))
}

/// The oracles that a campaign asks.
pub fn oracles(claim: &Claim) -> Vec<&'static Oracle> {
    ORACLES.iter().filter(|oracle| claim.oracles().iter().any(|name| name == oracle.name)).collect()
}

/// The campaign in a folder: its claim, and what came of it, by what is known now. Tells of each case that is read.
pub fn read(
    folder: &Path,
    known: &KnownFindings,
    mut tell: impl FnMut(usize),
) -> Result<(Claim, Report), FolderError> {
    let claim = claim(folder)?;
    let oracles = oracles(&claim);
    let bench = Bench { oracles: &oracles, known, engine: &claim.engine().id };
    let variants = usize::try_from(claim.settings().variants).unwrap_or(usize::MAX);
    let (mut cases, mut not_run): (Vec<(PathBuf, CaseVerdict)>, usize) = (Vec::new(), 0);
    for number in claim.cases() {
        tell(number);
        let place = case_folder(folder, number);
        if !place.join(CASE_FILE).exists() {
            not_run += variants;
            continue;
        }
        let case = Case::read(&place.join(CASE_FILE)).map_err(|error| FolderError::Case {
            folder: folder.to_owned(),
            case: place.clone(),
            error,
        })?;
        let mut verdict = stored::read(number, &place, &case, &bench);
        verdict.compare_worlds();
        not_run += case.variants.len() - verdict.variants.len();
        if !verdict.variants.is_empty() {
            cases.push((place, verdict));
        }
    }
    let report = Report {
        title: folder.display().to_string(),
        engine: Some(claim.engine().clone()),
        settings: Some(claim.settings().clone()),
        shard: claim.shard(),
        not_run,
        reductions: reductions::read(folder),
        cases,
        ..Report::default()
    };
    Ok((claim, report))
}
