//! Reduction: from a variant that fails to the smallest that fails in the same way.
//!
//! [`symptom`] is by what the failure is recognised, `candidate` the form in which a variant is cut down, `edit`
//! and `stage_edit` what can be taken away from it, `valid` what stages then have to be, `attempts` deploys and
//! judges, `passes` is what is tried in which order, [`budget`] how far it goes.

mod attempts;
pub mod budget;
mod candidate;
mod edit;
mod passes;
mod stage_edit;
pub mod symptom;
mod valid;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::case::{Case, CaseError};
use crate::deploy::{DeployError, Runner, Start};
use crate::engine_id::RecordedEngine;
use crate::judge::finding::{Finding, OracleId};
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use attempts::{Attempt, Attempts};
use budget::Budget;
use candidate::Candidate;
pub use candidate::Size;
use passes::Passes;
use symptom::Symptom;

/// The name of the file that tells of a reduction, in the folder of the reduced case.
pub const REDUCTION_FILE: &str = "reduction.json";

/// The version of that file.
pub const REDUCTION_VERSION: u32 = 2;

/// How often a failure is deployed to see whether it always shows.
const LOOKS: usize = 3;

/// How often one that did not show is deployed before it is given up.
const MOST_LOOKS: usize = 10;

/// The chance to miss a failure that does not always show, which is left when a candidate is given up.
const MISSED: f64 = 0.05;

/// What is told while a variant is reduced.
pub trait Watcher: Sync {
    /// So many attempts were begun.
    fn attempted(&self, attempts: usize);

    /// Something was taken away, and this is left.
    fn reduced(&self, what: &str, size: Size);
}

/// Why a variant could not be reduced.
#[derive(Debug, thiserror::Error)]
pub enum ReduceError {
    /// The variant does not fail.
    #[error("nothing was found in this variant: there is nothing to reduce")]
    NothingFound,
    /// Only the comparison of variants shows it.
    #[error(
        "only the comparison with the other variants of the case shows this failure, and a reduction keeps one \
         variant: compare them with `equiform show`"
    )]
    OnlyCompared,
    /// It does not show any more.
    #[error("{symptom} did not show again in {deployments} deployments: nothing was reduced")]
    NotShown {
        /// What was to be shown.
        symptom: String,
        /// How often it was tried.
        deployments: usize,
    },
    /// It was stopped before anything could be said.
    #[error("stopped before the failure was seen again: nothing was reduced")]
    Stopped,
    /// The user's own test cannot be run.
    #[error("{command} cannot be run: {source}", command = command.display())]
    Interesting {
        /// The command.
        command: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The case is unusable.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The engine could not be run.
    #[error(transparent)]
    Deploy(#[from] DeployError),
    /// The result could not be kept.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

/// How often a failure showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The number of deployments in which it showed.
    pub shown: usize,
    /// The number of deployments.
    pub of: usize,
}

impl Rate {
    /// Whether it showed sometimes only.
    pub fn is_flaky(self) -> bool {
        self.shown < self.of
    }

    /// How often a candidate is deployed before it is said not to show the failure.
    fn tries(self) -> usize {
        if !self.is_flaky() {
            return 1;
        }
        let rate = self.shown as f64 / self.of as f64;
        (MISSED.ln() / (1.0 - rate).ln()).ceil().clamp(1.0, MOST_LOOKS as f64) as usize
    }
}

/// Why a reduction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Nothing more can be taken away.
    Minimal,
    /// The budget is used up.
    Budget,
    /// It was stopped.
    Stopped,
}

/// What there is to say of a reduction, as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reduction {
    /// The version of the file.
    pub version: u32,
    /// The variant that was reduced.
    pub from: String,
    /// By what the failure was recognised.
    pub symptom: Symptom,
    /// The finding in the reduced case; none if a user's own test recognised the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<Finding>,
    /// The size before.
    pub before: Size,
    /// The size after.
    pub after: Size,
    /// How many programs were deployed.
    pub attempts: usize,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Why it ended.
    pub ended: Ended,
    /// How often the reduced case showed the failure in fresh processes; none if it was stopped before that.
    pub rate: Option<Rate>,
    /// The share of deployments in which it showed; none if it always did.
    pub flaky_rate: Option<f64>,
    /// Other failures of the campaign that reduce to the same case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
}

/// A variant that was reduced, with the evidence of its last deployment.
pub struct Reduced {
    /// What there is to say of it.
    pub reduction: Reduction,
    attempt: Attempt,
}

impl Reduced {
    /// The case.
    pub fn case(&self) -> &Case {
        &self.attempt.case
    }

    /// What was found in it.
    pub fn findings(&self) -> &[Finding] {
        &self.attempt.findings
    }

    /// Puts the case, its evidence and what there is to say into a folder.
    pub fn keep(&self, folder: &Path) -> Result<(), ReduceError> {
        let keep = || {
            attempts::keep(&self.attempt, folder)?;
            crate::util::files::write_json(&folder.join(REDUCTION_FILE), &self.reduction)
        };
        keep().map_err(|source| ReduceError::Write { path: folder.to_owned(), source })
    }
}

/// How variants are reduced.
pub struct Reducer<'a> {
    /// The engine.
    pub runner: &'a Runner,
    /// Which engine that is.
    pub engine: &'a RecordedEngine,
    /// Who judges.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// How many candidates are deployed at once.
    pub jobs: usize,
    /// How far it goes, whichever is reached first.
    pub budget: &'a [Budget],
    /// A user's own test, in place of the symptom.
    pub interesting: Option<&'a Path>,
    /// Where candidates are deployed.
    pub scratch: &'a Path,
    /// When it began.
    pub began: Instant,
    /// How many attempts there were before it.
    pub earlier: usize,
    /// Receives the progress.
    pub watcher: &'a dyn Watcher,
}

impl Reducer<'_> {
    /// Reduces a variant to the smallest that shows the failure with this symptom; that of the cause, if there is
    /// none. `from` is what the variant is called.
    pub fn reduce(
        &self,
        case: &Case,
        variant: usize,
        symptom: Option<Symptom>,
        from: &str,
    ) -> Result<Reduced, ReduceError> {
        let warm = self.runner.workers.is_some();
        let reduced = self.reduce_by(
            if warm { Start::Warm } else { Start::Cold },
            case,
            variant,
            symptom.clone(),
            from,
        )?;
        match reduced {
            Some(reduced) => Ok(reduced),
            // What only a warm engine shows is no finding: the same in fresh processes.
            None if warm => {
                let again = self.reduce_by(Start::Cold, case, variant, symptom.clone(), from)?;
                again.ok_or_else(|| not_shown(symptom.as_ref(), LOOKS))
            }
            None => Err(not_shown(symptom.as_ref(), LOOKS)),
        }
    }

    fn reduce_by(
        &self,
        start: Start,
        case: &Case,
        variant: usize,
        symptom: Option<Symptom>,
        from: &str,
    ) -> Result<Option<Reduced>, ReduceError> {
        let case = Case { engine: Some(self.engine.clone()), ..case.clone() };
        let whole = Candidate::of(&case, variant)?;
        let symptom = match symptom {
            Some(symptom) => symptom,
            None => self.cause_of(&whole)?,
        };
        if symptom.signature.oracle() == OracleId::Variants {
            return Err(ReduceError::OnlyCompared);
        }
        let mut attempts = Attempts::new(self, &symptom, start, 1);
        let rate = self.look(&whole, &mut attempts)?;
        attempts.try_each(rate.tries());
        let mut best = whole.clone();
        let (ended, confirmed) = loop {
            let mut passes = Passes {
                best,
                attempts: &mut attempts,
                symptom: &symptom,
                told: &|what, size| self.watcher.reduced(what, size),
            };
            passes.run()?;
            best = passes.best;
            let ended = if self.runner.stopped() {
                Ended::Stopped
            } else if attempts.is_used_up() {
                Ended::Budget
            } else {
                Ended::Minimal
            };
            let confirmed = match ended {
                // No other command is begun once it was stopped.
                Ended::Stopped => attempts.best.take().map(|attempt| (attempt, None)),
                _ => self.confirm(&best, &attempts, rate)?,
            };
            // A small case may show it less often than the whole did, and then more of what did not show it would.
            match &confirmed {
                Some((_, Some(rate))) if ended == Ended::Minimal && rate.tries() > attempts.tries() => {
                    attempts.try_each(rate.tries());
                }
                _ => break (ended, confirmed),
            }
        };
        let Some((attempt, rate)) = confirmed else { return Ok(None) };
        let finding = symptom.shown_by(&attempt.findings).cloned();
        let reduction = Reduction {
            version: REDUCTION_VERSION,
            from: from.to_owned(),
            finding,
            before: whole.size(),
            after: best.size(),
            attempts: self.earlier + attempts.count(),
            seconds: self.began.elapsed().as_secs_f64(),
            ended,
            rate,
            flaky_rate: rate.filter(|rate| rate.is_flaky()).map(|rate| rate.shown as f64 / rate.of as f64),
            same: Vec::new(),
            symptom,
        };
        Ok(Some(Reduced { reduction, attempt }))
    }

    /// The symptom of the cause, where nobody has said what failed.
    fn cause_of(&self, whole: &Candidate) -> Result<Symptom, ReduceError> {
        let attempt = Attempts::without_symptom(self).deploy(&whole.to_case())?;
        Symptom::of_cause(&attempt.findings, &self.engine.id).ok_or(ReduceError::NothingFound)
    }

    /// Deploys the variant as it is, several times, to see how often the failure shows.
    fn look(&self, whole: &Candidate, attempts: &mut Attempts<'_>) -> Result<Rate, ReduceError> {
        let case = whole.to_case();
        let mut rate = Rate { shown: 0, of: 0 };
        let looks = if self.interesting.is_some() { 1 } else { LOOKS };
        while rate.of < looks || (rate.shown == 0 && rate.of < MOST_LOOKS) {
            if self.runner.stopped() {
                return if rate.shown > 0 { Ok(rate) } else { Err(ReduceError::Stopped) };
            }
            let attempt = attempts.counted(&case)?;
            rate.of += 1;
            if attempts.is_it(&attempt)? {
                rate.shown += 1;
                attempts.best = Some(attempt);
            }
        }
        if rate.shown == 0 { Err(not_shown(attempts.symptom(), rate.of)) } else { Ok(rate) }
    }

    /// Deploys the result in fresh processes; none if the failure does not show there.
    fn confirm(
        &self,
        best: &Candidate,
        attempts: &Attempts<'_>,
        before: Rate,
    ) -> Result<Option<(Attempt, Option<Rate>)>, ReduceError> {
        let case = best.to_case();
        let fresh = attempts.fresh();
        let (mut kept, mut rate) = (None, Rate { shown: 0, of: 0 });
        while rate.of < LOOKS || ((before.is_flaky() || rate.is_flaky()) && rate.of < MOST_LOOKS) {
            let attempt = match fresh.counted(&case) {
                Err(DeployError::Stopped) if kept.is_some() => break,
                Err(DeployError::Stopped) => return Err(ReduceError::Stopped),
                attempt => attempt?,
            };
            rate.of += 1;
            if fresh.is_it(&attempt)? {
                rate.shown += 1;
                kept = Some(attempt);
            }
        }
        Ok(kept.map(|kept| (kept, Some(rate))))
    }
}

fn not_shown(symptom: Option<&Symptom>, deployments: usize) -> ReduceError {
    let symptom = symptom.map_or("the failure".to_owned(), Symptom::text);
    ReduceError::NotShown { symptom, deployments }
}
