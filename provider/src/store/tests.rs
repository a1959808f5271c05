use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use tempfile::TempDir;

use super::transfer::Chunk;
use super::*;

fn store(folder: &TempDir, chunk: usize) -> Store {
    Store::new(folder.path().join("states"), chunk)
}

fn chunks(text: &[u8], size: usize) -> Vec<Chunk> {
    let total = text.len() as i64;
    let chunk = |(number, bytes): (usize, &[u8])| {
        let start = (number * size) as i64;
        Chunk { bytes: bytes.to_vec(), total, start, end: start + bytes.len() as i64 - 1 }
    };
    text.chunks(size).enumerate().map(chunk).collect()
}

fn put(store: &Store, state: &str, text: &[u8]) -> Result<i64, Problem> {
    let mut writing = store.write(state, text.len() as i64)?;
    for chunk in chunks(text, store.chunk) {
        writing.add(&chunk)?;
    }
    writing.finish()
}

fn get(store: &Store, state: &str) -> Vec<Chunk> {
    let mut reading = store.read(state).unwrap().unwrap();
    std::iter::from_fn(|| reading.next().unwrap()).collect()
}

fn lock(store: &Store, state: &str) -> Result<lock::Lock, Problem> {
    store.lock(state, "OperationTypeApply", "someone".to_owned())
}

#[test]
fn a_state_comes_back_in_the_chunks_it_was_written_in() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, 4);
    assert!(store.read("default").unwrap().is_none());
    for text in [&b"0123456789"[..], b"01234567", b"0"] {
        assert_eq!(put(&store, "default", text).unwrap(), text.len() as i64);
        assert_eq!(get(&store, "default"), chunks(text, 4));
    }
    assert_eq!(store.states().unwrap(), ["default"]);
}

#[test]
fn a_state_that_is_not_whole_leaves_the_one_before_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, 4);
    put(&store, "default", b"before").unwrap();
    let good = chunks(b"0123456789", 4);
    let vary = |change: &dyn Fn(&mut Vec<Chunk>)| {
        let mut chunks = good.clone();
        change(&mut chunks);
        chunks
    };
    let bad = [
        vary(&|chunks| drop(chunks.pop())),
        vary(&|chunks| drop(chunks.remove(0))),
        vary(&|chunks| chunks.swap(0, 1)),
        vary(&|chunks| chunks[1] = chunks[0].clone()),
        vary(&|chunks| chunks[1].total = 11),
        vary(&|chunks| chunks[1].end += 1),
        vary(&|chunks| chunks[2].start = i64::MIN),
        vary(&|chunks| chunks[2].end = i64::MAX),
        vary(&|chunks| chunks[1].bytes.clear()),
        vary(&|chunks| chunks.push(Chunk { bytes: vec![0; 4], total: 10, start: 10, end: 13 })),
        // As large as a chunk may not be, and smaller than one may be that is not the last.
        vec![Chunk { bytes: vec![0; 10], total: 10, start: 0, end: 9 }],
        vec![Chunk { bytes: vec![0; 3], total: 10, start: 0, end: 2 }],
    ];
    for chunks in bad {
        let mut writing = store.write("default", 10).unwrap();
        let added = chunks.iter().try_for_each(|chunk| writing.add(chunk));
        let problem = added.and_then(|()| writing.finish().map(drop)).unwrap_err();
        assert_eq!(problem.summary, "The engine broke the plugin protocol", "{chunks:?}");
        assert_eq!(get(&store, "default").concat_bytes(), b"before");
    }
    for total in [0, -1, i64::MIN] {
        assert!(store.write("default", total).is_err());
    }
    let names: Vec<_> =
        fs::read_dir(&store.folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the state and the guard: {names:?}");
}

trait Concat {
    fn concat_bytes(self) -> Vec<u8>;
}

impl Concat for Vec<Chunk> {
    fn concat_bytes(self) -> Vec<u8> {
        self.into_iter().flat_map(|chunk| chunk.bytes).collect()
    }
}

#[test]
fn a_state_that_is_replaced_while_it_is_read_is_read_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, 4);
    put(&store, "a", b"0123456789").unwrap();
    let mut reading = store.read("a").unwrap().unwrap();
    let first = reading.next().unwrap().unwrap();
    put(&store, "a", b"x").unwrap();
    let rest: Vec<_> = std::iter::from_fn(|| reading.next().unwrap()).collect();
    assert_eq!([vec![first], rest].concat().concat_bytes(), b"0123456789");
}

#[test]
fn a_lock_says_who_and_when_and_goes_by_its_id_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, 4);
    let mine = lock(&store, "default").unwrap();
    // Another process finds it in the folder.
    let other = Store::new(store.folder.clone(), 8);
    let refused = lock(&other, "default").unwrap_err();
    assert_eq!(refused.summary, "The state \"default\" is locked");
    for word in [&mine.id, "someone", "OperationTypeApply", "force-unlock"] {
        assert!(refused.detail.contains(word), "{refused:?}");
    }
    assert!(lock(&other, "another").is_ok());
    assert!(other.erase("default").unwrap_err().summary.ends_with("is locked"));
    let wrong = other.unlock("default", "lock-0").unwrap_err();
    assert!(wrong.summary.ends_with("under another id"), "{wrong:?}");
    assert_eq!(other.unlock("default", &mine.id), Ok(()));
    assert!(store.unlock("default", &mine.id).unwrap_err().summary.ends_with("is not locked"));
    assert_ne!(lock(&store, "default").unwrap().id, mine.id);
}

#[test]
fn of_many_who_lock_at_once_one_succeeds() {
    let folder = tempfile::tempdir().unwrap();
    let taken: usize = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..16)
            .map(|_| scope.spawn(|| usize::from(lock(&store(&folder, 4), "default").is_ok())))
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(taken, 1);
}

#[test]
fn a_lock_that_someone_else_wrote_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, 4);
    put(&store, "default", b"{}").unwrap();
    fs::write(store.place("default", LOCK), "mine!").unwrap();
    assert_eq!(lock(&store, "default").unwrap_err().summary, "A lock cannot be read");
}

#[test]
fn states_are_removed_once_and_only_their_owner_sees_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, 4);
    assert!(store.erase("default").is_err(), "before the folder is there");
    put(&store, "default", b"{}").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&store.folder), mode(&store.place("default", STATE))), (0o700, 0o600));
    assert_eq!(store.erase("default"), Ok(()));
    assert_eq!(store.erase("default").unwrap_err().summary, "There is no state \"default\"");
    assert_eq!(store.states().unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_no_folder_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("states"), "").unwrap();
    let store = store(&folder, 4);
    for problem in [
        store.states().unwrap_err(),
        lock(&store, "a").unwrap_err(),
        put(&store, "a", b"x").unwrap_err(),
        store.read("a").unwrap_err(),
    ] {
        assert_eq!(problem.summary, "The state store cannot be used");
    }
}

#[test]
fn names_that_lead_elsewhere_stay_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder, 4);
    let names = ["../../etc/passwd", "a/b", "..", ".", "a\0b", "CON", "ä", "%41", "A"];
    for name in names {
        put(&store, name, name.as_bytes()).unwrap();
    }
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    assert_eq!(store.states().unwrap(), sorted);
    for name in names {
        assert_eq!(get(&store, name).concat_bytes(), name.as_bytes());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    for bad in ["".to_owned(), "x".repeat(201), "ä".repeat(100), "y".repeat(1 << 20)] {
        assert!(put(&store, &bad, b"x").is_err() && lock(&store, &bad).is_err() && store.read(&bad).is_err());
        assert!(store.erase(&bad).is_err() && store.unlock(&bad, "").is_err());
    }
}

proptest! {
    #[test]
    fn a_state_is_found_again_by_the_name_of_its_file(state in ".{1,40}") {
        if let Ok(name) = name_of(&state) {
            prop_assert_eq!(state_of(&name), Some(state));
            prop_assert!(!name.contains(['/', '.', '\0']));
        }
    }
}
