//! The campaigns of several engines on the same cases, held against each other.

use std::path::PathBuf;

use serde::Serialize;

use super::tally::Tally;
use super::{Settings, case_folder};
use crate::deploy::stop::Stop;
use crate::engine_id::RecordedEngine;
use crate::judge::compare::{Difference, VariantBehaviour, difference};
use crate::judge::variant::variant_folder;
use crate::judge::verdict::CaseVerdict;

/// An engine's campaign, whole: a verdict on every variant.
#[derive(Debug)]
pub struct EngineCampaign {
    /// The engine.
    pub engine: RecordedEngine,
    /// The campaign's folder.
    pub folder: PathBuf,
    /// What came of its cases.
    pub verdicts: Vec<CaseVerdict>,
}

/// What came of an engine's campaign, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EngineCounts {
    /// The engine.
    pub engine: RecordedEngine,
    /// Variants that passed.
    pub passed: usize,
    /// Variants in which known bugs explain all that was found.
    pub known: usize,
    /// Variants with a new finding.
    pub failed: usize,
    /// Variants that could not be judged.
    pub inconclusive: usize,
    /// Variants, of any of these, in which a warm engine alone showed something.
    pub warm_only: usize,
}

/// What a comparison comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The engines, in the order of their versions.
    pub engines: Vec<EngineCounts>,
    /// How many variants were compared.
    pub compared: usize,
    /// Where the engines differ.
    pub differences: Vec<Difference>,
}

impl Comparison {
    /// Compares campaigns with the same settings, given in ascending order of the engines' versions. None if it was
    /// stopped early.
    pub fn of(settings: &Settings, campaigns: &[EngineCampaign], stop: &Stop) -> Option<Self> {
        let engines: Vec<RecordedEngine> = campaigns.iter().map(|campaign| campaign.engine.clone()).collect();
        let (mut differences, mut compared) = (Vec::new(), 0);
        for number in 0..settings.sources {
            let case = settings.case_unless(number, stop)?;
            for variant in 0..case.variants.len() {
                let behaviour = |campaign: &EngineCampaign| {
                    let folder = variant_folder(&case_folder(&campaign.folder, number), variant);
                    let verdict = &campaign.verdicts[number].variants[variant];
                    VariantBehaviour::read(&campaign.engine.id, &case, &folder, verdict)
                };
                let behaviours: Vec<VariantBehaviour> = campaigns.iter().map(behaviour).collect();
                compared += 1;
                differences.extend(difference((number, variant), &engines, &behaviours));
            }
        }
        Some(Self { engines: campaigns.iter().map(EngineCounts::of).collect(), compared, differences })
    }

    /// Whether there is a difference or a finding that no known bug explains.
    pub fn has_new_findings(&self) -> bool {
        self.differences.iter().any(|difference| difference.known.is_empty())
            || self.engines.iter().any(|engine| engine.failed > 0)
    }

    /// How many variants could not be judged.
    pub fn inconclusive(&self) -> usize {
        self.engines.iter().map(|engine| engine.inconclusive).sum()
    }
}

impl EngineCounts {
    fn of(campaign: &EngineCampaign) -> Self {
        let tally = Tally::of(&campaign.verdicts);
        Self {
            engine: campaign.engine.clone(),
            passed: tally.passed,
            known: tally.known,
            failed: tally.failed,
            inconclusive: tally.inconclusive,
            warm_only: tally.warm_only,
        }
    }
}
