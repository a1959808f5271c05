//! What comes of a case.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::coverage::Exercised;
use crate::oracle::Finding;

const FILE: &str = "verdict.json";

/// The version of the file that this program writes. It reads older ones too: version 1 knew no known findings.
pub const VERDICT_VERSION: u32 = 2;

/// What comes of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
pub enum Result {
    /// No oracle found anything.
    Pass,
    /// Some did, and not all of it is known.
    Fail {
        /// What they found.
        findings: Vec<Finding>,
    },
    /// Some did, and known engine bugs explain all of it. Counted apart.
    Known {
        /// What they found.
        findings: Vec<Finding>,
    },
    /// It could not be judged. Counted and shown, never a pass.
    Inconclusive {
        /// Why.
        reason: String,
    },
}

impl Result {
    /// What findings amount to.
    pub fn of(findings: Vec<Finding>) -> Self {
        if findings.is_empty() {
            Self::Pass
        } else if findings.iter().all(|finding| finding.known.is_some()) {
            Self::Known { findings }
        } else {
            Self::Fail { findings }
        }
    }

    /// What was found.
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Fail { findings } | Self::Known { findings } => findings,
            Self::Pass | Self::Inconclusive { .. } => &[],
        }
    }
}

/// A variant's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantVerdict {
    /// The variant's number.
    pub variant: usize,
    /// What came of it.
    pub result: Result,
    /// What it exercised; nothing in a verdict of an older program.
    #[serde(default, skip_serializing_if = "Exercised::is_empty")]
    pub exercised: Exercised,
}

/// A case's verdict, as it is stored beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseVerdict {
    /// The version of the format.
    pub version: u32,
    /// The case's number.
    pub case: usize,
    /// Its variants.
    pub variants: Vec<VariantVerdict>,
}

/// A verdict that is there and cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VerdictError {
    /// The file cannot be read, or is no verdict.
    #[error("{} is not a verdict: {why}; remove the case's folder to run it again", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// It was written by a newer program.
    #[error(
        "{} has version {found}, and this program reads versions up to {VERDICT_VERSION}: use a newer equiform",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it has.
        found: u32,
    },
}

impl CaseVerdict {
    /// A verdict in the present version.
    pub fn new(case: usize, variants: Vec<VariantVerdict>) -> Self {
        Self { version: VERDICT_VERSION, case, variants }
    }

    /// The verdict in a case's folder, if there is one: a case without one was not finished.
    pub fn read(folder: &Path) -> std::result::Result<Option<Self>, VerdictError> {
        #[derive(Deserialize)]
        struct AnyVersion {
            version: u32,
        }
        let path = folder.join(FILE);
        let unreadable = |why: String| VerdictError::Unreadable { path: path.clone(), why };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let any: AnyVersion =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        if any.version > VERDICT_VERSION {
            return Err(VerdictError::Newer { path, found: any.version });
        }
        serde_json::from_slice(&bytes).map(Some).map_err(|error| unreadable(error.to_string()))
    }

    /// Puts the verdict into the case's folder, whole or not at all.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&file, self)?;
        file.persist(folder.join(FILE)).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(known: Option<&str>) -> Finding {
        let text = || "x".to_owned();
        Finding { oracle: text(), kind: text(), stage: text(), text: text(), known: known.map(str::to_owned) }
    }

    #[test]
    fn a_variant_is_known_only_if_all_of_its_findings_are() {
        assert_eq!(Result::of(Vec::new()), Result::Pass);
        assert!(matches!(Result::of(vec![finding(Some("a")), finding(Some("b"))]), Result::Known { .. }));
        assert!(matches!(Result::of(vec![finding(Some("a")), finding(None)]), Result::Fail { .. }));
    }

    #[test]
    fn a_verdict_comes_back_as_it_was_written_and_an_older_one_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(CaseVerdict::read(folder.path()).unwrap(), None);
        let result = Result::of(vec![finding(Some("a"))]);
        let mut exercised = Exercised::default();
        exercised.checked("batches", 4);
        let verdict = CaseVerdict::new(3, vec![VariantVerdict { variant: 0, result, exercised }]);
        verdict.write(folder.path()).unwrap();
        assert_eq!(CaseVerdict::read(folder.path()).unwrap(), Some(verdict));
        fs::write(
            folder.path().join(FILE),
            r#"{"version":1,"case":0,"variants":[{"variant":0,"result":{"verdict":"pass"}}]}"#,
        )
        .unwrap();
        let older = CaseVerdict::read(folder.path()).unwrap().unwrap();
        assert_eq!(older.variants[0].result, Result::Pass);
        assert!(older.variants[0].exercised.is_empty());
    }

    #[test]
    fn a_newer_or_broken_verdict_gives_a_sentence_and_is_not_taken_for_none() {
        let folder = tempfile::tempdir().unwrap();
        let error = |text: &str| {
            fs::write(folder.path().join(FILE), text).unwrap();
            CaseVerdict::read(folder.path()).unwrap_err().to_string()
        };
        assert!(error(r#"{"version":9,"else":1}"#).ends_with("use a newer equiform"));
        assert!(error(r#"{"version":2,"#).ends_with("remove the case's folder to run it again"));
    }
}
