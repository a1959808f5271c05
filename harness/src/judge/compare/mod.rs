//! The same cases on several engines or versions: where what they did differs, and since when.
//!
//! [`behaviour`] is what is compared: what was done in a stage, from the ledger. A difference is told at the
//! first stage in which a variant shows one, because whatever follows builds on another world.

pub mod behaviour;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use crate::case::Case;
use crate::engines::{self, EngineId, RecordedEngine};
use crate::evidence::{Evidence, Unreadable};
use crate::judge::verdict::{VariantResult, VariantVerdict};
use behaviour::StageBehaviour;

/// What an engine made of a variant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VariantBehaviour {
    /// What it did, stage by stage; fewer stages than others after a failure.
    pub stages: Vec<StageBehaviour>,
    /// The stages in which known bugs of it showed, with their names.
    pub known: BTreeMap<String, String>,
    /// Why it could not be judged; such a behaviour is compared with none.
    pub inconclusive: Option<String>,
}

impl VariantBehaviour {
    /// What the evidence in a variant's folder shows of it.
    pub fn read(engine: &EngineId, case: &Case, folder: &Path, verdict: &VariantVerdict) -> Self {
        let inconclusive = |reason: String| Self { inconclusive: Some(reason), ..Self::default() };
        if let VariantResult::Inconclusive { reason } = &verdict.result {
            return inconclusive(reason.clone());
        }
        let stages = match read_stages(engine, case, folder, verdict) {
            Ok(stages) => stages,
            Err(error) => return inconclusive(error.to_string()),
        };
        let findings = verdict.result.findings().iter();
        let known = findings.filter_map(|finding| Some((finding.stage.to_string(), finding.known.clone()?)));
        Self { stages, known: known.collect(), inconclusive: None }
    }
}

fn read_stages(
    engine: &EngineId,
    case: &Case,
    folder: &Path,
    verdict: &VariantVerdict,
) -> Result<Vec<StageBehaviour>, Unreadable> {
    let stages = &case.variants[verdict.variant].stages;
    let mut evidence = Evidence::open(folder, stages, engines::profile(engine).reader)?;
    let mut behaviours = Vec::new();
    while let Some((stage, world)) = evidence.next_stage()? {
        behaviours.push(StageBehaviour::of(&stage, world, verdict));
    }
    Ok(behaviours)
}

/// Engines that did the same in a stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// What they did.
    pub did: String,
    /// They.
    pub engines: Vec<RecordedEngine>,
}

/// A variant with which not all engines do the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The case's number.
    pub case: usize,
    /// The variant's.
    pub variant: usize,
    /// The first stage in which they differ.
    pub stage: String,
    /// The engines by what they did, most of them first.
    pub groups: Vec<Group>,
    /// The versions that did something else than the version before them.
    pub first_in: Vec<RecordedEngine>,
    /// The known bugs that explain it: without the engines that have them, all do the same. Empty if it is new.
    pub known: BTreeSet<String>,
}

/// Where the engines, given in ascending order of their versions, differ in a variant; none if they do not.
pub fn difference(
    (case, variant): (usize, usize),
    engines: &[RecordedEngine],
    behaviours: &[VariantBehaviour],
) -> Option<Difference> {
    let judged: Vec<(&RecordedEngine, &VariantBehaviour)> =
        engines.iter().zip(behaviours).filter(|(_, behaviour)| behaviour.inconclusive.is_none()).collect();
    let longest = judged.iter().map(|(_, behaviour)| behaviour.stages.len()).max()?;
    let at = |stage: usize| judged.iter().map(move |(_, behaviour)| behaviour.stages.get(stage));
    let stage = (0..longest).find(|stage| at(*stage).collect::<BTreeSet<_>>().len() > 1)?;
    let name = at(stage).flatten().next()?.stage.clone();
    let mut groups: Vec<(Option<&StageBehaviour>, Vec<RecordedEngine>)> = Vec::new();
    for ((engine, _), behaviour) in judged.iter().zip(at(stage)) {
        match groups.iter_mut().find(|(did, _)| *did == behaviour) {
            Some((_, engines)) => engines.push((*engine).clone()),
            None => groups.push((behaviour, vec![(*engine).clone()])),
        }
    }
    groups.sort_by_key(|(_, engines)| std::cmp::Reverse(engines.len()));
    let pairs = judged.iter().zip(at(stage)).zip(judged.iter().zip(at(stage)).skip(1));
    let first_in = pairs
        .filter(|(((before, _), was), ((engine, _), is))| before.id.name == engine.id.name && was != is)
        .map(|(_, ((engine, _), _))| (*engine).clone())
        .collect();
    let explained: Vec<Option<&String>> =
        judged.iter().map(|(_, behaviour)| behaviour.known.get(&name)).collect();
    let others: BTreeSet<_> = explained
        .iter()
        .zip(at(stage))
        .filter(|(known, _)| known.is_none())
        .map(|(_, behaviour)| behaviour)
        .collect();
    let known =
        if others.len() <= 1 { explained.into_iter().flatten().cloned().collect() } else { BTreeSet::new() };
    let groups = groups.into_iter().map(|(did, engines)| Group {
        did: did.map_or("was not reached".to_owned(), StageBehaviour::to_string),
        engines,
    });
    Some(Difference { case, variant, stage: name, groups: groups.collect(), first_in, known })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::graph::NamedGraph;
    use crate::engines::EngineName;
    use crate::spec::{OperationKind, ResourceOperation};

    fn engine(name: EngineName, version: &str) -> RecordedEngine {
        EngineId::new(name, version.parse().unwrap()).into()
    }

    fn listed(engines: &[RecordedEngine]) -> String {
        engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    fn engines() -> [RecordedEngine; 4] {
        [
            engine(EngineName::Terraform, "1.9.8"),
            engine(EngineName::Terraform, "1.10.5"),
            engine(EngineName::Terraform, "1.11.4"),
            engine(EngineName::Tofu, "1.12.6"),
        ]
    }

    /// A behaviour of one stage, which creates these.
    fn creates(keys: &[&str]) -> VariantBehaviour {
        let operation = |key: &&str| (ResourceOperation::new(&(*key).into(), OperationKind::Create), (1, 1));
        let behaviour = StageBehaviour {
            stage: "batch-1".to_owned(),
            succeeded: true,
            operations: keys.iter().map(operation).collect(),
            world: NamedGraph::default(),
            findings: BTreeSet::new(),
        };
        VariantBehaviour { stages: vec![behaviour], ..VariantBehaviour::default() }
    }

    #[test]
    fn engines_that_do_the_same_show_no_difference() {
        let all = [creates(&["a"]), creates(&["a"]), creates(&["a"]), creates(&["a"])];
        assert_eq!(difference((0, 0), &engines(), &all), None);
    }

    #[test]
    fn a_difference_names_the_first_version_that_has_it_and_does_not_cross_from_one_engine_to_another() {
        let all = [creates(&["a"]), creates(&["a", "b"]), creates(&["a", "b"]), creates(&["a"])];
        let found = difference((3, 1), &engines(), &all).unwrap();
        assert_eq!(
            (found.stage.as_str(), listed(&found.first_in)),
            ("batch-1", "terraform@1.10.5".to_owned())
        );
        let groups: Vec<_> =
            found.groups.iter().map(|group| (group.did.as_str(), listed(&group.engines))).collect();
        assert_eq!(
            groups,
            [
                ("succeeds: +a", "terraform@1.9.8 tofu@1.12.6".to_owned()),
                ("succeeds: +a +b", "terraform@1.10.5 terraform@1.11.4".to_owned()),
            ]
        );
        assert!(found.known.is_empty());
    }

    #[test]
    fn a_known_bug_explains_a_difference_only_if_all_others_do_the_same() {
        let known = |behaviour: VariantBehaviour| VariantBehaviour {
            known: [("batch-1".to_owned(), "old-bug".to_owned())].into(),
            ..behaviour
        };
        let mut all = [known(creates(&[])), creates(&["a"]), creates(&["a"]), creates(&["a"])];
        assert_eq!(difference((0, 0), &engines(), &all).unwrap().known, ["old-bug".to_owned()].into());
        all[3] = creates(&["b"]);
        assert!(difference((0, 0), &engines(), &all).unwrap().known.is_empty());
    }

    #[test]
    fn what_could_not_be_judged_is_compared_with_nothing() {
        let not_judged = VariantBehaviour { inconclusive: Some("full disk".to_owned()), ..creates(&["b"]) };
        let all = [creates(&["a"]), not_judged, creates(&["a"]), creates(&["a"])];
        assert_eq!(difference((0, 0), &engines(), &all), None);
    }
}
