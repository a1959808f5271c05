//! Campaigns: many cases, generated, deployed on an engine and judged.
//!
//! [`settings`] generates the cases, [`shard`] is a part of them, [`claim`] keeps two campaigns out of one folder, [`judge`]
//! asks the oracles about evidence, [`known`] tells known engine bugs from new ones, [`verdict`] is what comes of a case,
//! [`tally`] what comes of all of them, [`report`] all that there is to say in the end, [`junit`] the same for test tools,
//! [`merge`] joins parts. Each case has a folder with all that is needed to judge it again, or to run it again.

pub mod claim;
pub mod judge;
pub mod junit;
pub mod known;
pub mod merge;
pub mod report;
pub mod settings;
pub mod shard;
pub mod tally;
pub mod verdict;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::case::{CASE_FILE, Case, CaseError};
use crate::deploy::{DeployError, Runner};
use crate::oracle::Oracle;
use known::KnownFindings;
pub use settings::Settings;
use shard::Shard;
use verdict::{CaseVerdict, Result as TrialResult, VariantVerdict, VerdictError};

/// What a campaign tells while it runs.
pub trait Watcher: Sync {
    /// A variant has been judged.
    fn judged(&self, case: usize, variant: &VariantVerdict);

    /// A variant had been judged by an earlier run.
    fn stored(&self, case: usize, variant: &VariantVerdict) {
        self.judged(case, variant);
    }
}

/// A campaign that cannot go on. The cases that were finished stay; the one at which it ended is gone.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A folder could not be written.
    #[error("cannot write {path}: {source}. Whole cases are kept; the same command goes on from there", path = path.display())]
    Write {
        /// The folder.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// An engine could not be run, or not so that it could be judged.
    #[error("{0}. Whole cases are kept; the same command goes on from there")]
    Deploy(DeployError),
    /// A stored verdict cannot be used.
    #[error(transparent)]
    Verdict(#[from] VerdictError),
    /// A stored case cannot be used.
    #[error(transparent)]
    Case(#[from] CaseError),
}

/// The folder of a case in a campaign's folder.
pub fn case_folder(out: &Path, number: usize) -> PathBuf {
    out.join(format!("case-{number:04}"))
}

/// The verdict that is stored for a case, by what is known now; none if the case was not finished.
pub fn stored(
    number: usize,
    folder: &Path,
    known: &KnownFindings,
    engine: &str,
) -> Result<Option<CaseVerdict>, CampaignError> {
    let Some(mut verdict) = CaseVerdict::read(folder)? else { return Ok(None) };
    verdict.case = number;
    if verdict.variants.iter().any(|variant| variant.result != TrialResult::Pass) {
        let case = Case::read(&folder.join(CASE_FILE))?;
        for variant in &mut verdict.variants {
            judge::sort_out(known, engine, &case, variant);
        }
    }
    Ok(Some(verdict))
}

/// How cases are run.
pub struct Campaign<'a> {
    /// The engine. Once its `stop` is set, the campaign ends with whole cases only.
    pub runner: &'a Runner,
    /// Its name, with its exact version.
    pub engine: &'a str,
    /// Who judges.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// Which part of the cases is run.
    pub shard: Shard,
    /// How many variants are deployed at once.
    pub jobs: usize,
    /// Who is told.
    pub watcher: &'a dyn Watcher,
}

impl Campaign<'_> {
    /// Runs the cases that have no verdict yet in the folder. Gives the verdicts of all cases that have one in the end:
    /// fewer than its part has if it was stopped.
    pub fn run(&self, settings: &Settings, out: &Path) -> Result<Vec<CaseVerdict>, CampaignError> {
        let mut verdicts = Vec::new();
        for number in self.shard.cases(settings.sources) {
            let folder = case_folder(out, number);
            let verdict = match stored(number, &folder, self.known, self.engine)? {
                Some(done) => {
                    done.variants.iter().for_each(|variant| self.watcher.stored(number, variant));
                    Some(done)
                }
                None => {
                    let case = self.runner.spent.generating.time(|| settings.case(number));
                    self.run_case(number, &case, &folder)?
                }
            };
            match verdict {
                Some(verdict) => verdicts.push(verdict),
                None => break,
            }
        }
        Ok(verdicts)
    }

    /// Runs one case into a folder; what an earlier run left there is removed. `None` if it was stopped before its end.
    pub fn run_case(
        &self,
        number: usize,
        case: &Case,
        folder: &Path,
    ) -> Result<Option<CaseVerdict>, CampaignError> {
        if self.runner.stopped() {
            return Ok(None);
        }
        let failed = |source| CampaignError::Write { path: folder.to_owned(), source };
        let was_there = folder.exists();
        let was_empty = was_there && fs::read_dir(folder).map_err(failed)?.next().is_none();
        if was_there && !was_empty {
            fs::remove_dir_all(folder).map_err(failed)?;
        }
        let verdict = self.begin_case(number, case, folder);
        if !matches!(verdict, Ok(Some(_))) {
            // Best effort: what is left has no verdict, and is removed when the campaign comes back to it.
            let _ = if was_empty { clear(folder) } else { fs::remove_dir_all(folder) };
        }
        verdict
    }

    /// Runs one case into a new folder.
    fn begin_case(
        &self,
        number: usize,
        case: &Case,
        folder: &Path,
    ) -> Result<Option<CaseVerdict>, CampaignError> {
        let failed = |source| CampaignError::Write { path: folder.to_owned(), source };
        let keeping = &self.runner.spent.keeping;
        let case = &Case { engine: Some(self.engine.to_owned()), ..case.clone() };
        keeping
            .time(|| {
                fs::create_dir_all(folder)?;
                let text = serde_json::to_string_pretty(case).expect("a case is JSON");
                fs::write(folder.join(CASE_FILE), text)
            })
            .map_err(failed)?;
        let variants = self.deploy_all(number, case, folder).map_err(CampaignError::Deploy)?;
        if variants.len() < case.variants.len() {
            return Ok(None);
        }
        let verdict = CaseVerdict::new(number, variants);
        keeping.time(|| verdict.write(folder)).map_err(failed)?;
        Ok(Some(verdict))
    }

    /// Deploys and judges the variants of a case; not all of them if it was stopped. What is not the engine's doing, and
    /// would meet every variant alike, ends it.
    fn deploy_all(
        &self,
        number: usize,
        case: &Case,
        folder: &Path,
    ) -> Result<Vec<VariantVerdict>, DeployError> {
        let next = AtomicUsize::new(0);
        let broken: OnceLock<DeployError> = OnceLock::new();
        let judged: Mutex<Vec<VariantVerdict>> = Mutex::new(Vec::new());
        let work = || {
            loop {
                let variant = next.fetch_add(1, Ordering::Relaxed);
                if variant >= case.variants.len() || self.runner.stopped() || broken.get().is_some() {
                    return;
                }
                let place = judge::variant_folder(folder, variant);
                let judging = &self.runner.spent.judging;
                let result = match self.runner.deploy(case, variant, &place) {
                    Ok(_) => judging.time(|| judge::variant(case, variant, &place, self.oracles)),
                    Err(DeployError::Stopped) => return,
                    Err(
                        error @ (DeployError::Unfit(_)
                        | DeployError::Preparation { .. }
                        | DeployError::Io { .. }),
                    ) => {
                        let _ = broken.set(error);
                        return;
                    }
                    Err(error @ DeployError::Case(_)) => {
                        TrialResult::Inconclusive { reason: error.to_string() }
                    }
                };
                let mut verdict = VariantVerdict { variant, result };
                judging.time(|| judge::sort_out(self.known, self.engine, case, &mut verdict));
                self.watcher.judged(number, &verdict);
                judged.lock().expect("no holder panics").push(verdict);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(work);
            }
        });
        if let Some(error) = broken.into_inner() {
            return Err(error);
        }
        let mut judged = judged.into_inner().expect("no holder panics");
        judged.sort_by_key(|verdict| verdict.variant);
        Ok(judged)
    }
}
/// Removes all that is in a folder, which somebody made for us, and leaves the folder.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
    }
    Ok(())
}
