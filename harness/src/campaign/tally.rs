//! What comes of a campaign, in numbers.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::finding::Signature;
use crate::judge::verdict::{CaseVerdict, VariantResult, VariantVerdict};

/// Variants by verdict, findings by signature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Variants in which nothing was found.
    pub passed: usize,
    /// Variants in which something was found that is not known.
    pub failed: usize,
    /// Of those that failed, the ones in which no new finding came again in a second deployment.
    pub not_again: usize,
    /// Variants in which all that was found is known.
    pub known: usize,
    /// Variants that could not be judged.
    pub inconclusive: usize,
    /// Variants in which a warm engine showed something that fresh processes do not show; they are counted above by
    /// what those show.
    pub warm_only: usize,
    /// Stages that were not reached, because one before them failed.
    pub stages_not_reached: usize,
    /// The variants in which there are such stages.
    pub cut_short: usize,
    /// How many findings there are of each signature, without those that are known.
    pub signatures: BTreeMap<Signature, usize>,
    /// In how many variants each known finding shows.
    pub names: BTreeMap<String, usize>,
}

impl Tally {
    /// Counts.
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a CaseVerdict>) -> Self {
        let mut tally = Self::default();
        for variant in verdicts.into_iter().flat_map(|verdict| &verdict.variants) {
            tally.count(variant);
        }
        tally
    }

    /// Counts one more variant.
    pub fn count(&mut self, variant: &VariantVerdict) {
        let result = &variant.result;
        self.warm_only += usize::from(!variant.warm_only.is_empty());
        self.stages_not_reached += variant.not_reached;
        self.cut_short += usize::from(variant.not_reached > 0);
        self.not_again +=
            usize::from(variant.again == Some(false) && matches!(result, VariantResult::Fail { .. }));
        match result {
            VariantResult::Pass => self.passed += 1,
            VariantResult::Inconclusive { .. } => self.inconclusive += 1,
            VariantResult::Fail { .. } => self.failed += 1,
            VariantResult::Known { .. } => self.known += 1,
        }
        let findings = result.findings();
        let names: BTreeSet<&String> = findings.iter().filter_map(|finding| finding.known.as_ref()).collect();
        for name in names {
            *self.names.entry(name.clone()).or_default() += 1;
        }
        for finding in findings.iter().filter(|finding| finding.known.is_none()) {
            *self.signatures.entry(finding.signature()).or_default() += 1;
        }
    }
}
