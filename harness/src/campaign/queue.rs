//! The variants of one case after the other, handed out to jobs: a job that finds no variant left in a case
//! begins the next case, and does not wait for the others. What was judged stays, however it ends; a variant
//! that was not is removed.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use super::CampaignError;
use super::keep::{self, Keep};
use super::stored;
use crate::case::{CASE_FILE, Case};
use crate::judge::variant::variant_folder;
use crate::judge::verdict::{CaseVerdict, VariantVerdict};
use crate::private;
use crate::util::files::write_json;

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

/// A case that was made ready.
pub enum Prepared {
    /// Some of its variants are to be deployed.
    Due(Box<Due>),
    /// All of its variants were judged by an earlier run.
    Judged(CaseVerdict),
    /// The campaign was stopped while the case was generated.
    Stopped,
}

/// What is to be done, what is under way, and what came of it, for several jobs at once. No job waits while another
/// one generates a case, or reads or writes files, unless there is nothing else to do.
pub struct Queue<'a> {
    next: Box<dyn Fn() -> Option<usize> + Sync + 'a>,
    prepare: Box<dyn Fn(usize) -> Prepared + Sync + 'a>,
    state: Mutex<State>,
    /// A case was added, or could not be.
    changed: Condvar,
    keep: Keep,
}

#[derive(Default)]
struct State {
    /// How many cases are being prepared.
    preparing: usize,
    stopped: bool,
    open: Vec<Open>,
    done: Vec<CaseVerdict>,
    error: Option<CampaignError>,
}

/// A case that is being prepared: others wait for it if there is nothing else to do.
struct Preparing<'q, 'a>(&'q Queue<'a>);

impl Drop for Preparing<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().preparing -= 1;
        self.0.changed.notify_all();
    }
}

impl<'a> Queue<'a> {
    /// For the cases whose numbers `next` gives until it gives none. `next` must be quick; `prepare` may take long.
    pub fn new(
        next: impl Fn() -> Option<usize> + Sync + 'a,
        prepare: impl Fn(usize) -> Prepared + Sync + 'a,
    ) -> Self {
        Self {
            next: Box::new(next),
            prepare: Box::new(prepare),
            state: Mutex::default(),
            changed: Condvar::new(),
            keep: Keep::All,
        }
    }

    /// The same, with less left on disk.
    pub fn keeping(self, keep: Keep) -> Self {
        Self { keep, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }

    /// The next variant; none if there is no other, or after an error.
    pub fn take(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if state.error.is_some() || state.stopped {
                return None;
            }
            if let Some(work) = state.pending() {
                return Some(work);
            }
            match (self.next)() {
                Some(number) => {
                    state.preparing += 1;
                    drop(state);
                    self.prepare(number);
                    state = self.lock();
                }
                // Another job may be about to add variants.
                None if state.preparing > 0 => {
                    state = self.changed.wait(state).expect("no holder panics");
                }
                None => return None,
            }
        }
    }

    /// Makes a case ready and adds its variants.
    fn prepare(&self, number: usize) {
        let _preparing = Preparing(self);
        match (self.prepare)(number) {
            Prepared::Stopped => self.lock().stopped = true,
            Prepared::Judged(verdict) => self.lock().done.push(verdict),
            Prepared::Due(due) => match Open::begin(*due) {
                Ok(open) => self.lock().add(open),
                Err((done, error)) => {
                    self.lock().done.push(done);
                    self.fail(error);
                }
            },
        }
    }

    /// What came of a variant.
    pub fn give(&self, work: &Work, judged: Judged) {
        let Judged { verdict, kept, trouble } = judged;
        let mut state = self.lock();
        if let Some(open) = state.open.iter_mut().find(|open| open.number == work.number) {
            if kept.is_err() {
                open.unwritten.push(verdict.clone());
            }
            open.judged.push(verdict);
        }
        if let Err(source) = kept {
            let path = variant_folder(&work.folder, work.variant);
            state.fail(CampaignError::Write { path, source });
        }
        if let Some(error) = trouble {
            state.fail(error);
        }
        let whole: Vec<Open> = state.open.extract_if(.., |open| open.is_whole()).collect();
        drop(state);
        for open in whole {
            let folder = open.folder.clone();
            let verdict = open.verdict();
            if self.keep == Keep::Failed
                && let Err(source) = keep::remove_passed(&folder, &verdict)
            {
                self.fail(CampaignError::Write { path: folder, source });
            }
            self.lock().done.push(verdict);
        }
    }

    /// Ends everything. Only the first error counts.
    pub fn fail(&self, error: CampaignError) {
        self.lock().fail(error);
    }

    /// What was judged, and what went wrong. Variants that were not judged are removed.
    pub fn finish(self) -> (Vec<CaseVerdict>, Option<CampaignError>) {
        let mut state = self.state.into_inner().expect("no holder panics");
        for open in &state.open {
            open.remove_unfinished();
        }
        // What was removed may have made room.
        for open in state.open {
            for verdict in &open.unwritten {
                // The error that is reported already is the same one.
                let _ = stored::write(&open.folder, verdict);
            }
            state.done.push(open.verdict());
        }
        state.done.retain(|verdict| !verdict.variants.is_empty());
        (state.done, state.error)
    }
}

impl State {
    /// The next variant of the cases that are under way, those with smaller numbers first.
    fn pending(&mut self) -> Option<Work> {
        self.open.iter_mut().find_map(|open| {
            let variant = open.pending.pop_front()?;
            let (case, folder) = (Arc::clone(&open.case), open.folder.clone());
            Some(Work { number: open.number, case, folder, variant })
        })
    }

    fn add(&mut self, open: Open) {
        let place = self.open.partition_point(|other| other.number < open.number);
        self.open.insert(place, open);
    }

    fn fail(&mut self, error: CampaignError) {
        self.error.get_or_insert(error);
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
    if let Err(error) = write_json(&folder.join(CASE_FILE), case) {
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
mod tests;
