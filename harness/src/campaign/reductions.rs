//! The failures of a campaign, one of each symptom cut down: what a reader looks at first.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::case_folder;
use super::reduce::budget::Budget;
use super::reduce::symptom::Symptom;
use super::reduce::{REDUCTION_FILE, Reducer, Reduction, Watcher};
use crate::case::{CASE_FILE, Case};
use crate::deploy::Runner;
use crate::engine_id::{EngineId, RecordedEngine};
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use crate::judge::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use crate::util::files::{unused, write_json};

/// The folder of reduced cases in a campaign's.
pub const REDUCED: &str = "reduced";

/// The most symptoms of which one case each is reduced: an engine that does everything wrong has enough to act on.
const MOST: usize = 5;

/// A failure that is reduced: its symptom, and the variant that stands for all with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The symptom.
    pub symptom: Symptom,
    /// The number of the case.
    pub case: usize,
    /// The number of the variant.
    pub variant: usize,
}

/// The failures of a campaign that are new, one variant of each symptom: one that came again, if there is any.
pub fn due(cases: &[CaseVerdict], engine: &EngineId) -> Vec<Due> {
    let mut by_symptom: BTreeMap<Symptom, (bool, Due)> = BTreeMap::new();
    for (case, verdict) in cases.iter().flat_map(|case| case.variants.iter().map(|it| (case.case, it))) {
        let VariantVerdict { variant, result: VariantResult::Fail { findings }, again, .. } = verdict else {
            continue;
        };
        let Some(symptom) = Symptom::of_cause(findings, engine) else { continue };
        if symptom.known.is_some() {
            continue;
        }
        let (sure, due) = (*again == Some(true), Due { symptom: symptom.clone(), case, variant: *variant });
        match by_symptom.get(&symptom) {
            Some((other, _)) if *other || !sure => {}
            _ => {
                by_symptom.insert(symptom, (sure, due));
            }
        }
    }
    let mut all: Vec<Due> = by_symptom.into_values().map(|(_, due)| due).collect();
    all.sort_by_key(|due| (due.case, due.variant));
    all
}

/// How the failures of a campaign are reduced.
pub struct Reductions<'a> {
    /// The engine.
    pub runner: &'a Runner,
    /// Its name, with its exact version.
    pub engine: &'a RecordedEngine,
    /// Who judges.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// How many candidates are deployed at once.
    pub jobs: usize,
    /// How long one failure may take.
    pub time: Duration,
    /// Receives the progress of each reduction.
    pub watcher: &'a dyn Fn(&Symptom) -> Box<dyn Watcher>,
}

impl Reductions<'_> {
    /// Reduces failures of the campaign in a folder. Those that reduce to the same case are one; what an earlier run
    /// reduced stays. Gives what could not be reduced, a sentence each.
    pub fn run(&self, cases: &[CaseVerdict], out: &Path) -> Vec<String> {
        let mut told = Vec::new();
        let scratch = match tempfile::tempdir() {
            Ok(scratch) => scratch,
            Err(error) => return vec![format!("nothing was reduced: {error}")],
        };
        self.runner.stop.removes(scratch.path());
        let in_memory = self.runner.scratch.as_ref().map(|scratch| scratch.path());
        let due = due(cases, &self.engine.id);
        for Due { symptom, case: number, variant } in due.iter().take(MOST) {
            if self.runner.stopped() {
                break;
            }
            if read(out).iter().any(|(_, there)| there.symptom == *symptom) {
                continue;
            }
            let from = format!("case-{number:04}/variant-{variant:04}");
            let watcher = (self.watcher)(symptom);
            let reducer = Reducer {
                runner: self.runner,
                engine: self.engine,
                oracles: self.oracles,
                known: self.known,
                jobs: self.jobs,
                budget: &[Budget::Time(self.time)],
                interesting: None,
                scratch: in_memory.unwrap_or(scratch.path()),
                began: Instant::now(),
                earlier: 0,
                watcher: &*watcher,
            };
            let reduce = || -> Result<(), String> {
                let path = case_folder(out, *number).join(CASE_FILE);
                let case = Case::read(&path).map_err(|error| error.to_string())?;
                let reduced = reducer.reduce(&case, *variant, Some(symptom.clone()), &from);
                let reduced = reduced.map_err(|error| error.to_string())?;
                if let Some((folder, mut there)) = same(out, reduced.case()) {
                    there.same.push(format!("{}: {from}", symptom.text()));
                    return write_json(&folder.join(REDUCTION_FILE), &there)
                        .map_err(|error| error.to_string());
                }
                let folder = unused(&out.join(REDUCED), &symptom.file_name());
                reduced.keep(&folder).map_err(|error| error.to_string())
            };
            if let Err(error) = reduce() {
                told.push(format!("{from} was not reduced: {error}"));
            }
        }
        if due.len() > MOST {
            told.push(format!(
                "{} of {} kinds of failures were not reduced: `equiform reduce` takes any variant",
                due.len() - MOST,
                due.len()
            ));
        }
        told
    }
}

/// The reductions in a campaign's folder, with their folders, sorted. What cannot be read is not there.
pub fn read(out: &Path) -> Vec<(PathBuf, Reduction)> {
    let entries = fs::read_dir(out.join(REDUCED)).into_iter().flatten().flatten();
    let mut all: Vec<(PathBuf, Reduction)> = entries
        .filter_map(|entry| {
            let text = fs::read(entry.path().join(REDUCTION_FILE)).ok()?;
            Some((entry.path(), serde_json::from_slice(&text).ok()?))
        })
        .collect();
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    all
}

/// The reduction to the same case, if there is one.
fn same(out: &Path, case: &Case) -> Option<(PathBuf, Reduction)> {
    let meant = |case: &Case| Case { seed: 0, ..case.generated() };
    let is_same =
        |folder: &Path| Case::read(&folder.join(CASE_FILE)).is_ok_and(|there| meant(&there) == meant(case));
    read(out).into_iter().find(|(folder, _)| is_same(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{EngineName, Version};
    use crate::judge::finding::{Finding, FindingKind};

    fn verdict(variant: usize, kind: FindingKind, known: Option<&str>, again: bool) -> VariantVerdict {
        let finding = Finding { known: known.map(str::to_owned), ..Finding::new(kind, "batch-1") };
        let result = VariantResult::of(vec![finding]);
        VariantVerdict { again: Some(again), ..VariantVerdict::new(variant, result) }
    }

    #[test]
    fn one_variant_of_each_new_symptom_is_reduced_and_one_that_came_again_if_there_is_any() {
        let cases = [
            CaseVerdict { case: 2, variants: vec![verdict(0, FindingKind::GraphDiffers, Some("old"), true)] },
            CaseVerdict {
                case: 3,
                variants: vec![
                    verdict(1, FindingKind::OperationMissing, None, false),
                    verdict(4, FindingKind::OperationMissing, None, true),
                ],
            },
            CaseVerdict { case: 5, variants: vec![verdict(0, FindingKind::OrderViolated, None, false)] },
        ];
        let engine = EngineId::new(EngineName::Terraform, Version::new(1, 15, 5));
        let due: Vec<(usize, usize)> =
            due(&cases, &engine).iter().map(|due| (due.case, due.variant)).collect();
        assert_eq!(due, [(3, 4), (5, 0)]);
    }
}
