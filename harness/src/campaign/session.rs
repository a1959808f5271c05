//! One flow for everything that runs cases on an engine: a campaign that is begun or resumed, an engine's share of a
//! comparison, and a stored case that is replayed. Commands say what they want and print what comes back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::builds::Builds;
use super::host::{EngineHost, HostError};
use super::keep::Keep;
use super::limits::{Limits, Reached};
use super::manifest::{CampaignManifest, ManifestError};
use super::place::StoredCase;
use super::reduce::symptom::Symptom;
use super::reductions::{self, Reductions};
use super::report::Report;
use super::shard::{CaseNotFound, Part, Shard};
use super::timing::{RunTime, Timing};
use super::{Campaign, CampaignError, Results, Settings, Watcher, case_folder, reduce, stored};
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use crate::private;
use crate::util::files::is_occupied;

/// Something that keeps a session from running.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The engine cannot be run so.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The folder belongs to something else.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The case that was asked for is not there.
    #[error(transparent)]
    Case(#[from] CaseNotFound),
    /// The folder for evidence is in use.
    #[error("{} is not empty: name a new folder with --out", .0.display())]
    Occupied(PathBuf),
    /// The folder for evidence cannot be made.
    #[error("the folder {} cannot be used: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// Receives the progress of a session.
pub trait Observer {
    /// Variants are about to be run: how many there are, and how many of them have no verdict yet. What comes back is
    /// told of each variant, and dropped when the last one is judged.
    fn begins(&self, variants: usize, left: usize) -> Box<dyn Watcher>;

    /// A failure is about to be reduced.
    fn reducing(&self, symptom: &Symptom) -> Box<dyn reduce::Watcher>;

    /// Something did not work that changes no verdict.
    fn problem(&self, sentence: &str);
}

/// What a campaign runs.
pub struct RunRequest<'a> {
    /// What is generated.
    pub settings: &'a Settings,
    /// The shard that this is; none for the whole campaign.
    pub shard: Option<Shard>,
    /// The only case to run; none for all of them.
    pub only_case: Option<usize>,
    /// How far it goes.
    pub limits: Limits,
    /// Whose evidence stays on disk.
    pub keep: Keep,
    /// How long reducing one failure may take; none if failures are not reduced.
    pub reduce_for: Option<Duration>,
    /// The campaign's folder. A campaign with the same manifest is resumed.
    pub out: &'a Path,
}

/// What came of a session.
#[derive(Debug)]
pub struct Finished {
    /// The folder of the evidence.
    pub folder: PathBuf,
    /// All that there is to say.
    pub report: Report,
    /// How many variants there are.
    pub variants: usize,
    /// Why it could not go on.
    pub error: Option<CampaignError>,
    /// The limit that it came to.
    pub limit: Option<Reached>,
}

impl Finished {
    /// How many variants have a verdict.
    pub fn judged(&self) -> usize {
        self.variants - self.report.not_run
    }

    /// Whether every variant has a verdict and nothing went wrong.
    pub fn is_whole(&self) -> bool {
        self.report.not_run == 0 && self.error.is_none()
    }
}

/// An engine that runs cases, and by what they are judged.
pub struct Session<'a> {
    /// The engine.
    pub host: &'a EngineHost,
    /// Who judges.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// How many variants are deployed at once.
    pub jobs: usize,
    /// Whether a variant with a new finding is deployed a second time.
    pub again: bool,
    /// Receives the progress.
    pub observer: &'a dyn Observer,
}

impl Session<'_> {
    /// Runs a campaign, or what is left of it. Gives its manifest and what came of it.
    pub fn run(&self, request: &RunRequest<'_>) -> Result<(CampaignManifest, Finished), SessionError> {
        let RunRequest { settings, shard, .. } = *request;
        let part = Part::of(shard, request.only_case, settings.sources)?;
        self.host.check_workflows(&settings.workflows)?;
        let (engine, builds) = (self.host.engine.clone(), self.host.builds()?);
        let manifest =
            CampaignManifest::new(engine, builds, self.host.mode(), self.oracles, shard, settings.clone());
        let _lock = manifest.lock(request.out)?;
        let folder = canonical(request.out)?;
        self.host.keep_provider_log_in(&folder);

        let began = Instant::now();
        let variants = part.cases(settings.sources).count() * per_case(settings);
        let watcher = self.observer.begins(variants, left(&folder, part, settings));
        let campaign = Campaign {
            part,
            cold_every: settings.cold_every,
            limits: request.limits,
            keep: request.keep,
            ..self.campaign(manifest.builds(), &*watcher)
        };
        let results = campaign.run(settings, &folder);
        drop(watcher);
        let took = began.elapsed();
        self.reduce(request, &results, &folder);

        let judged_now = results.judged() - results.earlier;
        let finished = self.finished(results, variants, &folder, |number| case_folder(&folder, number));
        let report = Report {
            settings: Some(settings.clone()),
            shard,
            only_case: request.only_case,
            took: Some(took),
            spent: self.host.spent(),
            reductions: reductions::read(&folder),
            ..finished.report
        };
        let run = RunTime::new(began.elapsed(), judged_now, self.jobs, report.spent);
        if let Err(error) = Timing::add(&folder, run) {
            self.observer
                .problem(&format!("cannot write how long it took into {}: {error}", folder.display()));
        }
        Ok((manifest, Finished { report, ..finished }))
    }

    /// Runs a stored case once more, or one variant of it, into a folder that is new or empty.
    pub fn replay(
        &self,
        stored: &StoredCase,
        variant: Option<usize>,
        out: &Path,
    ) -> Result<Finished, SessionError> {
        if is_occupied(out) {
            return Err(SessionError::Occupied(out.to_owned()));
        }
        let builds = self.host.builds()?;
        let was_there = out.exists();
        private::create_folder(out)
            .map_err(|source| SessionError::Folder { path: out.to_owned(), source })?;
        let folder = canonical(out)?;
        let began = Instant::now();
        let variants = if variant.is_some() { 1 } else { stored.case.variants.len() };
        let watcher = self.observer.begins(variants, variants);
        let campaign = self.campaign(&builds, &*watcher);
        let results = campaign.run_case(stored.number, &stored.case, variant, &folder);
        drop(watcher);
        if !was_there {
            // Best effort, and never with anything in it.
            let _ = fs::remove_dir(&folder);
        }
        let finished = self.finished(results, variants, &folder, |_| folder.clone());
        let report = Report { took: Some(began.elapsed()), ..finished.report };
        Ok(Finished { report, ..finished })
    }

    fn campaign<'c>(&'c self, builds: &'c Builds, watcher: &'c dyn Watcher) -> Campaign<'c> {
        Campaign {
            builds: Some(builds),
            jobs: self.jobs,
            again: self.again,
            watcher,
            ..Campaign::new(&self.host.runner, &self.host.engine, self.oracles, self.known)
        }
    }

    /// Reduces failures, unless that is not wanted or something went wrong.
    fn reduce(&self, request: &RunRequest<'_>, results: &Results, folder: &Path) {
        let Some(time) = request.reduce_for else { return };
        if results.error.is_some() || self.host.runner.stopped() {
            return;
        }
        let reductions = Reductions {
            runner: &self.host.runner,
            engine: &self.host.engine,
            oracles: self.oracles,
            known: self.known,
            jobs: self.jobs,
            time,
            watcher: &|signature| self.observer.reducing(signature),
        };
        reductions.run(&results.cases, folder).iter().for_each(|sentence| self.observer.problem(sentence));
    }

    /// What came of running variants, with the folders of their cases.
    fn finished(
        &self,
        results: Results,
        variants: usize,
        folder: &Path,
        folder_of: impl Fn(usize) -> PathBuf,
    ) -> Finished {
        let not_run = variants - results.judged();
        let Results { cases, earlier, error, limit } = results;
        let report = Report {
            title: folder.display().to_string(),
            engine: Some(self.host.engine.clone()),
            not_run,
            earlier,
            workers: self.host.workers(),
            stages: self.host.runner.spent.stages.get(),
            outliers: self.host.runner.spent.costs.outliers(),
            cases: cases.into_iter().map(|verdict| (folder_of(verdict.case), verdict)).collect(),
            ..Report::default()
        };
        Finished { folder: folder.to_owned(), report, variants, error, limit }
    }
}

fn canonical(folder: &Path) -> Result<PathBuf, SessionError> {
    folder.canonicalize().map_err(|source| SessionError::Folder { path: folder.to_owned(), source })
}

fn per_case(settings: &Settings) -> usize {
    usize::try_from(settings.variants).unwrap_or(usize::MAX)
}

/// How many variants of a part have no verdict in a campaign's folder.
fn left(folder: &Path, part: Part, settings: &Settings) -> usize {
    let missing = |number: usize| {
        let case = case_folder(folder, number);
        // Of a case that was not begun all are missing, however many that are.
        if case.exists() { stored::missing(&case, per_case(settings)).len() } else { per_case(settings) }
    };
    part.cases(settings.sources).map(missing).sum()
}
