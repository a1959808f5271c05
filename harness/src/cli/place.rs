//! What commands that look at one case share: which case, and which variant of it, a folder stands for.

use std::path::{Path, PathBuf};

use super::CannotRun;
use crate::campaign::number_of;
use crate::case::{CASE_FILE, Case};

/// A case on disk, and the variant that is meant.
pub struct Place {
    /// The case's folder.
    pub folder: PathBuf,
    /// The case.
    pub case: Case,
    /// Its number.
    pub number: usize,
    /// The variant's number; none if the folder is the case's.
    pub variant: Option<usize>,
}

impl Place {
    /// What is in a folder: a case, or a variant in one.
    pub fn find(folder: &Path) -> Result<Self, CannotRun> {
        let name = folder.display();
        let found = folder.canonicalize().map_err(|error| format!("{name}: {error}"))?;
        let last = found.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let variant = last.strip_prefix("variant-").and_then(|number| number.parse().ok());
        let (place, variant) = match (variant, found.parent()) {
            (Some(variant), Some(parent)) if parent.join(CASE_FILE).exists() => {
                (parent.to_owned(), Some(variant))
            }
            _ if found.join(CASE_FILE).exists() => (found, None),
            _ => {
                return Err(format!(
                    "{name} is neither a variant's folder nor a case's: name one such as \
                     …/case-0003/variant-0001 or …/case-0003"
                )
                .into());
            }
        };
        let case = Case::read(&place.join(CASE_FILE))?;
        let number = number_of(&place, &case).unwrap_or(0);
        let found = Self { folder: place, case, number, variant };
        variant.map_or(Ok(()), |variant| found.has(variant))?;
        Ok(found)
    }

    /// Refuses a variant that the case does not have.
    pub fn has(&self, variant: usize) -> Result<(), CannotRun> {
        let last = self.case.variants.len() - 1;
        if variant <= last {
            return Ok(());
        }
        Err(format!("the case has no variant {variant}: its variants are 0 to {last}").into())
    }
}
