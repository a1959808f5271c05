//! What a user asks of the binary, where it cannot be done.

use crate::support::{command, names_in};

#[test]
fn drift_and_mark_refuse_to_begin_a_ledger_and_say_where_they_looked() {
    for arguments in [&["mark", "a remark"][..], &["drift", "delete", "a"], &["drift", "label", "a", "b"]] {
        let folder = tempfile::tempdir().unwrap();
        let refused = |extra: &[&str], sentence: &str| {
            let output = command(folder.path()).args(arguments).args(extra).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains(sentence), "{arguments:?}: {said}");
            assert!(said.contains("with `--ledger FILE` or in EQUIFORM_LEDGER"), "{said}");
        };
        let place = folder.path().canonicalize().unwrap();
        refused(&[], &format!("there is no ledger at {}/equiform.ledger.jsonl.", place.display()));
        refused(&["--ledger", "no/such"], &format!("there is no ledger at {}/no/such.", place.display()));
        assert_eq!(names_in(folder.path()), [""; 0]);
        std::fs::write(folder.path().join("empty"), "").unwrap();
        refused(&["--ledger", "empty"], "no ledger has been begun in it");
        assert_eq!(std::fs::read(folder.path().join("empty")).unwrap(), b"");
    }
}
