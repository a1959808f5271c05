//! The campaigns of several engines on the same cases, held against each other.

use std::path::PathBuf;

use serde::Serialize;

use super::tally::Tally;
use super::{Settings, case_folder};
use crate::deploy::costs::{Costs, FAR_MORE, Measure};
use crate::deploy::stop::Stop;
use crate::engine_id::RecordedEngine;
use crate::evidence::records;
use crate::judge::compare::{Difference, VariantBehaviour, difference};
use crate::judge::exercised::Exercised;
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
    /// The engines that never do more than one operation at a time, if others do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub one_at_a_time: Vec<RecordedEngine>,
    /// What takes an engine far more than another one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostDifference>,
}

/// A kind of command that takes an engine far more than another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostDifference {
    /// The engine.
    pub engine: RecordedEngine,
    /// The other one.
    pub than: RecordedEngine,
    /// The command's first word.
    pub command: String,
    /// What it takes.
    pub measure: Measure,
    /// How much, as a rule.
    pub amount: u64,
    /// How much it takes the other one.
    pub usual: u64,
}

/// What takes an engine far more than the one before it, or than the cheapest.
fn cost_differences(engines: &[RecordedEngine], costs: &[Costs]) -> Vec<CostDifference> {
    let medians: Vec<_> = costs.iter().map(Costs::medians).collect();
    let mut found = Vec::new();
    for (engine, own) in engines.iter().zip(&medians) {
        for ((warm, command, measure), amount) in own {
            let key = (*warm, command.clone(), *measure);
            let others =
                engines.iter().zip(&medians).filter_map(|(other, all)| Some((other, *all.get(&key)?)));
            let cheapest = others.filter(|(other, _)| *other != engine).min_by_key(|(_, usual)| *usual);
            let Some((than, usual)) = cheapest else { continue };
            if *amount >= measure.floor() && *amount > FAR_MORE.saturating_mul(usual) {
                found.push(CostDifference {
                    engine: engine.clone(),
                    than: than.clone(),
                    command: command.clone(),
                    measure: *measure,
                    amount: *amount,
                    usual,
                });
            }
        }
    }
    found
}

/// The engines that never do more than one operation at a time; none if no engine does more.
fn one_at_a_time(campaigns: &[EngineCampaign]) -> Vec<RecordedEngine> {
    let is_serial = |campaign: &&EngineCampaign| {
        let mut exercised = Exercised::default();
        let variants = campaign.verdicts.iter().flat_map(|case| &case.variants);
        variants.for_each(|variant| exercised.add(&variant.exercised));
        exercised.one_at_a_time().is_some()
    };
    let serial: Vec<RecordedEngine> =
        campaigns.iter().filter(is_serial).map(|campaign| campaign.engine.clone()).collect();
    if serial.len() < campaigns.len() { serial } else { Vec::new() }
}

impl Comparison {
    /// Compares campaigns with the same settings, given in ascending order of the engines' versions. None if it was
    /// stopped early.
    pub fn of(settings: &Settings, campaigns: &[EngineCampaign], stop: &Stop) -> Option<Self> {
        let engines: Vec<RecordedEngine> = campaigns.iter().map(|campaign| campaign.engine.clone()).collect();
        let (mut differences, mut compared) = (Vec::new(), 0);
        let costs: Vec<Costs> = campaigns.iter().map(|_| Costs::default()).collect();
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
                for (campaign, costs) in campaigns.iter().zip(&costs) {
                    let folder = variant_folder(&case_folder(&campaign.folder, number), variant);
                    let records = records(&folder).unwrap_or_default();
                    records.iter().for_each(|record| costs.add(record, &folder.display().to_string()));
                }
                differences.extend(difference((number, variant), &engines, &behaviours));
            }
        }
        Some(Self {
            costs: cost_differences(&engines, &costs),
            one_at_a_time: one_at_a_time(campaigns),
            engines: campaigns.iter().map(EngineCounts::of).collect(),
            compared,
            differences,
        })
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
