//! One variant of a campaign: explored on a warm engine, confirmed in fresh processes, judged, and tried again if there
//! is something new.

use std::fs;
use std::io;
use std::path::Path;

use super::queue::{Judged, Work};
use super::{Campaign, CampaignError, stored};
use crate::case::streams::Choice;
use crate::deploy::worker::WorkerSymptom;
use crate::deploy::{DeployError, Start};
use crate::evidence::{STAGES, StageRecord};
use crate::judge::finding::{Detail, Finding, FindingKind};
use crate::judge::variant::{self as judge, AGAIN, WARM, variant_folder};
use crate::judge::verdict::{VariantResult, VariantVerdict};

/// What came of deploying a variant on a warm engine.
enum Explored {
    /// It passed.
    Passed(Box<VariantVerdict>),
    /// It did not pass, or is to be run in fresh processes anyway.
    Found(Box<VariantVerdict>),
    /// There is no warm engine, or it was of no use.
    Nothing,
}

/// The verdict on a variant in which a warm engine showed something, and which could not be run in fresh processes. Of
/// these, nothing stays.
fn unconfirmed(warm: &VariantVerdict, place: &Path, error: &DeployError) -> VariantVerdict {
    // Best effort: what is left is said to be no evidence.
    let _ = remove_cold(place);
    let reason = format!(
        "a warm engine showed something, and fresh processes could not confirm it ({error}); remove {} to run it again",
        place.display()
    );
    let mut verdict = VariantVerdict::new(warm.variant, VariantResult::Inconclusive { reason });
    verdict.warm_only = warm.result.findings().to_vec();
    verdict
}

/// Removes what fresh processes left in a variant's folder.
fn remove_cold(place: &Path) -> io::Result<()> {
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_name() != WARM {
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }?;
        }
    }
    Ok(())
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

impl Campaign<'_> {
    /// Deploys and judges a variant and keeps the verdict, and does so a second time if there is a new
    /// finding. What is not the engine's doing, and would meet every variant alike, is an error.
    pub(super) fn judge(&self, work: &Work) -> Result<Judged, DeployError> {
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

    /// Whether a variant is run in fresh processes even if a warm engine shows nothing: a bug may show in these alone.
    fn is_checked_cold(&self, work: &Work) -> bool {
        self.cold_every > 0 && Choice::Cold.seed(work.case.seed, work.variant).is_multiple_of(self.cold_every)
    }

    /// Deploys a variant on a warm engine, if there is one. What passed there has passed, except for the few that are
    /// run in fresh processes too.
    fn explore(&self, work: &Work, place: &Path) -> Result<Explored, DeployError> {
        let Some(workers) = self.runner.workers.as_ref().filter(|workers| !workers.fail_to_start()) else {
            return Ok(Explored::Nothing);
        };
        let warm = place.join(WARM);
        let keeping = &self.runner.spent.keeping;
        match self.deploy(work, &warm, Start::Warm) {
            Ok(verdict) if verdict.result == VariantResult::Pass && !self.is_checked_cold(work) => {
                keeping.time(|| move_up(&warm)).map_err(|source| DeployError::writing(&warm, source))?;
                Ok(Explored::Passed(Box::new(verdict)))
            }
            Ok(verdict) => Ok(Explored::Found(Box::new(verdict))),
            Err(DeployError::Worker { stage, error }) => {
                workers.count_broken(&error);
                match error.symptom() {
                    // The engine may have a bug that shows in fresh processes, too.
                    Some(symptom) => {
                        let kind = match symptom {
                            WorkerSymptom::Crash => FindingKind::Crash,
                            WorkerSymptom::Hang => FindingKind::Hang,
                            WorkerSymptom::Excess(limited) => FindingKind::of_excess(limited),
                            WorkerSymptom::ProcessesLeft => FindingKind::ProcessesLeft,
                        };
                        let quote = Detail::Quote { words: error.to_string() };
                        let finding = Finding::new(kind, &stage).with(quote);
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
        let inconclusive = |error: DeployError| {
            VariantVerdict::new(*variant, VariantResult::Inconclusive { reason: error.to_string() })
        };
        let mut verdict = match self.deploy_alone_if_killed(work, place, start) {
            Ok(_) => judging.time(|| judge::verdict(case, *variant, place, self.oracles)),
            Err(error @ (DeployError::Case(_) | DeployError::ProviderKilled { .. })) => inconclusive(error),
            Err(error) => return Err(error),
        };
        judging.time(|| judge::mark_known(self.known, &self.engine.id, case, &mut verdict));
        Ok(verdict)
    }

    /// Deploys a variant into a folder. If the provider is killed meanwhile, any of the commands that were under way
    /// may have done it, or somebody else. So the variant is deployed once more, alone: it is the engine if it happens
    /// again.
    fn deploy_alone_if_killed(
        &self,
        Work { case, variant, .. }: &Work,
        place: &Path,
        start: Start,
    ) -> Result<Vec<StageRecord>, DeployError> {
        let deployed = {
            let _with_others = self.alone.read().expect("no holder panics");
            self.runner.deploy(case, *variant, place, start)
        };
        let killed = match &deployed {
            Ok(records) => records.iter().any(|record| record.provider_killed.is_some()),
            Err(error) => matches!(error, DeployError::ProviderKilled { .. }),
        };
        if !killed {
            return deployed;
        }
        let _alone = self.alone.write().expect("no holder panics");
        remove_cold(place).map_err(|source| DeployError::writing(place, source))?;
        self.runner.deploy(case, *variant, place, Start::Cold)
    }
}
