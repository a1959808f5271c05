//! Attempts: candidates that are deployed and judged, several at once, each of them once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::budget::Budget;
use super::candidate::Candidate;
use super::symptom::Symptom;
use super::{ReduceError, Reducer};
use crate::case::{CASE_FILE, Case};
use crate::deploy::checkpoint::{CHECKPOINTS, Checkpoints};
use crate::deploy::{DeployError, Start};
use crate::judge::finding::Finding;
use crate::judge::variant::{self as judge, variant_folder};
use crate::judge::verdict::VariantResult;
use crate::private;
use crate::util::files::{Copying, copy_folder, write_json};

/// What came of deploying a candidate.
pub struct Attempt {
    /// Where it was deployed: a case's folder, which goes with this.
    pub folder: TempDir,
    /// The case.
    pub case: Case,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Attempt {
    /// The folder of its evidence.
    pub fn evidence(&self) -> PathBuf {
        variant_folder(self.folder.path(), 0)
    }
}

/// All attempts of a reduction.
pub struct Attempts<'a> {
    reducer: &'a Reducer<'a>,
    /// What has to be shown; none where only what is found matters.
    symptom: Option<&'a Symptom>,
    start: Start,
    /// How often a candidate is deployed before it is said not to show it.
    tries: usize,
    count: Arc<AtomicUsize>,
    /// Whether a deployment begins where the best one came to, as far as their stages are the same.
    on_checkpoints: bool,
    /// What came of candidates, by their content.
    remembered: Mutex<BTreeMap<[u8; 32], bool>>,
    /// The smallest that shows it, so far.
    pub best: Option<Attempt>,
}

impl<'a> Attempts<'a> {
    /// None yet.
    pub fn new(reducer: &'a Reducer<'a>, symptom: &'a Symptom, start: Start, tries: usize) -> Self {
        Self { symptom: Some(symptom), start, tries, ..Self::without_symptom(reducer) }
    }

    /// None yet, of which nothing has to be shown: in fresh processes.
    pub fn without_symptom(reducer: &'a Reducer<'a>) -> Self {
        Self {
            reducer,
            symptom: None,
            start: Start::Cold,
            tries: 1,
            count: Arc::default(),
            on_checkpoints: true,
            remembered: Mutex::default(),
            best: None,
        }
    }

    /// Others that are counted with these: in fresh processes, and from the beginning.
    pub fn fresh(&self) -> Self {
        let count = Arc::clone(&self.count);
        let fresh = Self::without_symptom(self.reducer);
        Self { count, symptom: self.symptom, on_checkpoints: false, ..fresh }
    }

    /// What has to be shown.
    pub fn symptom(&self) -> Option<&Symptom> {
        self.symptom
    }

    /// How often a candidate is deployed before it is said not to show it.
    pub fn tries(&self) -> usize {
        self.tries
    }

    /// Deploys each so often from now on, those too that did not show it before.
    pub fn try_each(&mut self, tries: usize) {
        self.tries = tries;
        self.remembered.lock().expect("no holder panics").clear();
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether there are to be no more.
    pub fn are_over(&self) -> bool {
        self.is_used_up() || self.reducer.runner.stopped()
    }

    /// Whether the budget is used up.
    pub fn is_used_up(&self) -> bool {
        let Reducer { budget, earlier, .. } = self.reducer;
        let used_up = |budget: &Budget| budget.is_used_up(earlier + self.count(), self.reducer.began);
        budget.iter().any(used_up)
    }

    /// Deploys candidates, several at once, until one shows the failure; gives its place, and makes it the best. Those
    /// that come first are preferred.
    pub fn first(&mut self, candidates: &[Candidate]) -> Result<Option<usize>, ReduceError> {
        let mut place = 0;
        while place < candidates.len() {
            // What was tried before costs nothing.
            if self.remembered(&candidates[place]) == Some(false) {
                place += 1;
                continue;
            }
            let until = candidates.len().min(place + self.reducer.jobs);
            let window = &candidates[place..until];
            if let Some((offset, attempt)) = self.several(window)? {
                self.best = Some(attempt);
                return Ok(Some(place + offset));
            }
            if self.are_over() {
                return Ok(None);
            }
            place = until;
        }
        Ok(None)
    }

    fn several(&self, candidates: &[Candidate]) -> Result<Option<(usize, Attempt)>, ReduceError> {
        if let [candidate] = candidates {
            return Ok(self.shows(candidate)?.map(|attempt| (0, attempt)));
        }
        let results: Vec<Result<Option<Attempt>, ReduceError>> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                candidates.iter().map(|candidate| scope.spawn(|| self.shows(candidate))).collect();
            threads.into_iter().map(|thread| thread.join().expect("an attempt does not panic")).collect()
        });
        for (offset, result) in results.into_iter().enumerate() {
            if let Some(attempt) = result? {
                return Ok(Some((offset, attempt)));
            }
        }
        Ok(None)
    }

    fn remembered(&self, candidate: &Candidate) -> Option<bool> {
        self.remembered.lock().expect("no holder panics").get(&content(&candidate.to_case())).copied()
    }

    /// Deploys a candidate; what came of it if it shows the failure.
    fn shows(&self, candidate: &Candidate) -> Result<Option<Attempt>, ReduceError> {
        let case = candidate.to_case();
        let content = content(&case);
        let remember = |shown| self.remembered.lock().expect("no holder panics").insert(content, shown);
        if self.remembered(candidate) == Some(false) {
            return Ok(None);
        }
        for _ in 0..self.tries {
            if self.are_over() {
                return Ok(None);
            }
            let attempt = match self.counted(&case) {
                Err(DeployError::Stopped) => return Ok(None),
                // What cannot be deployed shows nothing; what would meet every attempt alike ends the reduction.
                Err(DeployError::Case(_) | DeployError::Drift { .. }) => continue,
                result => result?,
            };
            if self.is_it(&attempt)? {
                remember(true);
                return Ok(Some(attempt));
            }
        }
        remember(false);
        Ok(None)
    }

    /// Deploys a case as it is, and counts it.
    pub fn counted(&self, case: &Case) -> Result<Attempt, DeployError> {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.reducer.watcher.attempted(self.reducer.earlier + self.count());
        self.deploy(case)
    }

    /// Deploys a case as it is, and judges it.
    pub fn deploy(&self, case: &Case) -> Result<Attempt, DeployError> {
        let Reducer { runner, scratch, .. } = self.reducer;
        let folder = tempfile::Builder::new().prefix("attempt-").tempdir_in(scratch);
        let folder = folder.map_err(|source| DeployError::writing(scratch, source))?;
        write_json(&folder.path().join(CASE_FILE), case)
            .map_err(|source| DeployError::writing(folder.path(), source))?;
        let place = variant_folder(folder.path(), 0);
        let earlier = self.best.as_ref().map(|best| (&best.case, best.evidence()));
        let earlier = earlier.as_ref().map(|(case, evidence)| (*case, evidence.as_path()));
        let checkpoints = self.on_checkpoints.then_some(Checkpoints { earlier });
        let deployed = match runner.deploy_on(case, 0, &place, self.start, checkpoints.as_ref()) {
            // An engine that cannot be kept warm is run cold, from the beginning.
            Err(DeployError::Worker { .. }) => {
                fs::remove_dir_all(&place).map_err(|source| DeployError::writing(&place, source))?;
                runner.deploy_on(case, 0, &place, Start::Cold, Some(&Checkpoints::default()))
            }
            deployed => deployed,
        };
        deployed?;
        let findings = self.reducer.judge(case, &place);
        Ok(Attempt { folder, case: case.clone(), findings })
    }

    /// Whether it shows the failure, by its symptom and by the user's own test.
    pub fn is_it(&self, attempt: &Attempt) -> Result<bool, ReduceError> {
        if let Some(command) = self.reducer.interesting {
            return user_test(command, attempt.folder.path());
        }
        Ok(self.symptom.is_some_and(|symptom| symptom.shown_by(&attempt.findings).is_some()))
    }
}

impl Reducer<'_> {
    /// What the oracles find in a deployment of the first variant of a case.
    pub fn judge(&self, case: &Case, place: &Path) -> Vec<Finding> {
        let mut verdict = judge::verdict(case, 0, place, self.oracles);
        judge::mark_known(self.known, &self.engine.id, case, &mut verdict);
        match verdict.result {
            VariantResult::Fail { findings } | VariantResult::Known { findings } => findings,
            VariantResult::Pass | VariantResult::Inconclusive { .. } => Vec::new(),
        }
    }
}

/// By what candidates are held to be the same: all that is deployed.
fn content(case: &Case) -> [u8; 32] {
    let text = serde_json::to_vec(&case.generated()).expect("a case is JSON");
    Sha256::digest(text).into()
}

/// Whether a user's command takes a deployed case for one that shows the failure: exit code 0.
fn user_test(command: &Path, folder: &Path) -> Result<bool, ReduceError> {
    let status = Command::new(command)
        .arg(folder)
        .current_dir(folder)
        .env("EQUIFORM_CASE", folder)
        .env("EQUIFORM_VARIANT", variant_folder(folder, 0))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    let cannot = |source| ReduceError::Interesting { command: command.to_owned(), source };
    status.map(|status| status.success()).map_err(cannot)
}

/// Keeps what an attempt left in a folder of its own.
pub fn keep(attempt: &Attempt, folder: &Path) -> std::io::Result<()> {
    private::create_folder(folder)?;
    write_json(&folder.join(CASE_FILE), &attempt.case)?;
    copy_folder(&attempt.evidence(), &variant_folder(folder, 0), Copying::Private, &[CHECKPOINTS])
}
