//! The writer against killed writers, other writers, and files that are not what they were.

mod count;
mod index;

use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use equiform_proto::ledger::{Entry, Operation, Phase, Reader, Record, World};
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// Small enough that a handful of entries makes an index.
const INDEX_EVERY: u64 = 1500;

fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(task)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    (folder, path)
}

fn open(path: &Path) -> Ledger {
    run(Ledger::open_with(path, INDEX_EVERY, Duration::from_millis(200))).unwrap()
}

fn append(ledger: &Ledger, op: Operation, phase: Phase, body: Body) -> u64 {
    run(async { ledger.lock().await.unwrap().append(op, phase, body).unwrap() })
}

fn mark(ledger: &Ledger, note: &str) -> u64 {
    append(ledger, Operation::Mark, Phase::Commit, Body { note: Some(note.to_owned()), ..Body::default() })
}

/// Begin and commit of an operation on an object (a drift has no begin); a revision of `None` deletes it.
fn change(ledger: &Ledger, op: Operation, id: &str, key: &str, revision: Option<u32>) {
    let after = revision.map(|revision| json!({"key": key, "id": id, "revision": revision}));
    let mut body = Body {
        type_name: Some("mock_node".to_owned()),
        key: Some(key.to_owned()),
        id: Some(id.to_owned()),
        after: after.map(|after| after.as_object().unwrap().clone()),
        ..Body::default()
    };
    if op != Operation::Drift {
        body.begin = Some(append(ledger, op, Phase::Begin, body.clone()));
    }
    append(ledger, op, Phase::Commit, body);
}

fn create(ledger: &Ledger, id: &str, key: &str) {
    change(ledger, Operation::Create, id, key, Some(1));
}

/// All entries, and the world they fold to. The ledger must verify.
fn verified(path: &Path) -> (Vec<Entry>, World) {
    let (mut entries, mut world) = (Vec::new(), World::default());
    for line in Reader::new(BufReader::new(File::open(path).unwrap())) {
        if let Record::Entry(entry) = line.unwrap().record {
            world.apply((*entry).clone()).unwrap();
            entries.push(*entry);
        }
    }
    (entries, world)
}

/// Where each line of a file begins, and the file's end.
fn line_starts(bytes: &[u8]) -> Vec<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

#[test]
fn a_ledger_cut_at_any_byte_loses_no_whole_line() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    create(&ledger, "node-ä", "a");
    mark(&ledger, "\"quoted\", \u{1f600} and \\");
    let bytes = fs::read(&path).unwrap();
    let starts = line_starts(&bytes);
    let cut_path = path.with_file_name("cut.jsonl");
    for cut in starts[1]..=bytes.len() {
        fs::write(&cut_path, &bytes[..cut]).unwrap();
        mark(&open(&cut_path), "after");
        let (entries, _) = verified(&cut_path);
        // A line of which only the line break is missing is whole.
        let whole = starts[2..].iter().filter(|&&end| cut + 1 >= end).count();
        let torn = cut - starts.iter().rfind(|&&start| start <= cut).unwrap();
        let is_torn = !starts.contains(&cut) && !starts.contains(&(cut + 1));
        assert_eq!(entries.len(), whole + usize::from(is_torn) + 1, "cut at {cut}");
        let accounts: Vec<_> = entries.iter().filter_map(|entry| entry.torn.as_ref()).collect();
        assert_eq!(
            accounts.iter().map(|torn| torn.bytes).sum::<u64>(),
            if is_torn { torn as u64 } else { 0 }
        );
        let healed = fs::read(&cut_path).unwrap();
        assert!(healed.starts_with(&bytes[..cut]), "what stands there stays, cut at {cut}");
    }
}

#[test]
fn a_writer_killed_while_it_accounts_for_another_is_accounted_for() {
    let (_folder, path) = folder();
    mark(&open(&path), "first");
    let first = fs::read(&path).unwrap();
    mark(&open(&path), "second");
    let second = fs::read(&path).unwrap();
    let torn = &second[..first.len() + 30];
    fs::write(&path, torn).unwrap();
    mark(&open(&path), "third");
    let healed = fs::read(&path).unwrap();
    let account = line_starts(&healed).into_iter().find(|start| *start > torn.len()).unwrap();
    for cut in account..healed.len() {
        fs::write(&path, &healed[..cut]).unwrap();
        mark(&open(&path), "fourth");
        let (entries, _) = verified(&path);
        let notes: Vec<_> = entries.iter().filter_map(|entry| entry.note.as_deref()).collect();
        assert_eq!((notes[0], *notes.last().unwrap()), ("first", "fourth"), "cut at {cut}");
    }
}

#[test]
fn an_unfinished_line_that_cannot_be_ended_is_met_again() {
    for cut in [1, 40] {
        let (_folder, path) = folder();
        mark(&open(&path), "first");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
        let mut file = AppendFile::open(&path).unwrap();
        file.make_read_only();
        for _ in 0..3 {
            let failure = file.prepare(|_, _| {}).unwrap_err();
            assert!(matches!(failure, LedgerFailure::Io { doing: "appended to", .. }), "{failure}");
        }
        assert_eq!(fs::read(&path).unwrap(), bytes[..bytes.len() - cut]);
        mark(&open(&path), "second");
        verified(&path);
    }
}

#[test]
fn a_line_of_megabytes_is_like_any_other() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    mark(&ledger, &"x".repeat(5 << 20));
    create(&ledger, "node-1", "a");
    assert_eq!(verified(&path).0.len(), 3);
    let found = run(open(&path).by_id("node-1")).unwrap().unwrap();
    assert_eq!(found.seq, 3);
}

fn failure(ledger: &Ledger) -> LedgerFailure {
    let looked = run(ledger.by_id("node-1")).unwrap_err();
    let locked = run(async { ledger.lock().await.map(drop) }).unwrap_err();
    assert_eq!(looked.to_string(), locked.to_string());
    looked
}

#[test]
fn a_ledger_that_is_removed_replaced_or_moved_while_in_use_is_told() {
    type Mishap = fn(&Path);
    let mishaps: [Mishap; 4] = [
        |path| fs::remove_file(path).unwrap(),
        |path| {
            let other = path.with_file_name("other");
            fs::copy(path, &other).unwrap();
            fs::rename(other, path).unwrap();
        },
        |path| fs::rename(path, path.with_file_name("elsewhere")).unwrap(),
        |path| {
            fs::rename(path, path.with_file_name("elsewhere")).unwrap();
            mark(&open(path), "a new ledger");
        },
    ];
    for mishap in mishaps {
        let (_folder, path) = folder();
        let ledger = open(&path);
        mark(&ledger, "first");
        assert!(ledger.is_current());
        mishap(&path);
        assert!(!ledger.is_current());
        let failure = failure(&ledger);
        assert!(matches!(failure, LedgerFailure::Gone { .. }), "{failure}");
        assert!(failure.advice().contains("Put it back"));
    }
}

#[test]
fn a_ledger_that_becomes_shorter_while_in_use_is_told() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    mark(&ledger, "first");
    OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
    assert!(matches!(failure(&ledger), LedgerFailure::Shrunk { .. }));
    assert_eq!(fs::metadata(&path).unwrap().len(), 10);
}

#[test]
fn a_changed_line_stops_the_writer_and_nothing_is_written() {
    let (_folder, path) = folder();
    mark(&open(&path), "first");
    mark(&open(&path), "second");
    let text = fs::read_to_string(&path).unwrap().replace("first", "fir5t");
    fs::write(&path, &text).unwrap();
    let Err(failure) = run(Ledger::open(&path)) else { panic!("a changed line was not noticed") };
    assert!(matches!(failure, LedgerFailure::Bad { .. }), "{failure}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_file_that_is_no_ledger_is_left_alone() {
    for foreign in ["hello\n", "{}\n", "{\"equiform_ledger\":2,\"id\":\"x\"}\n", "no line break"] {
        let (_folder, path) = folder();
        fs::write(&path, foreign).unwrap();
        assert!(matches!(run(Ledger::open(&path)), Err(LedgerFailure::Bad { .. })), "{foreign:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), foreign);
    }
}

#[test]
fn a_lock_held_too_long_is_told_to_all_who_wait_at_the_same_time() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    let holder = File::open(&path).unwrap();
    holder.lock().unwrap();
    let start = Instant::now();
    run(async {
        let attempt = || async { ledger.lock().await.map(drop).unwrap_err().to_string() };
        let (first, second, third) = tokio::join!(attempt(), attempt(), attempt());
        for failure in [first, second, third] {
            assert!(failure.contains("has held the lock"), "{failure}");
        }
    });
    // One timeout, not three.
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    holder.unlock().unwrap();
    mark(&ledger, "goes on");
}

#[test]
fn an_empty_file_becomes_a_ledger() {
    let (_folder, path) = folder();
    File::create(&path).unwrap();
    mark(&open(&path), "first");
    assert_eq!(verified(&path).0.len(), 1);
}

#[test]
fn an_empty_file_that_another_process_holds_keeps_nothing_else_waiting() {
    let (_folder, path) = folder();
    let holder = File::create(&path).unwrap();
    holder.lock().unwrap();
    let start = Instant::now();
    run(async {
        let mut others = 0;
        let opened = Ledger::open_with(&path, INDEX_EVERY, Duration::from_millis(200));
        let failure = tokio::select! {
            opened = opened => opened.err().expect("the lock is held"),
            () = async { loop { others += 1; tokio::time::sleep(Duration::from_millis(1)).await } } => unreachable!(),
        };
        assert!(failure.to_string().contains("has held the lock"), "{failure}");
        assert!(others > 10, "others came to their turn {others} times");
    });
    assert!(start.elapsed() < Duration::from_millis(1000), "{:?}", start.elapsed());
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
    holder.unlock().unwrap();
    mark(&open(&path), "goes on");
}

#[test]
fn a_ledger_and_its_index_are_their_owners_alone() {
    let (folder, path) = folder();
    let ledger = open(&path);
    for number in 0..20 {
        create(&ledger, &format!("node-{number}"), "a");
    }
    let files: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()).collect();
    assert!(files.len() > 1, "{files:?}");
    for file in files {
        let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().unwrap());
        assert_eq!(mode & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn an_entry_that_no_reader_would_take_is_not_written() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    mark(&ledger, "first");
    let before = fs::read(&path).unwrap();
    let note = Some("x".repeat(equiform_proto::ledger::LINE_LIMIT));
    let refused = run(async {
        ledger.lock().await.unwrap().append(Operation::Mark, Phase::Commit, Body { note, ..Body::default() })
    });
    let failure = refused.unwrap_err().to_string();
    assert!(failure.contains("a line has at most 67108864 bytes"), "{failure}");
    assert_eq!(fs::read(&path).unwrap(), before);
    mark(&ledger, "goes on");
    assert_eq!(verified(&path).0.len(), 2);
}

#[test]
fn a_long_header_is_a_header_for_readers_and_writers_alike() {
    let (_folder, path) = folder();
    mark(&open(&path), "first");
    let text = fs::read_to_string(&path).unwrap();
    let header = text.lines().next().unwrap();
    let long = header.replacen("\"id\":\"", &format!("\"id\":\"{}", "x".repeat(3000)), 1);
    fs::write(&path, format!("{long}\n")).unwrap();
    mark(&open(&path), "first");
    assert_eq!(verified(&path).0.len(), 1);
}

#[test]
fn a_line_that_another_is_still_writing_is_not_taken_for_torn_by_a_look() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    create(&ledger, "node-1", "a");
    let before = fs::read(&path).unwrap();
    let mut writer = OpenOptions::new().append(true).open(&path).unwrap();
    writer.write_all(b"{\"seq\":3,").unwrap();
    assert!(run(ledger.by_id("node-1")).unwrap().is_some());
    assert_eq!(fs::metadata(&path).unwrap().len(), before.len() as u64 + 9);
}
