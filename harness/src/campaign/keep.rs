//! Whose evidence stays on disk. Programs, outputs and states of variants that passed are most of what a long campaign
//! leaves, and hardly anybody looks at them.

use std::fs;
use std::io;
use std::path::Path;

use clap::ValueEnum;

use super::stored::{self, VERDICT_FILE};
use crate::evidence::STAGES;
use crate::judge::variant::variant_folder;
use crate::judge::verdict::{CaseVerdict, VariantResult, VariantVerdict};

/// Whose evidence stays on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// That of every variant
    #[default]
    All,
    /// That of variants that did not pass; of the others, the verdict and how long each stage took
    Failed,
}

/// Removes the evidence of the variants that passed in a case of which all variants are judged. Not before: a variant
/// that passed may still turn out to have ended in another world than the others of its case.
pub fn remove_passed(folder: &Path, verdict: &CaseVerdict) -> io::Result<()> {
    let mut compared = verdict.clone();
    compared.compare_worlds();
    let passed =
        |variant: &&VariantVerdict| variant.result == VariantResult::Pass && variant.warm_only.is_empty();
    for variant in compared.variants.iter().filter(passed) {
        let place = variant_folder(folder, variant.variant);
        // The verdict says so first: whatever happens then, nobody takes the evidence for damaged.
        if stored::mark_removed(folder, variant.variant)? {
            remove_evidence(&place)?;
        }
    }
    Ok(())
}

fn remove_evidence(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else if entry.file_name() != VERDICT_FILE && entry.file_name() != STAGES {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
