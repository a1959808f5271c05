//! Campaigns: many cases, generated, deployed on an engine and judged.
//!
//! [`verdict`] is what comes of a case. Cases are made and judged one by one; each has a folder with all that is needed to
//! judge it again, or to run it again.

pub mod verdict;

use std::fs;
use std::io;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::batch::Cuts;
use crate::case::edges::EdgeChoice;
use crate::case::{CASE_VERSION, Case};
use crate::deploy::{Runner, evidence};
use crate::generate::{Batching, Generator, generate, stream};
use crate::graph::NamedGraph;
use crate::implicit::{Escape, Pace};
use crate::oracle::{Oracle, Trial};
use crate::program::print;
use crate::source::Source;
use verdict::{CaseVerdict, Result as TrialResult, VariantVerdict};

/// What a campaign generates.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The seed of everything.
    pub seed: u64,
    /// How many sources.
    pub sources: usize,
    /// How many variants of each.
    pub variants: u64,
    /// Into how many batches each is cut.
    pub batches: usize,
    /// How many resources a source has.
    pub resources: RangeInclusive<u32>,
    /// How many edges.
    pub edges: RangeInclusive<u64>,
    /// The escape probability.
    pub escape: Escape,
    /// The share of resources with create_before_destroy.
    pub create_before_destroy: f64,
}

impl Settings {
    /// The case with this number. It depends on the seed and the number alone.
    pub fn case(&self, number: usize) -> Case {
        let seed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number as u64);
        let mut rng = stream(seed, None);
        let source = Source::random(self.resources.clone(), self.edges.clone(), &mut rng);
        let foreign = source.names.count().div_ceil(5);
        let own = NamedGraph::new(&source.graph, &source.names);
        let source = source.with_foreign(foreign, &mut rng);
        let bound = 4 * source.graph.size() + 16;
        let generator = Generator::Implicit { pace: Pace::Escape { escape: self.escape, bound }, leave: 0.5 };
        let batching = Batching { batches: self.batches, cuts: Cuts::Random };
        let mut variants = Vec::new();
        generate(
            &source,
            generator,
            batching,
            seed,
            self.variants,
            |_, variant| print(&variant.program, &variant.cuts, &source.names),
            |text| {
                variants.push(text);
                ControlFlow::Continue(())
            },
        );
        let edges = EdgeChoice {
            seed,
            pinned: 0.25,
            depends_on: 0.25,
            create_before_destroy: self.create_before_destroy,
        };
        Case { version: CASE_VERSION, seed, source: own, edges, variants }
    }
}

/// What a campaign tells while it runs.
pub trait Watcher: Sync {
    /// A variant has been judged.
    fn judged(&self, case: usize, variant: &VariantVerdict);
}

/// A campaign that cannot go on.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}", path = path.display())]
pub struct CampaignError {
    path: PathBuf,
    source: io::Error,
}

/// Runs cases on an engine, several variants at a time, and writes each case's folder. Stops early, with whole cases only,
/// once `stop` is set.
pub fn run(
    settings: &Settings,
    runner: &Runner,
    oracles: &[&Oracle],
    jobs: usize,
    out: &Path,
    stop: &AtomicBool,
    watcher: &dyn Watcher,
) -> Result<Vec<CaseVerdict>, CampaignError> {
    let mut verdicts = Vec::new();
    for number in 0..settings.sources {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let folder = out.join(format!("case-{number:04}"));
        if let Some(done) = CaseVerdict::read(&folder) {
            verdicts.push(done);
            continue;
        }
        let case = settings.case(number);
        let failed = |source| CampaignError { path: folder.clone(), source };
        if folder.exists() {
            // Left by a run that was stopped in the middle of it.
            fs::remove_dir_all(&folder).map_err(failed)?;
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        let text = serde_json::to_string_pretty(&case).expect("a case is JSON");
        fs::write(folder.join("case.json"), text).map_err(failed)?;
        let Some(variants) = deploy_all(number, &case, runner, oracles, jobs, &folder, stop, watcher) else {
            break;
        };
        let verdict = CaseVerdict { version: CASE_VERSION, case: number, variants };
        verdict.write(&folder).map_err(failed)?;
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

/// Deploys and judges all variants of a case; `None` if it was stopped before the last.
#[expect(clippy::too_many_arguments, reason = "the one place where all of a campaign comes together")]
fn deploy_all(
    number: usize,
    case: &Case,
    runner: &Runner,
    oracles: &[&Oracle],
    jobs: usize,
    folder: &Path,
    stop: &AtomicBool,
    watcher: &dyn Watcher,
) -> Option<Vec<VariantVerdict>> {
    let next = AtomicUsize::new(0);
    let judged: Mutex<Vec<VariantVerdict>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let variant = next.fetch_add(1, Ordering::Relaxed);
                    if variant >= case.variants.len() || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let place = folder.join(format!("variant-{variant:04}"));
                    let deployed = runner.deploy(case, variant, &place);
                    let result = match deployed {
                        Ok(_) => judge(case, variant, &place, oracles),
                        Err(error) => TrialResult::Inconclusive { reason: error.to_string() },
                    };
                    let verdict = VariantVerdict { variant, result };
                    watcher.judged(number, &verdict);
                    judged.lock().expect("no holder panics").push(verdict);
                }
            });
        }
    });
    let mut judged = judged.into_inner().expect("no holder panics");
    judged.sort_by_key(|verdict| verdict.variant);
    (judged.len() == case.variants.len()).then_some(judged)
}

/// Judges a variant by the evidence in its folder.
pub fn judge(case: &Case, variant: usize, folder: &Path, oracles: &[&Oracle]) -> TrialResult {
    let batches = match case.batches(variant) {
        Ok(batches) => batches,
        Err(error) => return TrialResult::Inconclusive { reason: error.to_string() },
    };
    let stages = match evidence::read(folder, batches.len()) {
        Ok(stages) => stages,
        Err(error) => return TrialResult::Inconclusive { reason: error.to_string() },
    };
    let trial = Trial { source: &case.source, batches: &batches, stages: &stages };
    let findings: Vec<_> = oracles.iter().flat_map(|oracle| oracle.judge(&trial)).collect();
    if findings.is_empty() { TrialResult::Pass } else { TrialResult::Fail { findings } }
}
