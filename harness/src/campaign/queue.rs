//! The variants of one case after the other, handed out to jobs: a job that finds no variant left in a case begins the next
//! case, and does not wait for the others.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::CampaignError;
use super::verdict::{CaseVerdict, VariantVerdict};
use crate::case::{CASE_FILE, Case};

/// A case that is to be run.
pub struct Due {
    /// Its number.
    pub number: usize,
    /// The case.
    pub case: Case,
    /// The folder for it; what an earlier run left there is removed.
    pub folder: PathBuf,
}

/// A variant that is to be deployed.
pub struct Work {
    /// The number of its case.
    pub number: usize,
    /// Its case.
    pub case: Arc<Case>,
    /// The case's folder.
    pub folder: PathBuf,
    /// Its own number.
    pub variant: usize,
}

/// A case that is under way.
struct Open {
    number: usize,
    case: Arc<Case>,
    folder: PathBuf,
    /// Whether somebody made the folder for us: it is left then, empty, if the case is not finished.
    folder_is_theirs: bool,
    next: usize,
    judged: Vec<VariantVerdict>,
}

/// What is to be done, what is under way, and what came of it.
pub struct Queue<'a> {
    supply: Box<dyn FnMut() -> Result<Option<Due>, CampaignError> + Send + 'a>,
    open: Vec<Open>,
    done: Vec<CaseVerdict>,
    error: Option<CampaignError>,
}

impl<'a> Queue<'a> {
    /// For the cases that `supply` gives until it gives none.
    pub fn new(supply: impl FnMut() -> Result<Option<Due>, CampaignError> + Send + 'a) -> Self {
        Self { supply: Box::new(supply), open: Vec::new(), done: Vec::new(), error: None }
    }

    /// The next variant; none if there is no other, or after an error.
    pub fn take(&mut self) -> Option<Work> {
        loop {
            if self.error.is_some() {
                return None;
            }
            if let Some(open) = self.open.iter_mut().find(|open| open.next < open.case.variants.len()) {
                open.next += 1;
                let (case, folder) = (Arc::clone(&open.case), open.folder.clone());
                return Some(Work { number: open.number, case, folder, variant: open.next - 1 });
            }
            match (self.supply)() {
                Ok(Some(due)) => match Open::begin(due) {
                    Ok(open) => self.open.push(open),
                    Err(error) => self.fail(error),
                },
                Ok(None) => return None,
                Err(error) => self.fail(error),
            }
        }
    }

    /// What came of a variant. The last one of a case ends it: its verdict is written.
    pub fn give(&mut self, work: &Work, verdict: VariantVerdict) {
        let Some(index) = self.open.iter().position(|open| open.number == work.number) else { return };
        let open = &mut self.open[index];
        open.judged.push(verdict);
        if open.judged.len() < open.case.variants.len() {
            return;
        }
        open.judged.sort_by_key(|verdict| verdict.variant);
        let verdict = CaseVerdict::new(open.number, std::mem::take(&mut open.judged));
        match verdict.write(&open.folder) {
            Ok(()) => {
                self.open.remove(index);
                self.done.push(verdict);
            }
            Err(source) => self.fail(CampaignError::Write { path: work.folder.clone(), source }),
        }
    }

    /// Ends everything; the first error is told.
    pub fn fail(&mut self, error: CampaignError) {
        self.error.get_or_insert(error);
    }

    /// The verdicts of the cases that were finished. What is left of the others is removed.
    pub fn finish(self) -> Result<Vec<CaseVerdict>, CampaignError> {
        // Best effort: what is left has no verdict, and is removed when the campaign comes back to it.
        self.open.iter().for_each(|open| {
            let _ =
                if open.folder_is_theirs { clear(&open.folder) } else { fs::remove_dir_all(&open.folder) };
        });
        self.error.map_or(Ok(self.done), Err)
    }
}

impl Open {
    fn begin(due: Due) -> Result<Self, CampaignError> {
        let Due { number, case, folder } = due;
        let begun = || -> io::Result<bool> {
            let was_there = folder.exists();
            let was_empty = was_there && fs::read_dir(&folder)?.next().is_none();
            if was_there && !was_empty {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir_all(&folder)?;
            let text = serde_json::to_string_pretty(&case).expect("a case is JSON");
            if let Err(error) = fs::write(folder.join(CASE_FILE), text) {
                let _ = if was_empty { clear(&folder) } else { fs::remove_dir_all(&folder) };
                return Err(error);
            }
            Ok(was_empty)
        };
        match begun() {
            Ok(folder_is_theirs) => Ok(Self {
                number,
                case: Arc::new(case),
                folder,
                folder_is_theirs,
                next: 0,
                judged: Vec::new(),
            }),
            Err(source) => Err(CampaignError::Write { path: folder, source }),
        }
    }
}

/// Removes all that is in a folder, and leaves the folder.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { fs::remove_dir_all(&path)? } else { fs::remove_file(&path)? }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::super::verdict::Result as TrialResult;
    use super::*;

    /// Two cases of two variants in a folder.
    fn two_cases(out: &Path) -> Queue<'_> {
        let settings = Settings { variants: 2, batches: 1, resources: 3..=3, ..Settings::default() };
        let mut numbers = 0..2;
        Queue::new(move || {
            let due =
                |number| Due { number, case: settings.case(number), folder: out.join(number.to_string()) };
            Ok(numbers.next().map(due))
        })
    }

    fn pass(work: &Work) -> VariantVerdict {
        VariantVerdict { variant: work.variant, result: TrialResult::Pass, exercised: Default::default() }
    }

    #[test]
    fn a_case_begins_before_the_one_before_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = two_cases(folder.path());
        let works: Vec<Work> = std::iter::from_fn(|| queue.take()).collect();
        let order: Vec<(usize, usize)> = works.iter().map(|work| (work.number, work.variant)).collect();
        assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        works.iter().rev().for_each(|work| queue.give(work, pass(work)));
        let mut done = queue.finish().unwrap();
        done.sort_by_key(|verdict| verdict.case);
        assert_eq!(done.iter().map(|verdict| verdict.variants.len()).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn a_case_that_was_not_finished_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("1");
        fs::create_dir(&theirs).unwrap();
        let mut queue = two_cases(folder.path());
        let works: Vec<Work> = std::iter::from_fn(|| queue.take()).collect();
        queue.give(&works[0], pass(&works[0]));
        assert!(theirs.join(CASE_FILE).exists());
        assert_eq!(queue.finish().unwrap(), []);
        assert!(!folder.path().join("0").exists());
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0, "a folder that was there stays, empty");
    }

    #[test]
    fn after_an_error_there_is_no_more_work_and_whole_cases_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = two_cases(folder.path());
        for _ in 0..2 {
            let work = queue.take().unwrap();
            queue.give(&work, pass(&work));
        }
        queue.take().unwrap();
        let source = io::Error::other("the disk is full");
        queue.fail(CampaignError::Write { path: folder.path().to_owned(), source });
        assert!(queue.take().is_none());
        assert!(queue.finish().is_err());
        assert!(folder.path().join("0/verdict.json").exists());
        assert!(!folder.path().join("1").exists());
    }
}
