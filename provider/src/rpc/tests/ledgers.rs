//! Which ledgers are one.

use super::*;

#[test]
fn a_ledger_is_opened_once_however_its_path_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.jsonl");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
    let provider = MockProvider::new(None);
    let ledger = |path: &Path| run(provider.ledger(path)).unwrap();
    // Before there is one, too: the first opening makes it.
    let first = ledger(&folder.path().join("link/ledger.jsonl"));
    for spelling in
        [path.clone(), folder.path().join("./ledger.jsonl"), folder.path().join("link/link/ledger.jsonl")]
    {
        assert!(Arc::ptr_eq(&first, &ledger(&spelling)), "{}", spelling.display());
    }
    assert!(!Arc::ptr_eq(&first, &ledger(&folder.path().join("other.jsonl"))));
}
