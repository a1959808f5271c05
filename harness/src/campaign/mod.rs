//! Campaigns: many cases, generated, deployed on an engine and judged.
//!
//! - [`session`] is the one flow of everything that runs cases: campaigns, comparisons and replays, on a [`host`], an
//!   engine that is ready. [`judging`] judges stored cases again, [`merge`] joins shards, [`folder`] reads back what a
//!   campaign left, [`comparison`] compares the campaigns of several engines.
//! - [`settings`] generates the cases ([`texts`] has names and values as real programs have them), [`shard`] says
//!   which of them are run, [`limits`] how far a run goes, [`keep`] what stays on disk. [`manifest`] ties a folder to
//!   one campaign, [`builds`] tells builds of engine and provider apart. `queue` hands variants out to jobs,
//!   `one_variant` is what a job does with each.
//! - [`stored`] keeps verdicts and reads them back; [`digest`] recognises their evidence. [`timing`] keeps how long
//!   runs took, [`tally`] counts, [`report`] is all that there is to say in the end, [`junit`] the same for test tools.
//! - [`place`] finds the variant that a folder stands for. [`reduce`] cuts a failing variant down, [`reductions`] those
//!   of a campaign. [`trial`] deploys a variant on other engines, [`bundle`] makes something of it that an engine's
//!   maintainers can run.
//!
//! Each case has a folder with all that is needed to judge it again, or to run it again.

pub mod builds;
pub mod bundle;
pub mod comparison;
pub mod digest;
mod fixed_attributes;
pub mod folder;
pub mod host;
pub mod judging;
pub mod junit;
pub mod keep;
pub mod limits;
pub mod manifest;
pub mod merge;
mod one_variant;
pub mod place;
mod queue;
pub mod reduce;
pub mod reductions;
pub mod report;
pub mod session;
pub mod settings;
pub mod shard;
pub mod stored;
pub mod tally;
pub mod texts;
pub mod timing;
pub mod trial;
#[cfg(test)]
mod unchanged;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLock};

use crate::case::Case;
use crate::deploy::{DeployError, Runner};
use crate::engine_id::RecordedEngine;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use crate::judge::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use builds::Builds;
use keep::Keep;
use limits::{Limits, Reached};
use manifest::CampaignManifest;
use queue::{Due, Prepared, Queue};
pub use settings::Settings;
use shard::Part;
use stored::JudgeContext;

/// What a campaign tells while it runs.
pub trait Watcher: Sync {
    /// A variant has been judged.
    fn judged(&self, case: usize, variant: &VariantVerdict);

    /// A variant had been judged by an earlier run.
    fn stored(&self, case: usize, variant: &VariantVerdict) {
        self.judged(case, variant);
    }
}

/// A campaign that cannot go on. What was judged stays; variants that were not are gone.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A folder could not be written.
    #[error("cannot write {path}: {source}. What was judged is kept", path = path.display())]
    Write {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// An engine could not be run, or not so that it could be judged.
    #[error("{0}. What was judged is kept")]
    Deploy(DeployError),
}

/// What came of a campaign, however it ended.
#[derive(Debug)]
pub struct Results {
    /// The cases of which a variant was judged, now or by an earlier run.
    pub cases: Vec<CaseVerdict>,
    /// How many variants were judged by an earlier run.
    pub earlier: usize,
    /// Why it could not go on.
    pub error: Option<CampaignError>,
    /// The limit that it came to.
    pub limit: Option<Reached>,
}

impl Results {
    /// How many variants have a verdict.
    pub fn judged(&self) -> usize {
        self.cases.iter().map(|verdict| verdict.variants.len()).sum()
    }

    /// The cases, if nothing went wrong.
    pub fn cases(self) -> Result<Vec<CaseVerdict>, CampaignError> {
        self.error.map_or(Ok(self.cases), Err)
    }
}

/// The folder of a case in a campaign's folder.
pub fn case_folder(out: &Path, number: usize) -> PathBuf {
    out.join(format!("case-{number:04}"))
}

/// The number of the case in a folder, by the folder's name: `case-0024`, or what begins with that, as the
/// folders of replays do.
pub fn case_number(folder: &Path) -> Option<usize> {
    let name = folder.canonicalize().ok()?.file_name()?.to_str()?.to_owned();
    name.strip_prefix("case-")?.split('-').next()?.parse().ok()
}

/// The number of a case in a folder: by the folder's name, else as the case itself tells it.
pub fn number_of(folder: &Path, case: &Case) -> Option<usize> {
    case_number(folder).or(case.number)
}

/// The engine that the case in a folder was run on: the case says so, or the campaign that it lies in.
pub fn engine_of(folder: &Path, case: &Case) -> Option<RecordedEngine> {
    let of_campaign = || Some(CampaignManifest::read(folder.parent()?).ok()??.engine().clone());
    case.engine.clone().or_else(of_campaign)
}

/// How cases are run.
pub struct Campaign<'a> {
    /// The engine. Once its `stop` is set, no other command of it is begun.
    pub runner: &'a Runner,
    /// Which engine that is.
    pub engine: &'a RecordedEngine,
    /// The builds that are run, for the cases to tell; none if that does not matter.
    pub builds: Option<&'a Builds>,
    /// Who judges.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// Which of the cases are run.
    pub part: Part,
    /// How many variants are deployed at once.
    pub jobs: usize,
    /// Whether a variant with a new finding is deployed a second time.
    pub again: bool,
    /// One in how many of the variants that passed on a warm engine is run again in fresh processes; 0 for none.
    pub cold_every: u64,
    /// How far it goes.
    pub limits: Limits,
    /// Whose evidence stays on disk.
    pub keep: Keep,
    /// Receives the progress.
    pub watcher: &'a dyn Watcher,
    /// Held by every job that deploys: for reading, or for writing if no other job may.
    pub alone: RwLock<()>,
}

/// Receives everything and shows nothing.
#[derive(Debug)]
pub struct Silent;

impl Watcher for Silent {
    fn judged(&self, _: usize, _: &VariantVerdict) {}
}

impl<'a> Campaign<'a> {
    /// All cases, one variant after the other, without limits. Change fields to run them otherwise.
    pub fn new(
        runner: &'a Runner,
        engine: &'a RecordedEngine,
        oracles: &'a [&'a Oracle],
        known: &'a KnownFindings,
    ) -> Self {
        Self {
            runner,
            engine,
            builds: None,
            oracles,
            known,
            part: Part::Whole,
            jobs: 1,
            again: true,
            cold_every: 0,
            limits: Limits::default(),
            keep: Keep::All,
            watcher: &Silent,
            alone: RwLock::default(),
        }
    }
}

impl Campaign<'_> {
    /// Runs the variants that have no verdict yet in the folder. Gives all verdicts that there are in the
    /// end: fewer than its part has variants if it was stopped.
    pub fn run(&self, settings: &Settings, out: &Path) -> Results {
        let earlier = AtomicUsize::new(0);
        let numbers = Mutex::new(self.part.cases(settings.sources));
        let prepare = |number| {
            let (folder, spent) = (case_folder(out, number), &self.runner.spent);
            let generated = spent.generating.time(|| settings.case_unless(number, &self.runner.stop));
            let Some(case) = generated else { return Prepared::Stopped };
            let stored = spent.judging.time(|| stored::read(number, &folder, &case, &self.context()));
            stored.variants.iter().for_each(|variant| self.watcher.stored(number, variant));
            earlier.fetch_add(stored.variants.len(), Ordering::Relaxed);
            if stored.variants.len() == case.variants.len() {
                return Prepared::Judged(stored);
            }
            Prepared::Due(Box::new(Due { done: stored.variants, ..self.due(number, case, folder) }))
        };
        let next = || numbers.lock().expect("no holder panics").next();
        let mut results = self.work_off(Queue::new(next, prepare));
        let cases = &mut results.cases;
        // What earlier runs judged counts also where this one did not get to.
        let begun = std::iter::from_fn(next).filter(|number| case_folder(out, *number).exists());
        for number in begun.take_while(|_| !self.runner.stop.asked_now()) {
            match prepare(number) {
                Prepared::Judged(verdict) => cases.push(verdict),
                Prepared::Due(due) => cases.push(CaseVerdict { case: due.number, variants: due.done }),
                Prepared::Stopped => break,
            }
        }
        cases.retain(|verdict| !verdict.variants.is_empty());
        cases.sort_by_key(|verdict| verdict.case);
        cases.iter_mut().for_each(CaseVerdict::compare_worlds);
        Results { earlier: earlier.into_inner(), ..results }
    }

    /// Runs one case, or only one variant of it, into a folder; what an earlier run left there is removed.
    pub fn run_case(&self, number: usize, case: &Case, only: Option<usize>, folder: &Path) -> Results {
        let numbers = Mutex::new(std::iter::once(number));
        let next = || numbers.lock().expect("no holder panics").next();
        let due = || Due { only, ..self.due(number, case.clone(), folder.to_owned()) };
        let mut results = self.work_off(Queue::new(next, |_| Prepared::Due(Box::new(due()))));
        results.cases.iter_mut().for_each(CaseVerdict::compare_worlds);
        results
    }

    fn context(&self) -> JudgeContext<'_> {
        JudgeContext { oracles: self.oracles, known: self.known, engine: &self.engine.id }
    }

    fn due(&self, number: usize, case: Case, folder: PathBuf) -> Due {
        let case = Case {
            number: Some(number),
            engine: Some(
                self.builds.map_or_else(|| self.engine.clone(), |builds| builds.identify(self.engine)),
            ),
            equiform: self.builds.map(|builds| builds.equiform.clone()),
            provider: self.builds.and_then(|builds| builds.provider_version.clone()),
            ..case
        };
        Due { number, case, folder, done: Vec::new(), only: None }
    }

    /// Has all jobs deploy and judge variants until there are none left, until it is stopped, or until a limit is
    /// reached.
    fn work_off(&self, queue: Queue<'_>) -> Results {
        let queue = queue.keeping(self.keep);
        let failed = AtomicUsize::new(0);
        let limit = || self.limits.reached(failed.load(Ordering::Relaxed));
        let work = || {
            while !self.runner.stopped() && limit().is_none() {
                let Some(work) = queue.take() else { return };
                // Generating its case may have taken the rest of the time.
                if limit().is_some() {
                    return;
                }
                match self.judge(&work) {
                    Ok(judged) => {
                        let new = matches!(judged.verdict.result, VariantResult::Fail { .. });
                        failed.fetch_add(usize::from(new), Ordering::Relaxed);
                        self.watcher.judged(work.number, &judged.verdict);
                        queue.give(&work, judged);
                    }
                    Err(DeployError::Stopped) => return,
                    Err(error) => return queue.fail(CampaignError::Deploy(error)),
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(work);
            }
        });
        let (cases, error) = queue.finish();
        Results { cases, earlier: 0, error, limit: limit() }
    }
}
