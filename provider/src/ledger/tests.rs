//! The writer against killed writers, other writers, and files that are not what they were.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use equiform_proto::ledger::{Entry, Operation, Phase, Reader, Record, World};
use proptest::prelude::*;
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

#[derive(Debug, Clone)]
enum Step {
    Create(u8),
    Change(Operation, u8),
    Remove(Operation, u8),
    Mark,
    Reopen(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let object = 0u8..12;
    prop_oneof![
        4 => object.clone().prop_map(Step::Create),
        3 => object.clone().prop_map(|object| Step::Change(Operation::Update, object)),
        1 => object.clone().prop_map(|object| Step::Change(Operation::Drift, object)),
        2 => object.clone().prop_map(|object| Step::Remove(Operation::Delete, object)),
        1 => object.prop_map(|object| Step::Remove(Operation::Drift, object)),
        1 => Just(Step::Mark),
        1 => (0u8..3).prop_map(Step::Reopen),
    ]
}

/// Objects share keys, so that a key can lead to several.
fn key_of(object: u8) -> String {
    format!("key-{}", object % 5)
}

fn assert_answers_like_a_fold(ledger: &Ledger, path: &Path, ids: &BTreeMap<u8, String>, context: &str) {
    let (entries, world) = verified(path);
    let ids = ids.values().map(String::as_str).chain(entries.iter().filter_map(|entry| entry.id.as_deref()));
    for id in ids {
        let found = run(ledger.by_id(id)).unwrap();
        assert_eq!(
            found.as_ref().map(|entry| entry.seq),
            world.get(id).map(|object| object.changed),
            "{id}, {context}"
        );
        let attributes = found.and_then(|entry| entry.after.clone());
        assert_eq!(
            attributes.as_ref(),
            world.get(id).map(|object| object.attributes.unpack()).as_ref(),
            "{id}, {context}"
        );
    }
    for object in 0..6 {
        let key = key_of(object);
        let found: Vec<_> =
            run(ledger.by_key("mock_node", &key)).unwrap().iter().map(|entry| entry.seq).collect();
        let mut folded: Vec<_> = world
            .objects()
            .filter(|object| object.key.as_deref() == Some(&key))
            .map(|object| object.changed)
            .collect();
        folded.sort_unstable();
        assert_eq!(found, folded, "{key}, {context}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn look_ups_equal_a_full_fold(steps in proptest::collection::vec(step(), 1..80)) {
        let (_folder, path) = folder();
        // Three writers that take turns, as three processes would.
        let mut writers = [open(&path), open(&path), open(&path)];
        let mut alive: BTreeMap<u8, String> = BTreeMap::new();
        for (number, step) in steps.iter().enumerate() {
            let writer = &writers[number % 3];
            match step {
                Step::Create(object) if !alive.contains_key(object) => {
                    let id = format!("node-{object}-{number}");
                    create(writer, &id, &key_of(*object));
                    alive.insert(*object, id);
                }
                Step::Change(op, object) if alive.contains_key(object) => {
                    let revision = u32::try_from(number).unwrap();
                    change(writer, *op, &alive[object], &key_of(*object), Some(revision));
                }
                Step::Remove(op, object) if alive.contains_key(object) => {
                    let id = alive.remove(object).unwrap();
                    change(writer, *op, &id, &key_of(*object), None);
                }
                Step::Reopen(which) => writers[usize::from(*which)] = open(&path),
                _ => drop(mark(writer, "remark")),
            }
        }
        for writer in &writers {
            assert_answers_like_a_fold(writer, &path, &alive, "a writer");
        }
        assert_answers_like_a_fold(&open(&path), &path, &alive, "a newcomer");
    }
}

/// A ledger of many objects, with an index of several blocks.
fn indexed() -> (TempDir, PathBuf, BTreeMap<u8, String>) {
    let (folder, path) = folder();
    let ledger = run(Ledger::open_with(&path, 2 * 1024, Duration::from_secs(1))).unwrap();
    let ids: BTreeMap<_, _> = (0..150).map(|object| (object, format!("node-{object}"))).collect();
    for (object, id) in &ids {
        create(&ledger, id, &key_of(*object));
    }
    let [large, small] = index_of(&path);
    assert!(fs::metadata(large).unwrap().len() >= 3 * 4096);
    for (object, id) in &ids {
        if small.exists() {
            break;
        }
        change(&ledger, Operation::Update, id, &key_of(*object), Some(2));
    }
    assert!(small.exists());
    (folder, path, ids)
}

/// The files of the index: the large one and the small one.
fn index_of(path: &Path) -> [PathBuf; 2] {
    [".index", ".index-recent"].map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    })
}

#[test]
fn a_damaged_index_is_recognised_wherever_the_damage_is_and_replaced() {
    let (_folder, path, ids) = indexed();
    let [large, small] = index_of(&path);
    let files = [&path, &large, &small].map(|file| (file.clone(), fs::read(file).unwrap()));
    let restore = || files.iter().for_each(|(file, bytes)| fs::write(file, bytes).unwrap());
    for (file, index) in &files[1..] {
        for at in (0..index.len()).step_by(1021) {
            restore();
            let mut damaged = index.clone();
            damaged[at] ^= 0x10;
            fs::write(file, &damaged).unwrap();
            let ledger = open(&path);
            assert_answers_like_a_fold(&ledger, &path, &ids, &format!("byte {at} of {file:?} is wrong"));
            // A header that does not hold is as good as no file, and waits for its turn.
            if at >= 4096 {
                mark(&ledger, "writes a new one");
                assert!(fs::read(file).ok() != Some(damaged), "byte {at} of {file:?}");
            }
        }
        for length in [0, 1, 4095, 4096, 5000, index.len() - 1] {
            restore();
            fs::write(file, &index[..length.min(index.len())]).unwrap();
            assert_answers_like_a_fold(&open(&path), &path, &ids, &format!("{file:?} has {length} bytes"));
        }
    }
}

#[test]
fn a_small_index_that_follows_on_another_large_one_is_not_believed() {
    let (_folder, path, mut ids) = indexed();
    let [large, small] = index_of(&path);
    let (old_large, old_small) = (fs::read(&large).unwrap(), fs::read(&small).unwrap());
    let ledger = run(Ledger::open_with(&path, 1024, Duration::from_secs(1))).unwrap();
    for object in 150..=255 {
        ids.insert(object, format!("node-{object}"));
        create(&ledger, &ids[&object], &key_of(object));
    }
    change(&ledger, Operation::Delete, &ids[&3], &key_of(3), None);
    assert!(fs::read(&large).unwrap() != old_large, "both have become one meanwhile");
    fs::write(&small, &old_small).unwrap();
    assert_answers_like_a_fold(&open(&path), &path, &ids, "an old small file");
    fs::write(&large, &old_large).unwrap();
    assert_answers_like_a_fold(&open(&path), &path, &ids, "both are old, and belong together");
}

#[test]
fn an_index_of_another_ledger_is_not_believed() {
    let (_folder, path, ids) = indexed();
    let (_other_folder, other, _) = indexed();
    for (other, own) in index_of(&other).iter().zip(index_of(&path)) {
        fs::copy(other, own).unwrap();
    }
    assert_answers_like_a_fold(&open(&path), &path, &ids, "another ledger's index");
}

#[test]
fn an_index_that_knows_more_than_its_ledger_is_not_believed() {
    let (_folder, path, ids) = indexed();
    let bytes = fs::read(&path).unwrap();
    let starts = line_starts(&bytes);
    // A copy from before the index was written, and one that has gone on differently since.
    fs::write(&path, &bytes[..starts[101]]).unwrap();
    let ledger = run(Ledger::open_with(&path, u64::MAX / 2, Duration::from_secs(1))).unwrap();
    assert_answers_like_a_fold(&ledger, &path, &ids, "a shorter ledger");
    for number in 0..300 {
        create(&ledger, &format!("node-new-{number}"), "key-1");
    }
    assert_answers_like_a_fold(&open(&path), &path, &ids, "a ledger with another history");
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
    // One patience, not three.
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
