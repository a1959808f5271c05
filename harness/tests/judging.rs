//! Judging from evidence that was written by hand.

#[path = "../benches/judging/synthetic.rs"]
mod synthetic;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::Path;

use equiform::case::{CASE_FILE, Case};
use equiform::engines;
use equiform::judge::finding::FindingKind;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::verdict::VariantResult;
use equiform::judge::{stages, variant as judge};
use equiform_proto::ledger::{Entry, LineHash};
use synthetic::{ENTRIES_PER_RESOURCE, Tree};

fn judged(folder: &Path) -> VariantResult {
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let mut verdict = judge::case(0, folder, &oracles).unwrap();
    verdict.variants.remove(0).result
}

/// Counts the bytes that each thread takes.
struct Counting;

thread_local! {
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches a thread-local without a
// destructor only.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.set(TAKEN.get() + layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes that judging a ledger with this many entries takes in total.
fn bytes_to_judge(entries: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    Tree { resources: entries / ENTRIES_PER_RESOURCE }.write(folder.path());
    let before = TAKEN.get();
    assert_eq!(judged(folder.path()), VariantResult::Pass);
    TAKEN.get() - before
}

/// Time is for `make bench-judging`. What is counted here is the same on every machine, and a copy of the
/// world for each entry, or a set of pairs of entries, would make it sixteen times as much.
#[test]
fn four_times_the_entries_take_four_times_the_work() {
    let (few, many) = (bytes_to_judge(25_000), bytes_to_judge(100_000));
    assert!(2 * many < 9 * few, "{few} bytes for the fourth part, {many} for the whole");
}

#[track_caller]
fn is_inconclusive(folder: &Path, why: &str) {
    match judged(folder) {
        VariantResult::Inconclusive { reason } => assert!(reason.contains(why), "{reason}"),
        other => panic!("{other:?}"),
    }
}

/// Small evidence, with one of its files changed.
fn with(file: &str, change: impl FnOnce(String) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    Tree { resources: 20 }.write(folder.path());
    assert_eq!(judged(folder.path()), VariantResult::Pass);
    let path = folder.path().join("variant-0000").join(file);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, change(text)).unwrap();
    folder
}

fn first_lines(text: &str, count: usize) -> String {
    text.split_inclusive('\n').take(count).collect()
}

#[test]
fn a_ledger_that_is_cut_in_a_line_or_between_two_is_inconclusive() {
    let cut = with("ledger.jsonl", |text| text[..text.len() / 2].to_owned());
    is_inconclusive(cut.path(), "the ledger is cut");
    let cut = with("ledger.jsonl", |text| first_lines(&text, 51));
    is_inconclusive(cut.path(), "the ledger is cut");
    let gone = with("ledger.jsonl", |text| text);
    fs::remove_file(gone.path().join("variant-0000/ledger.jsonl")).unwrap();
    is_inconclusive(gone.path(), "the ledger is cut: it has 0 bytes");
}

#[test]
fn a_ledger_that_ends_in_an_unfinished_line_is_inconclusive() {
    let torn = with("ledger.jsonl", |text| text + r#"{"seq":"#);
    is_inconclusive(torn.path(), "a line that its writer did not finish");
}

#[test]
fn a_ledger_with_a_line_changed_is_inconclusive() {
    let changed = with("ledger.jsonl", |text| text.replacen("\"revision\":1", "\"revision\":7", 1));
    is_inconclusive(changed.path(), "prev is not the hash of the line before");
}

/// A ledger with its entries changed, and chained anew.
fn chained_anew(ledger: &str, change: impl Fn(&mut Entry)) -> String {
    let mut lines = ledger.lines();
    let mut text = format!("{}\n", lines.next().unwrap());
    let mut prev = LineHash::of(text.trim_end().as_bytes());
    for line in lines {
        let mut entry: Entry = serde_json::from_str(line).unwrap();
        change(&mut entry);
        entry.prev = prev;
        let line = serde_json::to_string(&entry).unwrap();
        prev = LineHash::of(line.as_bytes());
        text += &(line + "\n");
    }
    text
}

#[test]
fn what_a_stage_does_after_a_later_one_has_begun_is_a_finding() {
    let mixed = with("ledger.jsonl", |text| {
        chained_anew(&text, |entry| {
            if entry.run.as_deref() == Some("destroy") {
                entry.run = Some("batch-1".to_owned());
            }
        })
    });
    let VariantResult::Fail { findings } = judged(mixed.path()) else { panic!("it did not wait") };
    assert!(findings.iter().any(|finding| finding.kind == FindingKind::DoesNotWait), "{findings:?}");
}

#[test]
fn records_that_are_cut_or_mixed_up_are_inconclusive() {
    let cut = with("stages.json", |text| text[..text.len() / 2].to_owned());
    is_inconclusive(cut.path(), "stages.json: EOF while parsing");
    let fewer = with("stages.json", |text| {
        let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
        serde_json::to_string(&records[..3]).unwrap()
    });
    is_inconclusive(fewer.path(), "there are 3 stages of 5, and none failed");
    let mixed = with("stages.json", |text| text.replace("\"idle\"", "\"cross\""));
    is_inconclusive(mixed.path(), "cross is not the stage that is due there");
}

#[test]
fn output_that_is_gone_is_inconclusive() {
    let gone = with("idle/output.jsonl", |text| text);
    fs::remove_file(gone.path().join("variant-0000/idle/output.jsonl")).unwrap();
    is_inconclusive(gone.path(), "idle/output.jsonl");
}

/// Which oracles can speak of a stored variant if nobody has a model of its programs, and the kinds of what they find.
fn without_model(name: &str) -> (Vec<&'static str>, Vec<FindingKind>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/cases/explained").join(name);
    let case = Case::read(&folder.join(CASE_FILE)).unwrap();
    let profile = engines::profile(&case.engine.as_ref().unwrap().id);
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let place = judge::variant_folder(&folder, 0);
    let judged = stages::without_model(profile, &case.variants[0].stages, &place, &oracles).unwrap();
    let asked = judged.asked.iter().map(|oracle| oracle.name()).collect();
    (asked, judged.findings.iter().map(|finding| finding.kind).collect())
}

#[test]
fn evidence_without_a_model_is_judged_by_the_oracles_that_need_none() {
    let (asked, found) = without_model("passed");
    let others =
        ["order", "requests", "plan", "progress", "state", "conservation", "idle", "cross", "repeat"];
    assert_eq!(asked, [&others[..], &["queries", "destroy", "health"]].concat());
    assert_eq!(found, []);
    let (_, found) = without_model("cycle");
    assert!(found.contains(&FindingKind::ReportsCycle), "{found:?}");
    assert!(!found.contains(&FindingKind::OperationMissing), "only a model says what is missing: {found:?}");
    let (_, found) = without_model("state");
    assert!(
        found.contains(&FindingKind::SettingRewritten),
        "nothing was done, and it was rewritten: {found:?}"
    );
}
