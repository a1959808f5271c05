//! Campaigns: many cases, generated, deployed on an engine and judged.
//!
//! [`settings`] generates the cases, [`shard`] is a part of them, [`claim`] keeps two campaigns out of one folder,
//! [`programs`] tells builds of engine and provider apart, `queue` hands variants out to jobs, [`stored`] keeps
//! verdicts and reads them back, [`digest`] is by what their evidence is recognised, [`limits`] what ends it early,
//! [`keep`] what stays on disk, [`tally`] what comes of all of them, [`report`] all that there is to say in the end,
//! [`junit`] the same for test tools, [`merge`] joins parts, [`comparison`] holds the campaigns of several engines
//! against each other. [`folder`] reads what a campaign left, [`timing`] how long it took. [`reduce`] cuts a failing
//! variant down, [`reductions`] those of a campaign, [`place`] finds the variant that a folder stands for, [`tried`]
//! deploys it on other engines, [`bundle`] makes something of it that an engine's maintainers can run. Each case has a
//! folder with all that is needed to judge it again, or to run it again.

pub mod bundle;
pub mod claim;
pub mod comparison;
pub mod digest;
pub mod folder;
pub mod junit;
pub mod keep;
pub mod limits;
pub mod merge;
mod options;
pub mod place;
pub mod programs;
mod queue;
pub mod reduce;
pub mod reductions;
pub mod report;
pub mod settings;
pub mod shard;
pub mod stored;
pub mod tally;
pub mod timing;
pub mod tried;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::case::Case;
use crate::deploy::{DeployError, Runner, Start};
use crate::engine_id::{EngineId, RecordedEngine};
use crate::evidence::STAGES;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::{Finding, Oracle};
use crate::judge::variant::{self as judge, AGAIN, WARM, variant_folder};
use crate::judge::verdict::{CaseVerdict, VariantResult, VariantVerdict};
use claim::Claim;
use keep::Keep;
use limits::{Limits, Reached};
use programs::Programs;
use queue::{Due, Judged, Prepared, Queue, Work};
pub use settings::Settings;
use shard::Shard;
use stored::Bench;

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
    let of_campaign = || Some(Claim::read(folder.parent()?).ok()??.engine().clone());
    case.engine.clone().or_else(of_campaign)
}

/// What came of deploying a variant on a warm engine.
enum Explored {
    /// It passed.
    Passed(Box<VariantVerdict>),
    /// It did not pass.
    Found(Box<VariantVerdict>),
    /// There is no warm engine, or it was of no use.
    Nothing,
}

/// The verdict on a variant in which a warm engine showed something, and which could not be run in fresh processes. Of
/// these, nothing stays.
fn unconfirmed(warm: &VariantVerdict, place: &Path, error: &DeployError) -> VariantVerdict {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name() != WARM {
            // Best effort: what is left is said to be no evidence.
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        }
    }
    let reason = format!(
        "a warm engine showed something, and fresh processes could not confirm it ({error}); remove {} to run it again",
        place.display()
    );
    let mut verdict = VariantVerdict::new(warm.variant, VariantResult::Inconclusive { reason });
    verdict.warm_only = warm.result.findings().to_vec();
    verdict
}

/// Moves all that is in a folder to the one above it, and removes it.
fn move_up(folder: &Path) -> io::Result<()> {
    let above = folder.parent().unwrap_or(folder);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        fs::rename(entry.path(), above.join(entry.file_name()))?;
    }
    fs::remove_dir(folder)
}

/// Removes a folder, if it is there.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// How cases are run.
pub struct Campaign<'a> {
    /// The engine. Once its `stop` is set, no other command of it is begun.
    pub runner: &'a Runner,
    /// Which engine that is.
    pub engine: &'a RecordedEngine,
    /// The programs that are run, for the cases to tell; none if that does not matter.
    pub programs: Option<&'a Programs>,
    /// Who judges.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// Which part of the cases is run.
    pub shard: Shard,
    /// How many variants are deployed at once.
    pub jobs: usize,
    /// Whether a variant with a new finding is deployed a second time.
    pub again: bool,
    /// How far it goes.
    pub limits: Limits,
    /// Whose evidence stays on disk.
    pub keep: Keep,
    /// Who is told.
    pub watcher: &'a dyn Watcher,
}

impl Campaign<'_> {
    /// Runs the variants that have no verdict yet in the folder. Gives all verdicts that there are in the
    /// end: fewer than its part has variants if it was stopped.
    pub fn run(&self, settings: &Settings, out: &Path) -> Results {
        let earlier = AtomicUsize::new(0);
        let numbers = Mutex::new(self.shard.cases(settings.sources));
        let prepare = |number| {
            let (folder, spent) = (case_folder(out, number), &self.runner.spent);
            let generated = spent.generating.time(|| settings.case_unless(number, &self.runner.stop));
            let Some(case) = generated else { return Prepared::Stopped };
            let stored = spent.judging.time(|| stored::read(number, &folder, &case, &self.bench()));
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

    fn bench(&self) -> Bench<'_> {
        Bench { oracles: self.oracles, known: self.known, engine: &self.engine.id }
    }

    /// The engine, with its build if that is known.
    fn identified_engine(&self) -> RecordedEngine {
        let RecordedEngine { id, path } = self.engine.clone();
        let build = self.programs.map(Programs::build).or(id.build.clone());
        RecordedEngine { id: EngineId { build, ..id }, path }
    }

    fn due(&self, number: usize, case: Case, folder: PathBuf) -> Due {
        let case = Case {
            number: Some(number),
            engine: Some(self.identified_engine()),
            equiform: self.programs.map(|programs| programs.equiform.clone()),
            provider: self.programs.and_then(|programs| programs.provider_version.clone()),
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

    /// Deploys and judges a variant and keeps the verdict, and does so a second time if there is a new
    /// finding. What is not the engine's doing, and would meet every variant alike, is an error.
    fn judge(&self, work: &Work) -> Result<Judged, DeployError> {
        let keep = |verdict: &VariantVerdict| {
            self.runner.spent.keeping.time(|| stored::write(&work.folder, verdict))
        };
        let place = variant_folder(&work.folder, work.variant);
        let mut verdict = match self.explore(work, &place)? {
            Explored::Passed(verdict) => *verdict,
            Explored::Nothing => self.deploy(work, &place, Start::Cold)?,
            Explored::Found(warm) => match self.confirm(work, &place, &warm) {
                Ok(verdict) => verdict,
                // It has no verdict: whoever resumes the campaign runs it again.
                Err(DeployError::Stopped) => return Err(DeployError::Stopped),
                // What was found is not lost: it is there, and nobody has confirmed it.
                Err(error) => {
                    let verdict = unconfirmed(&warm, &place, &error);
                    let trouble = Some(CampaignError::Deploy(error));
                    return Ok(Judged { kept: keep(&verdict), verdict, trouble });
                }
            },
        };
        // The finding is on disk before anything else is tried with it.
        let mut judged = Judged { kept: keep(&verdict), verdict: verdict.clone(), trouble: None };
        let new = matches!(verdict.result, VariantResult::Fail { .. });
        let tried = verdict.again.is_some();
        if !(self.again && new && judged.kept.is_ok()) || tried || self.runner.stopped() {
            return Ok(judged);
        }
        let second = place.join(AGAIN);
        match self.deploy(work, &second, Start::Cold) {
            Ok(anew) => {
                verdict.again = verdict.result.came_again(&anew.result);
                judged = Judged { kept: keep(&verdict), verdict, trouble: None };
            }
            Err(error) => {
                // Best effort: without a mark it is not looked at.
                let _ = fs::remove_dir_all(&second);
                let stopped = matches!(error, DeployError::Stopped);
                judged.trouble = (!stopped).then_some(CampaignError::Deploy(error));
            }
        }
        Ok(judged)
    }

    /// Deploys a variant on a warm engine, if there is one. What passed there has passed.
    fn explore(&self, work: &Work, place: &Path) -> Result<Explored, DeployError> {
        let Some(workers) = self.runner.workers.as_ref().filter(|workers| !workers.fail_to_start()) else {
            return Ok(Explored::Nothing);
        };
        let warm = place.join(WARM);
        let keeping = &self.runner.spent.keeping;
        match self.deploy(work, &warm, Start::Warm) {
            Ok(verdict) if verdict.result == VariantResult::Pass => {
                keeping.time(|| move_up(&warm)).map_err(|source| DeployError::writing(&warm, source))?;
                Ok(Explored::Passed(Box::new(verdict)))
            }
            Ok(verdict) => Ok(Explored::Found(Box::new(verdict))),
            Err(DeployError::Worker { stage, error }) => {
                workers.count_broken(&error);
                match error.kind() {
                    // The engine may have a bug that shows in fresh processes, too.
                    Some(kind) => {
                        let finding = Finding::of_health(kind, stage, error.to_string());
                        let result = VariantResult::of(vec![finding]);
                        Ok(Explored::Found(Box::new(VariantVerdict::new(work.variant, result))))
                    }
                    None => {
                        keeping
                            .time(|| remove(&warm))
                            .map_err(|source| DeployError::writing(&warm, source))?;
                        Ok(Explored::Nothing)
                    }
                }
            }
            Err(error) => Err(error),
        }
    }

    /// Deploys a variant again in fresh processes, in which a warm engine showed something. What it shows there counts;
    /// the evidence of the warm engine stays as that of a second deployment, or where it shows alone what it shows.
    fn confirm(
        &self,
        work: &Work,
        place: &Path,
        explored: &VariantVerdict,
    ) -> Result<VariantVerdict, DeployError> {
        let mut verdict = self.deploy(work, place, Start::Cold)?;
        let warm = place.join(WARM);
        verdict.hold_against_warm(explored);
        let moved = self.runner.spent.keeping.time(|| {
            if verdict.again.is_some() && warm.join(STAGES).exists() {
                fs::rename(&warm, place.join(AGAIN))
            } else if verdict.warm_only.is_empty() {
                remove(&warm)
            } else {
                Ok(())
            }
        });
        moved.map_err(|source| DeployError::writing(&warm, source))?;
        Ok(verdict)
    }

    /// Deploys a variant into a folder, and judges it.
    fn deploy(&self, work: &Work, place: &Path, start: Start) -> Result<VariantVerdict, DeployError> {
        let Work { case, variant, .. } = work;
        let judging = &self.runner.spent.judging;
        let mut verdict = match self.runner.deploy(case, *variant, place, start) {
            Ok(_) => judging.time(|| judge::verdict(case, *variant, place, self.oracles)),
            Err(error @ DeployError::Case(_)) => {
                VariantVerdict::new(*variant, VariantResult::Inconclusive { reason: error.to_string() })
            }
            Err(error) => return Err(error),
        };
        judging.time(|| judge::sort_out(self.known, &self.engine.id, case, &mut verdict));
        Ok(verdict)
    }
}
