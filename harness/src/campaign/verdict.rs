//! What comes of a case.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::case::CASE_VERSION;
use crate::oracle::Finding;

const FILE: &str = "verdict.json";

/// What comes of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
pub enum Result {
    /// No oracle found anything.
    Pass,
    /// Some did.
    Fail {
        /// What they found.
        findings: Vec<Finding>,
    },
    /// It could not be judged. Counted and shown, never a pass.
    Inconclusive {
        /// Why.
        reason: String,
    },
}

/// A verdict that is there and cannot be read. It is left as it is.
#[derive(Debug, thiserror::Error)]
#[error("the verdict {path} cannot be read: {why}")]
pub struct VerdictError {
    path: String,
    why: String,
}

/// A variant's verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariantVerdict {
    /// The variant's number.
    pub variant: usize,
    /// What came of it.
    pub result: Result,
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

impl CaseVerdict {
    /// The verdict in a case's folder, if there is one.
    pub fn read(folder: &Path) -> std::result::Result<Option<Self>, VerdictError> {
        #[derive(Deserialize)]
        struct AnyVersion {
            version: u32,
        }
        let path = folder.join(FILE);
        let unreadable = |why: String| VerdictError { path: path.display().to_string(), why };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        match serde_json::from_slice(&bytes) {
            Ok(AnyVersion { version }) if version != CASE_VERSION => Err(unreadable(format!(
                "it has version {version}, and this program reads version {CASE_VERSION}: use a newer equiform"
            ))),
            _ => serde_json::from_slice(&bytes).map(Some).map_err(|error| {
                unreadable(format!("{error}. Remove the case's folder to have the case run again"))
            }),
        }
    }

    /// Puts the verdict into the case's folder, whole or not at all.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&file, self)?;
        file.persist(folder.join(FILE)).map_err(|error| error.error)?;
        Ok(())
    }
}
