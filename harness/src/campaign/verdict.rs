//! What comes of a case.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

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
    /// The verdict in a case's folder, if there is a whole one.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// Puts the verdict into the case's folder, whole or not at all.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&file, self)?;
        file.persist(folder.join(FILE)).map_err(|error| error.error)?;
        Ok(())
    }
}
