//! What comes of a variant, and of a case.

use std::collections::{BTreeMap, BTreeSet};

use equiform_proto::ledger::Digest;
use serde::{Deserialize, Serialize};

use super::exercised::Exercised;
use super::finding::{Detail, Finding, FindingKind, StageName};
use super::history::Failed;

/// What comes of a variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
pub enum VariantResult {
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

impl VariantResult {
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

    /// Its name, as it is stored.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail { .. } => "fail",
            Self::Known { .. } => "known",
            Self::Inconclusive { .. } => "inconclusive",
        }
    }

    /// Whether a new finding came again in a second deployment: one at least, with the same signature and
    /// stage. None if that deployment could not be judged.
    pub fn came_again(&self, second: &Self) -> Option<bool> {
        if matches!(second, Self::Inconclusive { .. }) {
            return None;
        }
        let new = |finding: &&Finding| finding.known.is_none();
        let there: BTreeSet<_> = second.findings().iter().map(Finding::place).collect();
        Some(self.findings().iter().filter(new).any(|finding| there.contains(&finding.place())))
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
    pub result: VariantResult,
    /// What it exercised; nothing in a verdict of an older program.
    #[serde(default, skip_serializing_if = "Exercised::is_empty")]
    pub exercised: Exercised,
    /// Whether a new finding came again when the variant was deployed a second time; none if that was not tried, or
    /// could not be judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<bool>,
    /// What only a warm engine showed. That is no engine bug until fresh processes show it, and is told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warm_only: Vec<Finding>,
    /// How many stages were not reached, because one before them failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_reached: usize,
    /// What took effect in stages that failed: what followed began with that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failed: Failed,
    /// What the world meant after the last batch; none if the variant did not get there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<Digest>,
    /// What is wrong with the evidence of a stored failure, which stays a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damaged: Option<String>,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl CaseVerdict {
    /// Holds the worlds that the variants ended in against each other: programs that mean the same must build
    /// the same. A variant whose world is not that of most has a finding more.
    pub fn compare_worlds(&mut self) {
        let mut worlds: BTreeMap<Digest, usize> = BTreeMap::new();
        let ended = self.variants.iter().filter_map(|variant| variant.world);
        ended.for_each(|world| *worlds.entry(world).or_default() += 1);
        // Of several that are as frequent, the one that comes first among the variants.
        let most = worlds.values().copied().max();
        let usual =
            self.variants.iter().filter_map(|variant| variant.world).find(|it| Some(worlds[it]) == most);
        for variant in
            self.variants.iter_mut().filter(|variant| variant.world.is_some() && variant.world != usual)
        {
            let finding = Finding {
                stage: StageName::of_variant(),
                ..Finding::new(FindingKind::WorldDiffers, "")
                    .with(Detail::Variant { variant: variant.variant })
            };
            let mut findings = variant.result.findings().to_vec();
            if !findings.contains(&finding) {
                findings.push(finding);
            }
            variant.result = VariantResult::of(findings);
        }
    }
}

impl VariantVerdict {
    /// What came of a variant that was deployed once, up to its last stage.
    pub fn new(variant: usize, result: VariantResult) -> Self {
        Self {
            variant,
            result,
            exercised: Exercised::default(),
            again: None,
            warm_only: Vec::new(),
            not_reached: 0,
            failed: Failed::new(),
            world: None,
            damaged: None,
        }
    }

    /// Holds what fresh processes showed against what a warm engine had shown before: what both show came again, and
    /// what the warm one shows alone is told apart.
    pub fn hold_against_warm(&mut self, warm: &Self) {
        if self.again.is_none() && matches!(self.result, VariantResult::Fail { .. }) {
            self.again = self.result.came_again(&warm.result).filter(|again| *again);
        }
        let here: BTreeSet<_> = self.result.findings().iter().map(Finding::place).collect();
        self.warm_only = match (&warm.result, &self.result) {
            (VariantResult::Inconclusive { .. }, VariantResult::Inconclusive { .. }) => Vec::new(),
            (VariantResult::Inconclusive { reason }, _) => {
                vec![Finding::broken_evidence(StageName::default(), reason.clone())]
            }
            (other, _) => other.findings().iter().filter(|it| !here.contains(&it.place())).cloned().collect(),
        };
    }

    /// The verdict, seeing that its evidence is not what it was: a finding is not lost by that, and anything
    /// else cannot be told any more.
    pub fn with_damage(self, why: String) -> Self {
        match self.result {
            VariantResult::Fail { .. } => Self { damaged: Some(why), ..self },
            VariantResult::Inconclusive { reason } => {
                Self { result: VariantResult::Inconclusive { reason: format!("{reason}; {why}") }, ..self }
            }
            _ => Self { result: VariantResult::Inconclusive { reason: why }, ..self },
        }
    }
}

/// What comes of a case: the verdicts on its variants, in their order. Fewer than it has variants if not all
/// were judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseVerdict {
    /// The case's number.
    pub case: usize,
    /// Its variants.
    pub variants: Vec<VariantVerdict>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(kind: &str, known: Option<&str>) -> Finding {
        let kind = match kind {
            "old" | "known" => FindingKind::OperationExtra,
            "new" => FindingKind::OperationMissing,
            _ => FindingKind::OperationRepeated,
        };
        Finding { known: known.map(str::to_owned), ..Finding::new(kind, "batch-1") }
    }

    #[test]
    fn a_variant_is_known_only_if_all_of_its_findings_are() {
        let (a, b) = (finding("x", Some("a")), finding("x", Some("b")));
        assert_eq!(VariantResult::of(Vec::new()), VariantResult::Pass);
        assert!(matches!(VariantResult::of(vec![a.clone(), b]), VariantResult::Known { .. }));
        assert!(matches!(VariantResult::of(vec![a, finding("x", None)]), VariantResult::Fail { .. }));
    }

    #[test]
    fn a_finding_came_again_if_one_new_finding_has_the_same_signature_and_stage() {
        let of = |findings: &[Finding]| VariantResult::of(findings.to_vec());
        let (old, new, other) = (finding("old", Some("a")), finding("new", None), finding("other", None));
        let first = of(&[old.clone(), new.clone()]);
        let worded = Finding { detail: Detail::Quote { words: "differently".to_owned() }, ..new };
        assert_eq!(first.came_again(&of(&[other.clone(), worded.clone()])), Some(true));
        assert_eq!(first.came_again(&of(&[old, other])), Some(false), "a known one is no confirmation");
        assert_eq!(first.came_again(&VariantResult::Pass), Some(false));
        let elsewhere = Finding { stage: "elsewhere".into(), ..worded };
        assert_eq!(first.came_again(&of(&[elsewhere])), Some(false));
        let inconclusive = VariantResult::Inconclusive { reason: "the ledger is cut".to_owned() };
        assert_eq!(first.came_again(&inconclusive), None);
    }

    #[test]
    fn a_variant_that_ends_in_another_world_than_most_is_told() {
        let ended_in = |variant, world: u8| VariantVerdict {
            world: Some(Digest([world; 16])),
            ..VariantVerdict::new(variant, VariantResult::Pass)
        };
        let stopped = VariantVerdict::new(3, VariantResult::Pass);
        let variants = vec![ended_in(0, 1), ended_in(1, 2), ended_in(2, 2), stopped];
        let mut case = CaseVerdict { case: 0, variants };
        case.compare_worlds();
        case.compare_worlds();
        let found: Vec<usize> = case.variants.iter().map(|variant| variant.result.findings().len()).collect();
        assert_eq!(found, [1, 0, 0, 0]);
    }

    #[test]
    fn what_a_warm_engine_shows_beyond_what_fresh_processes_show_is_told_apart() {
        let of = |findings: &[&Finding]| {
            VariantVerdict::new(
                0,
                VariantResult::of(findings.iter().map(|&finding| finding.clone()).collect()),
            )
        };
        let (known, new, other) =
            (&finding("known", Some("a")), &finding("new", None), &finding("other", None));
        let told = |cold: &[&Finding], warm: &[&Finding]| {
            let mut verdict = of(cold);
            verdict.hold_against_warm(&of(warm));
            (verdict.again, verdict.warm_only)
        };
        assert_eq!(told(&[], &[new]), (None, vec![new.clone()]));
        assert_eq!(told(&[known], &[known]), (None, Vec::new()));
        assert_eq!(told(&[known], &[known, new]), (None, vec![new.clone()]));
        assert_eq!(told(&[new], &[new, other]), (Some(true), vec![other.clone()]));
        // A third deployment says whether it came again.
        assert_eq!(told(&[other], &[new]), (None, vec![new.clone()]));
        let inconclusive =
            || VariantVerdict::new(0, VariantResult::Inconclusive { reason: "cut".to_owned() });
        let mut both = inconclusive();
        both.hold_against_warm(&inconclusive());
        assert_eq!(both.warm_only, []);
        let mut cold = of(&[]);
        cold.hold_against_warm(&inconclusive());
        assert_eq!(cold.warm_only.len(), 1);
    }

    #[test]
    fn damaged_evidence_takes_no_finding_away_and_leaves_no_pass() {
        let damaged = |result| VariantVerdict::new(0, result).with_damage("ledger.jsonl".to_owned());
        let failed = damaged(VariantResult::of(vec![finding("x", None)]));
        assert!(matches!(failed.result, VariantResult::Fail { .. }) && failed.damaged.is_some());
        for result in [VariantResult::Pass, VariantResult::of(vec![finding("x", Some("a"))])] {
            assert!(matches!(damaged(result).result, VariantResult::Inconclusive { .. }));
        }
    }
}
