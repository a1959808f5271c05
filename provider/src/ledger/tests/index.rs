//! Look-ups against a fold of the whole ledger, with an index that is whole, damaged or foreign.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

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

#[test]
fn calls_are_counted_over_the_whole_ledger_also_where_an_index_covers_it() {
    let (_folder, path) = folder();
    let ledger = open(&path);
    for number in 0..20 {
        create(&ledger, &format!("node-{number}"), "a");
    }
    let late = open(&path);
    let calls = Calls { run: None, op: Operation::Create, type_name: None, key: Some("a".to_owned()) };
    let calls = || run(async { late.lock().await.unwrap().calls(calls.clone()).unwrap() });
    assert!(run(late.inner.lock()).index.is_some());
    assert_eq!(calls(), 20);
    create(&ledger, "node-20", "a");
    assert_eq!(calls(), 21);
    // Without the index all is read once more, and nothing is counted twice.
    run(late.inner.lock()).read_all().unwrap();
    assert_eq!(calls(), 21);
}
