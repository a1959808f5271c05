//! Cases that are judged again from their evidence: no engine is run, and nothing is written.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::report::Report;
use super::{engine_of, number_of, stored};
use crate::case::{CASE_FILE, Case, CaseError};
use crate::engine_id::RecordedEngine;
use crate::judge::known::KnownFindings;
use crate::judge::oracles::Oracle;
use crate::judge::variant as judge;
use crate::judge::verdict::CaseVerdict;
use crate::spec::LeftOut;

/// A folder in which nothing can be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgingError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// It holds no case.
    #[error("{} is neither a case nor a campaign: there is no case.json in it or below it", .0.display())]
    CaseNotFound(PathBuf),
    /// A case cannot be read.
    #[error(transparent)]
    Case(#[from] CaseError),
}

/// Receives the progress of judging.
pub trait JudgingObserver {
    /// There are this many more cases.
    fn found(&self, cases: usize);

    /// A case was judged, with all in which its verdicts differ from those that are stored.
    fn judged(&self, verdict: &CaseVerdict, differences: &[String]);
}

/// By what cases are judged.
pub struct Judging<'a> {
    /// Who judges.
    pub oracles: &'a [&'a Oracle],
    /// What is known.
    pub known: &'a KnownFindings,
    /// The rules that cases are not judged by; none for those that each case leaves out.
    pub left_out: Option<&'a LeftOut>,
}

/// What came of judging.
#[derive(Debug)]
pub struct JudgedAgain {
    /// All that there is to say.
    pub report: Report,
    /// How many variants could not be judged again, because their evidence was removed on purpose.
    pub not_judged_again: usize,
}

impl Judging<'_> {
    /// Judges the cases in folders of cases or campaigns.
    pub fn judge(
        &self,
        folders: &[PathBuf],
        observer: &dyn JudgingObserver,
    ) -> Result<JudgedAgain, JudgingError> {
        let began = Instant::now();
        let (mut cases, mut engines, mut not_judged_again) = (Vec::new(), Vec::new(), 0);
        for folder in folders {
            let found = judge::case_folders(folder)
                .map_err(|source| JudgingError::Io { path: folder.clone(), source })?;
            if found.is_empty() {
                return Err(JudgingError::CaseNotFound(folder.clone()));
            }
            observer.found(found.len());
            for folder in found {
                let mut case = Case::read(&folder.join(CASE_FILE))?;
                case.engine = engine_of(&folder, &case);
                case.left_out = self.left_out.unwrap_or(&case.left_out).clone();
                let number = number_of(&folder, &case).unwrap_or(cases.len());
                let mut verdict = self.verdict(number, &case, &folder);
                let comparison = stored::hold_against(&folder, &mut verdict, self.oracles);
                not_judged_again += comparison.not_judged_again;
                // Some may be stored ones, with what was known then.
                self.mark_known(&case, &mut verdict);
                verdict.compare_worlds();
                observer.judged(&verdict, &comparison.differences);
                engines.extend(case.engine);
                cases.push((folder, verdict));
            }
        }
        let report = Report {
            title: format!("{} cases", cases.len()),
            engine: in_common(engines),
            took: Some(began.elapsed()),
            cases,
            ..Report::default()
        };
        Ok(JudgedAgain { report, not_judged_again })
    }

    /// The verdicts on a case, from its evidence.
    fn verdict(&self, number: usize, case: &Case, folder: &Path) -> CaseVerdict {
        let mut verdict = judge::stored_case(number, case, folder, self.oracles);
        self.mark_known(case, &mut verdict);
        for variant in &mut verdict.variants {
            let place = judge::variant_folder(folder, variant.variant);
            judge::mark_again(case, variant, &place, self.oracles);
            judge::mark_warm_only(case, variant, &place, self.oracles);
        }
        verdict
    }

    fn mark_known(&self, case: &Case, verdict: &mut CaseVerdict) {
        let Some(engine) = &case.engine else { return };
        for variant in &mut verdict.variants {
            judge::mark_known(self.known, &engine.id, case, variant);
        }
    }
}

/// The engine of all cases; none if there are several.
fn in_common(mut engines: Vec<RecordedEngine>) -> Option<RecordedEngine> {
    engines.sort_unstable();
    engines.dedup();
    if engines.len() == 1 { engines.pop() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::manifest::tests::small;
    use crate::judge::oracles::ORACLES;
    use crate::judge::variant::EngineUnknown;
    use crate::judge::verdict::VariantResult;
    use crate::util::files::{Copying, copy_folder};

    struct Silent;

    impl JudgingObserver for Silent {
        fn found(&self, _: usize) {}
        fn judged(&self, _: &CaseVerdict, _: &[String]) {}
    }

    /// A case that passed, which does not say on which engine, in a folder for a campaign.
    fn campaign_without_engine() -> tempfile::TempDir {
        let campaign = tempfile::tempdir().unwrap();
        let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/cases/explained/passed");
        let folder = campaign.path().join("case-0000");
        copy_folder(&stored, &folder, Copying::Private, &[]).unwrap();
        let case = Case { engine: None, ..Case::read(&folder.join(CASE_FILE)).unwrap() };
        std::fs::write(folder.join(CASE_FILE), serde_json::to_string(&case).unwrap()).unwrap();
        campaign
    }

    fn judged(campaign: &Path) -> Report {
        let (oracles, known) = (ORACLES.iter().collect::<Vec<_>>(), KnownFindings::shipped());
        let judging = Judging { oracles: &oracles, known: &known, left_out: None };
        judging.judge(&[campaign.to_owned()], &Silent).unwrap().report
    }

    #[test]
    fn a_case_that_names_no_engine_is_judged_by_the_rules_of_its_campaigns_engine() {
        let campaign = campaign_without_engine();
        let manifest = small(1, 1, None);
        drop(manifest.lock(&campaign.path().join("other")).unwrap());
        let stored = std::fs::read(campaign.path().join("other/campaign.json")).unwrap();
        std::fs::write(campaign.path().join("campaign.json"), stored).unwrap();
        let report = judged(campaign.path());
        assert_eq!(report.engine.as_ref(), Some(manifest.engine()));
        assert!(report.cases[0].1.variants.iter().any(|it| it.result == VariantResult::Pass));
    }

    #[test]
    fn a_case_of_which_nobody_knows_the_engine_is_not_judged_by_the_rules_of_another() {
        let report = judged(campaign_without_engine().path());
        assert_eq!(report.engine, None);
        for verdict in &report.cases[0].1.variants {
            let VariantResult::Inconclusive { reason } = &verdict.result else { panic!("{verdict:?}") };
            assert_eq!(*reason, EngineUnknown.to_string());
        }
    }
}
