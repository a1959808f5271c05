//! Cases and variants, handed out one by one.

use super::*;
use crate::campaign::Settings;
use crate::judge::verdict::VariantResult;

/// Two cases of two variants in a folder, with these verdicts of an earlier run on the first.
fn two_cases(out: &Path, done: Vec<VariantVerdict>) -> Queue<'_> {
    let settings = Settings { variants: 2, batches: 1, resources: 3..=3, ..Settings::default() };
    let numbers = Mutex::new(0..2);
    let next = move || numbers.lock().unwrap().next();
    Queue::new(next, move |number| {
        let done = if number == 0 { done.clone() } else { Vec::new() };
        let folder = out.join(number.to_string());
        Prepared::Due(Box::new(Due { number, case: settings.case(number), folder, done, only: None }))
    })
}

fn pass(variant: usize) -> VariantVerdict {
    VariantVerdict::new(variant, VariantResult::Pass)
}

/// Stands in for a deployment: there is evidence, and the verdict beside it.
fn deploy(queue: &Queue<'_>, work: &Work) {
    fs::create_dir_all(variant_folder(&work.folder, work.variant)).unwrap();
    let verdict = pass(work.variant);
    let kept = stored::write(&work.folder, &verdict);
    queue.give(work, Judged { verdict, kept, trouble: None });
}

#[test]
fn a_case_begins_before_the_one_before_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let queue = two_cases(folder.path(), Vec::new());
    let works: Vec<Work> = std::iter::from_fn(|| queue.take()).collect();
    let order: Vec<(usize, usize)> = works.iter().map(|work| (work.number, work.variant)).collect();
    assert_eq!(order, [(0, 0), (0, 1), (1, 0), (1, 1)]);
    works.iter().rev().for_each(|work| deploy(&queue, work));
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
    let queue = two_cases(folder.path(), Vec::new());
    let works: Vec<Work> = std::iter::from_fn(|| queue.take()).collect();
    deploy(&queue, &works[1]);
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
    let queue = two_cases(folder.path(), Vec::new());
    let work = queue.take().unwrap();
    deploy(&queue, &work);
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
    let queue = two_cases(folder.path(), vec![pass(0)]);
    let work = queue.take().unwrap();
    assert_eq!((work.number, work.variant), (0, 1));
    assert!(!half.exists(), "what was left of it is removed");
    deploy(&queue, &work);
    let (done, _) = queue.finish();
    assert_eq!(done, [CaseVerdict { case: 0, variants: vec![pass(0), pass(1)] }]);
}

#[test]
fn a_verdict_that_found_no_room_is_written_once_there_is_some() {
    let folder = tempfile::tempdir().unwrap();
    let queue = two_cases(folder.path(), Vec::new());
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

#[test]
fn a_job_takes_and_gives_variants_while_another_one_prepares_a_case() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { variants: 2, batches: 1, resources: 3..=3, ..Settings::default() };
    let numbers = Mutex::new(0..2);
    let (begun, go_on) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
    let queue = Queue::new(
        || numbers.lock().unwrap().next(),
        |number| {
            if number == 1 {
                begun.wait();
                go_on.wait();
            }
            let (case, folder) = (settings.case(number), folder.path().join(number.to_string()));
            Prepared::Due(Box::new(Due { number, case, folder, done: Vec::new(), only: None }))
        },
    );
    let first = [queue.take().unwrap(), queue.take().unwrap()];
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| queue.take().unwrap());
        begun.wait();
        first.iter().for_each(|work| deploy(&queue, work));
        let waiting = scope.spawn(|| queue.take().unwrap());
        assert!(!waiting.is_finished(), "there is a case to come, so this job stays");
        go_on.wait();
        let mut variants = [slow.join().unwrap(), waiting.join().unwrap()].map(|work| work.variant);
        variants.sort_unstable();
        assert_eq!(variants, [0, 1]);
    });
    assert!(queue.take().is_none());
}

#[test]
fn no_job_waits_for_a_case_whose_preparation_panicked() {
    let numbers = Mutex::new(0..1);
    let begun = std::sync::Barrier::new(2);
    let queue = Queue::new(
        || numbers.lock().unwrap().next(),
        |_| {
            begun.wait();
            panic!("it cannot be generated")
        },
    );
    std::thread::scope(|scope| {
        let failing = scope.spawn(|| queue.take().is_some());
        begun.wait();
        assert!(queue.take().is_none());
        failing.join().unwrap_err();
    });
}
