//! The variants of one case after the other, handed out to jobs: a job that finds no variant left in a case
//! begins the next case, and does not wait for the others. What was judged stays, however it ends; a variant
//! that was not is removed.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::CampaignError;
use super::keep::{self, Keep};
use super::stored::{self, write_whole};
use crate::case::{CASE_FILE, Case};
use crate::judge::variant::variant_folder;
use crate::judge::verdict::{CaseVerdict, VariantVerdict};
use crate::private;

/// A case that is to be run.
pub struct Due {
    /// Its number.
    pub number: usize,
    /// The case.
    pub case: Case,
    /// The folder for it.
    pub folder: PathBuf,
    /// The verdicts that an earlier run left. Whatever else it left is removed.
    pub done: Vec<VariantVerdict>,
    /// The only variant that is to be run; none for all.
    pub only: Option<usize>,
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

/// What came of a variant.
pub struct Judged {
    /// The verdict.
    pub verdict: VariantVerdict,
    /// Whether the verdict is on disk.
    pub kept: io::Result<()>,
    /// What else went wrong, after it was judged.
    pub trouble: Option<CampaignError>,
}

/// A case that is under way.
struct Open {
    number: usize,
    case: Arc<Case>,
    folder: PathBuf,
    /// Whether somebody made the folder for us: it is left then, empty, if nothing is judged.
    folder_is_theirs: bool,
    pending: VecDeque<usize>,
    judged: Vec<VariantVerdict>,
    /// Verdicts that could not be written.
    unwritten: Vec<VariantVerdict>,
}

/// What is to be done, what is under way, and what came of it.
pub struct Queue<'a> {
    supply: Box<dyn FnMut() -> Option<Due> + Send + 'a>,
    open: Vec<Open>,
    done: Vec<CaseVerdict>,
    error: Option<CampaignError>,
    keep: Keep,
}

impl<'a> Queue<'a> {
    /// For the cases that `supply` gives until it gives none.
    pub fn new(supply: impl FnMut() -> Option<Due> + Send + 'a) -> Self {
        Self { supply: Box::new(supply), open: Vec::new(), done: Vec::new(), error: None, keep: Keep::All }
    }

    /// The same, with less left on disk.
    pub fn keeping(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    /// The next variant; none if there is no other, or after an error.
    pub fn take(&mut self) -> Option<Work> {
        loop {
            if self.error.is_some() {
                return None;
            }
            for open in &mut self.open {
                if let Some(variant) = open.pending.pop_front() {
                    let (case, folder) = (Arc::clone(&open.case), open.folder.clone());
                    return Some(Work { number: open.number, case, folder, variant });
                }
            }
            match Open::begin((self.supply)()?) {
                Ok(open) => self.open.push(open),
                Err((done, error)) => {
                    self.done.push(done);
                    self.fail(error);
                }
            }
        }
    }

    /// What came of a variant.
    pub fn give(&mut self, work: &Work, judged: Judged) {
        let Judged { verdict, kept, trouble } = judged;
        if let Some(open) = self.open.iter_mut().find(|open| open.number == work.number) {
            if kept.is_err() {
                open.unwritten.push(verdict.clone());
            }
            open.judged.push(verdict);
        }
        if let Err(source) = kept {
            let path = variant_folder(&work.folder, work.variant);
            self.fail(CampaignError::Write { path, source });
        }
        if let Some(error) = trouble {
            self.fail(error);
        }
        let whole: Vec<Open> = self.open.extract_if(.., |open| open.is_whole()).collect();
        for open in whole {
            let folder = open.folder.clone();
            let verdict = open.verdict();
            if self.keep == Keep::Failed
                && let Err(source) = keep::remove_passed(&folder, &verdict)
            {
                self.fail(CampaignError::Write { path: folder, source });
            }
            self.done.push(verdict);
        }
    }

    /// Ends everything; the first error is told.
    pub fn fail(&mut self, error: CampaignError) {
        self.error.get_or_insert(error);
    }

    /// What was judged, and what went wrong. Variants that were not judged are removed.
    pub fn finish(mut self) -> (Vec<CaseVerdict>, Option<CampaignError>) {
        for open in &self.open {
            open.remove_unfinished();
        }
        // What was removed may have made room.
        for open in self.open {
            for verdict in &open.unwritten {
                // The error that is told already is the same one.
                let _ = stored::write(&open.folder, verdict);
            }
            self.done.push(open.verdict());
        }
        self.done.retain(|verdict| !verdict.variants.is_empty());
        (self.done, self.error)
    }
}

impl Open {
    /// Makes a case's folder ready. If that fails, what an earlier run left is still there.
    fn begin(due: Due) -> Result<Self, (CaseVerdict, CampaignError)> {
        let Due { number, case, folder, done, only } = due;
        let wanted = |variant: &usize| only.is_none_or(|only| only == *variant);
        let judged = |variant: &usize| done.iter().any(|verdict| verdict.variant == *variant);
        let pending: VecDeque<usize> =
            (0..case.variants.len()).filter(|it| wanted(it) && !judged(it)).collect();
        let begun = if done.is_empty() { begin_anew(&folder, &case) } else { begin_again(&folder, &pending) };
        match begun {
            Ok(folder_is_theirs) => Ok(Self {
                number,
                case: Arc::new(case),
                folder,
                folder_is_theirs,
                pending,
                judged: done,
                unwritten: Vec::new(),
            }),
            Err(source) => {
                let done = CaseVerdict { case: number, variants: done };
                Err((done, CampaignError::Write { path: folder, source }))
            }
        }
    }

    /// Whether every variant has a verdict on disk.
    fn is_whole(&self) -> bool {
        self.judged.len() == self.case.variants.len() && self.unwritten.is_empty()
    }

    fn verdict(mut self) -> CaseVerdict {
        self.judged.sort_by_key(|verdict| verdict.variant);
        CaseVerdict { case: self.number, variants: self.judged }
    }

    /// Removes the variants that were not judged, and the case if none was. Best effort: what is left has no
    /// verdict, and is removed when the campaign comes back to it.
    fn remove_unfinished(&self) {
        if self.judged.is_empty() {
            let _ =
                if self.folder_is_theirs { clear(&self.folder) } else { fs::remove_dir_all(&self.folder) };
        }
        for variant in 0..self.case.variants.len() {
            if !self.judged.iter().any(|verdict| verdict.variant == variant) {
                let _ = fs::remove_dir_all(variant_folder(&self.folder, variant));
            }
        }
    }
}

/// Begins a case of which nothing is kept. Gives whether the folder was there, and empty.
fn begin_anew(folder: &Path, case: &Case) -> io::Result<bool> {
    let was_there = folder.exists();
    let was_empty = was_there && fs::read_dir(folder)?.next().is_none();
    if was_there && !was_empty {
        fs::remove_dir_all(folder)?;
    }
    private::create_folder(folder)?;
    if let Err(error) = write_whole(folder, CASE_FILE, case) {
        let _ = if was_empty { clear(folder) } else { fs::remove_dir_all(folder) };
        return Err(error);
    }
    Ok(was_empty)
}

/// Resumes a case of which some variants are kept: what is left of the others is removed.
fn begin_again(folder: &Path, pending: &VecDeque<usize>) -> io::Result<bool> {
    for variant in pending {
        match fs::remove_dir_all(variant_folder(folder, *variant)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(false)
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
    use super::*;
    use crate::judge::verdict::VariantResult;

    /// Two cases of two variants in a folder, with these verdicts of an earlier run on the first.
    fn two_cases(out: &Path, done: Vec<VariantVerdict>) -> Queue<'_> {
        let settings = Settings { variants: 2, batches: 1, resources: 3..=3, ..Settings::default() };
        let mut numbers = 0..2;
        let mut done = Some(done);
        Queue::new(move || {
            let due = |number: usize| Due {
                number,
                case: settings.case(number),
                folder: out.join(number.to_string()),
                done: done.take().unwrap_or_default(),
                only: None,
            };
            numbers.next().map(due)
        })
    }

    fn pass(variant: usize) -> VariantVerdict {
        VariantVerdict::new(variant, VariantResult::Pass)
    }

    /// Stands in for a deployment: there is evidence, and the verdict beside it.
    fn deploy(queue: &mut Queue<'_>, work: &Work) {
        fs::create_dir_all(variant_folder(&work.folder, work.variant)).unwrap();
        let verdict = pass(work.variant);
        let kept = stored::write(&work.folder, &verdict);
        queue.give(work, Judged { verdict, kept, trouble: None });
    }

    #[test]
    fn a_case_begins_before_the_one_before_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = two_cases(folder.path(), Vec::new());
        let works: Vec<Work> = std::iter::from_fn(|| queue.take()).collect();
        let order: Vec<(usize, usize)> = works.iter().map(|work| (work.number, work.variant)).collect();
        assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        works.iter().rev().for_each(|work| deploy(&mut queue, work));
        let (mut done, error) = queue.finish();
        done.sort_by_key(|verdict| verdict.case);
        assert_eq!(done.iter().map(|verdict| verdict.variants.len()).collect::<Vec<_>>(), [2, 2]);
        assert!(error.is_none());
    }

    #[test]
    fn what_was_judged_stays_and_what_was_not_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let theirs = folder.path().join("1");
        fs::create_dir(&theirs).unwrap();
        let mut queue = two_cases(folder.path(), Vec::new());
        let works: Vec<Work> = std::iter::from_fn(|| queue.take()).collect();
        deploy(&mut queue, &works[1]);
        fs::create_dir_all(folder.path().join("0/variant-0000/work")).unwrap();
        assert!(theirs.join(CASE_FILE).exists());
        let (done, _) = queue.finish();
        assert_eq!(done, [CaseVerdict { case: 0, variants: vec![pass(1)] }]);
        assert!(!folder.path().join("0/variant-0000").exists(), "a variant that was not judged is gone");
        assert!(folder.path().join("0/variant-0001/verdict.json").exists());
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0, "a folder that was there stays, empty");
    }

    #[test]
    fn after_an_error_there_is_no_more_work_and_what_was_judged_stays() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = two_cases(folder.path(), Vec::new());
        let work = queue.take().unwrap();
        deploy(&mut queue, &work);
        queue.take().unwrap();
        let source = io::Error::other("the disk is full");
        queue.fail(CampaignError::Write { path: folder.path().to_owned(), source });
        assert!(queue.take().is_none());
        let (done, error) = queue.finish();
        assert_eq!(done, [CaseVerdict { case: 0, variants: vec![pass(0)] }]);
        assert!(error.is_some());
        assert!(folder.path().join("0/variant-0000/verdict.json").exists());
        assert!(!folder.path().join("1").exists());
    }

    #[test]
    fn only_variants_without_a_verdict_are_handed_out() {
        let folder = tempfile::tempdir().unwrap();
        let half = folder.path().join("0/variant-0001/work");
        fs::create_dir_all(&half).unwrap();
        let mut queue = two_cases(folder.path(), vec![pass(0)]);
        let work = queue.take().unwrap();
        assert_eq!((work.number, work.variant), (0, 1));
        assert!(!half.exists(), "what was left of it is removed");
        deploy(&mut queue, &work);
        let (done, _) = queue.finish();
        assert_eq!(done, [CaseVerdict { case: 0, variants: vec![pass(0), pass(1)] }]);
    }

    #[test]
    fn a_verdict_that_found_no_room_is_written_once_there_is_some() {
        let folder = tempfile::tempdir().unwrap();
        let mut queue = two_cases(folder.path(), Vec::new());
        let (work, other) = (queue.take().unwrap(), queue.take().unwrap());
        for work in [&work, &other] {
            fs::create_dir_all(variant_folder(&work.folder, work.variant)).unwrap();
        }
        let kept = Err(io::Error::other("no space left on device"));
        queue.give(&work, Judged { verdict: pass(0), kept, trouble: None });
        let (done, error) = queue.finish();
        assert_eq!(done, [CaseVerdict { case: 0, variants: vec![pass(0)] }]);
        assert!(matches!(error, Some(CampaignError::Write { .. })));
        assert!(folder.path().join("0/variant-0000/verdict.json").exists());
        assert!(!folder.path().join("0/variant-0001").exists());
    }
}
