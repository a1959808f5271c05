//! What comes of a campaign, in numbers.

use std::collections::BTreeMap;

use super::verdict::{CaseVerdict, Result as TrialResult};

/// Variants by verdict, findings by oracle and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Variants in which nothing was found.
    pub passed: usize,
    /// Variants in which something was found.
    pub failed: usize,
    /// Variants that could not be judged.
    pub inconclusive: usize,
    /// How many findings there are of each oracle and kind.
    pub signatures: BTreeMap<(String, String), usize>,
}

impl Tally {
    /// Counts.
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a CaseVerdict>) -> Self {
        let mut tally = Self::default();
        for variant in verdicts.into_iter().flat_map(|verdict| &verdict.variants) {
            match &variant.result {
                TrialResult::Pass => tally.passed += 1,
                TrialResult::Inconclusive { .. } => tally.inconclusive += 1,
                TrialResult::Fail { findings } => {
                    tally.failed += 1;
                    for finding in findings {
                        let signature = (finding.oracle.clone(), finding.kind.clone());
                        *tally.signatures.entry(signature).or_default() += 1;
                    }
                }
            }
        }
        tally
    }
}
