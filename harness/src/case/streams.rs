//! The seeds of the choices that are made for a variant beyond its programs. Each choice has a random stream of its
//! own: its seed is a hash of what the choice is for, so no two choices share a stream.

use sha2::{Digest as _, Sha256};

/// What is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Choice {
    /// The workflow of a case's first variant. The workflows of the other variants follow from it.
    Workflow,
    /// What a workflow chooses for the stages of one variant.
    Stages,
    /// What names and values are written as, for all variants of a case.
    Spelling,
    /// Whether a variant that passed on a warm engine is run again in fresh processes.
    Cold,
}

impl Choice {
    fn purpose(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Stages => "stages",
            Self::Spelling => "spelling",
            Self::Cold => "cold",
        }
    }

    /// The seed of this choice for a variant. The case's own seed stands for the campaign's seed and the case's number.
    pub fn seed(self, case: u64, variant: usize) -> u64 {
        let digest = Sha256::digest(format!("{} {case} {variant}", self.purpose()));
        u64::from_be_bytes(*digest.first_chunk().expect("a SHA-256 has 32 bytes"))
    }
}
