//! From a folder that somebody names to the variant that is meant: its case, its number, its evidence.

use std::fs;
use std::path::{Path, PathBuf};

use super::reduce::{REDUCTION_FILE, Reduction};
use super::{engine_of, number_of, stored};
use crate::case::{CASE_FILE, Case, CaseError};
use crate::engine_id::{EngineId, RecordedEngine};
use crate::evidence::STAGES;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::{ORACLES, Oracle};
use crate::judge::variant::{self as judge, variant_folder};
use crate::judge::verdict::VariantResult;

/// A case on disk, and the variant that a folder in it stands for.
#[derive(Debug, Clone)]
pub struct StoredCase {
    /// The case's folder.
    pub folder: PathBuf,
    /// The case.
    pub case: Case,
    /// Its number.
    pub number: usize,
    /// The variant's number; none if the folder is the case's.
    pub variant: Option<usize>,
}

impl StoredCase {
    /// What is in a folder: a case, or a variant in one.
    pub fn find(folder: &Path) -> Result<Self, VariantNotFound> {
        let found = folder
            .canonicalize()
            .map_err(|source| VariantNotFound::Io { path: folder.to_owned(), source })?;
        let last = found.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let variant: Option<usize> = last.strip_prefix("variant-").and_then(|number| number.parse().ok());
        let (place, variant) = match (variant, found.parent()) {
            _ if found.join(CASE_FILE).exists() => (found, None),
            (Some(variant), Some(parent)) if parent.join(CASE_FILE).exists() => {
                (parent.to_owned(), Some(variant))
            }
            _ => return Err(VariantNotFound::NeitherCaseNorVariant(folder.to_owned())),
        };
        let case = Case::read(&place.join(CASE_FILE))?;
        let number = number_of(&place, &case).unwrap_or(0);
        let found = Self { folder: place, case, number, variant };
        variant.map_or(Ok(()), |variant| found.has(variant))?;
        Ok(found)
    }

    /// Refuses a variant that the case does not have.
    pub fn has(&self, variant: usize) -> Result<(), VariantNotFound> {
        let last = self.case.variants.len() - 1;
        if variant <= last { Ok(()) } else { Err(VariantNotFound::NoVariant { variant, last }) }
    }
}

/// A variant on disk.
#[derive(Debug, Clone)]
pub struct StoredVariant {
    /// The case's folder.
    pub case_folder: PathBuf,
    /// The case.
    pub case: Case,
    /// The variant's number.
    pub variant: usize,
    /// The folder of its evidence.
    pub folder: PathBuf,
    /// The engine that it was deployed on.
    pub engine: RecordedEngine,
}

/// A folder in which no variant can be found to speak of.
#[derive(Debug, thiserror::Error)]
pub enum VariantNotFound {
    /// There is no such folder.
    #[error("{}: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// It holds no case, and is no variant's.
    #[error(
        "{} is neither a case's folder nor a variant's: name one such as …/case-0003 or …/case-0003/variant-0001",
        .0.display()
    )]
    NeitherCaseNorVariant(PathBuf),
    /// The case cannot be read.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The case has no such variant.
    #[error("the case has no variant {variant}: its variants are 0 to {last}")]
    NoVariant {
        /// The number that was asked for.
        variant: usize,
        /// The largest there is.
        last: usize,
    },
    /// No variant of the case failed.
    #[error(
        "no variant of {} failed by its evidence: name one with --variant, or deploy the case again by \
         `equiform replay {}`", .0.display(), .0.display()
    )]
    NoneFailed(PathBuf),
    /// Nobody knows the engine.
    #[error(
        "{} does not say which engine it was run on: `equiform replay {} --engine ENGINE` runs it on one",
        .0.display(), .0.display()
    )]
    NoEngine(PathBuf),
    /// The evidence is not what it was judged from.
    #[error(
        "the evidence of variant {variant} says nothing about the engine any more ({why}); \
         `equiform replay {}` deploys the case again", case.display()
    )]
    Worthless {
        /// The variant.
        variant: usize,
        /// The case's folder.
        case: PathBuf,
        /// What has changed.
        why: String,
    },
    /// The variant passed, and nothing is left of it.
    #[error(
        "variant {variant} passed, and its evidence was removed (`run --keep failed`); \
         `equiform replay {} --variant {variant}` deploys it again", case.display()
    )]
    Removed {
        /// Its number.
        variant: usize,
        /// The case's folder.
        case: PathBuf,
    },
}

impl StoredVariant {
    /// Whether it was reduced, and the failure then showed in some deployments only.
    pub fn is_flaky(&self) -> bool {
        let reduction = fs::read(self.case_folder.join(REDUCTION_FILE)).ok();
        let reduction: Option<Reduction> = reduction.and_then(|text| serde_json::from_slice(&text).ok());
        reduction.is_some_and(|reduction| reduction.flaky_rate.is_some())
    }

    /// The variant that a folder stands for: of a variant's folder that one; of a case's folder the one with this
    /// number, else the first that failed, else the first in which something known was found.
    pub fn find(
        folder: &Path,
        number: Option<usize>,
        known: &KnownFindings,
    ) -> Result<Self, VariantNotFound> {
        let stored = StoredCase::find(folder)?;
        number.map_or(Ok(()), |number| stored.has(number))?;
        let StoredCase { folder: case_folder, case, variant: own, .. } = stored;
        let number = own.or(number);
        let engine =
            engine_of(&case_folder, &case).ok_or_else(|| VariantNotFound::NoEngine(case_folder.clone()))?;
        // A case of a campaign that stores the engine beside it is judged by that engine's rules too.
        let case = Case { engine: Some(engine.clone()), ..case };
        let variants = case.variants.len();
        let variant = match number {
            Some(variant) => variant,
            None if variants == 1 => 0,
            None => first_failed(&case, &case_folder, known, &engine.id)
                .ok_or_else(|| VariantNotFound::NoneFailed(case_folder.clone()))?,
        };
        if stored::is_removed(&case_folder, variant) {
            return Err(VariantNotFound::Removed { variant, case: case_folder });
        }
        if let Some(why) = stored::worthless(&case_folder, variant) {
            return Err(VariantNotFound::Worthless { variant, case: case_folder, why });
        }
        let folder = variant_folder(&case_folder, variant);
        Ok(Self { case_folder, case, variant, folder, engine })
    }
}

fn first_failed(case: &Case, folder: &Path, known: &KnownFindings, engine: &EngineId) -> Option<usize> {
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let mut first_known = None;
    for variant in 0..case.variants.len() {
        let place = variant_folder(folder, variant);
        if !place.join(STAGES).exists() || stored::worthless(folder, variant).is_some() {
            continue;
        }
        let mut verdict = judge::verdict(case, variant, &place, &oracles);
        judge::mark_known(known, engine, case, &mut verdict);
        match verdict.result {
            VariantResult::Fail { .. } => return Some(variant),
            VariantResult::Known { .. } => {
                first_known.get_or_insert(variant);
            }
            VariantResult::Pass | VariantResult::Inconclusive { .. } => {}
        }
    }
    first_known
}
