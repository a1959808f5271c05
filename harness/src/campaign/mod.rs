//! Campaigns: many cases, generated, deployed on an engine and judged.
//!
//! [`settings`] generates the cases, [`shard`] is a part of them, [`claim`] keeps two campaigns out of one folder, [`judge`]
//! asks the oracles about evidence, `queue` hands variants out to jobs, [`known`] tells known engine bugs from new ones,
//! [`verdict`] is what comes of a case, [`tally`] what comes of all of them, [`report`] all that there is to say in the end, [`junit`] the same for test tools,
//! [`merge`] joins parts. Each case has a folder with all that is needed to judge it again, or to run it again.

pub mod claim;
pub mod judge;
pub mod junit;
pub mod known;
pub mod merge;
mod queue;
pub mod report;
pub mod settings;
pub mod shard;
pub mod tally;
pub mod verdict;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::case::{CASE_FILE, Case, CaseError};
use crate::coverage::Exercised;
use crate::deploy::{DeployError, Runner};
use crate::oracle::Oracle;
use known::KnownFindings;
use queue::{Due, Queue, Work};
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
        let mut numbers = self.shard.cases(settings.sources);
        let finished = self.work_off(Queue::new(|| {
            for number in numbers.by_ref() {
                let folder = case_folder(out, number);
                match stored(number, &folder, self.known, self.engine)? {
                    Some(done) => {
                        done.variants.iter().for_each(|variant| self.watcher.stored(number, variant));
                        verdicts.push(done);
                    }
                    None => {
                        let case = self.runner.spent.generating.time(|| settings.case(number));
                        return Ok(Some(self.due(number, case, folder)));
                    }
                }
            }
            Ok(None)
        }))?;
        verdicts.extend(finished);
        verdicts.sort_by_key(|verdict| verdict.case);
        Ok(verdicts)
    }

    /// Runs one case into a folder; what an earlier run left there is removed. `None` if it was stopped before its end.
    pub fn run_case(
        &self,
        number: usize,
        case: &Case,
        folder: &Path,
    ) -> Result<Option<CaseVerdict>, CampaignError> {
        let mut due = Some(self.due(number, case.clone(), folder.to_owned()));
        Ok(self.work_off(Queue::new(|| Ok(due.take())))?.pop())
    }

    fn due(&self, number: usize, case: Case, folder: PathBuf) -> Due {
        Due { number, case: Case { engine: Some(self.engine.to_owned()), ..case }, folder }
    }

    /// Has all jobs deploy and judge variants until there are none left, or until it is stopped.
    fn work_off(&self, queue: Queue<'_>) -> Result<Vec<CaseVerdict>, CampaignError> {
        let queue = Mutex::new(queue);
        let lock = || queue.lock().expect("no holder panics");
        let keeping = &self.runner.spent.keeping;
        let work = || {
            while !self.runner.stopped() {
                // The lock is held for this line only.
                let next = lock().take();
                let Some(work) = next else { return };
                match self.judge(&work) {
                    Ok(verdict) => {
                        self.watcher.judged(work.number, &verdict);
                        keeping.time(|| lock().give(&work, verdict));
                    }
                    Err(DeployError::Stopped) => return,
                    Err(error) => return lock().fail(CampaignError::Deploy(error)),
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(work);
            }
        });
        queue.into_inner().expect("no holder panics").finish()
    }

    /// Deploys and judges a variant. What is not the engine's doing, and would meet every variant alike, is an error.
    fn judge(&self, work: &Work) -> Result<VariantVerdict, DeployError> {
        let Work { case, variant, .. } = work;
        let place = judge::variant_folder(&work.folder, *variant);
        let judging = &self.runner.spent.judging;
        let mut verdict = match self.runner.deploy(case, *variant, &place) {
            Ok(_) => judging.time(|| judge::verdict(case, *variant, &place, self.oracles)),
            Err(error @ DeployError::Case(_)) => {
                let result = TrialResult::Inconclusive { reason: error.to_string() };
                VariantVerdict { variant: *variant, result, exercised: Exercised::default() }
            }
            Err(error) => return Err(error),
        };
        judging.time(|| judge::sort_out(self.known, self.engine, case, &mut verdict));
        Ok(verdict)
    }
}
