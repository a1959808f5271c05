//! What a user asks of the binary: to change the world, or what cannot be done.

use equiform_proto::ledger::Operation;
use serde_json::json;

use crate::processes::verified;
use crate::support::{Plugin, command, names_in, run};

#[test]
fn drift_and_mark_refuse_to_begin_a_ledger_and_say_where_they_looked() {
    for arguments in [
        &["mark", "a remark"][..],
        &["drift", "delete", "a"],
        &["drift", "label", "a", "b"],
        &["drift", "set", "a", "pin", "b"],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let refused = |extra: &[&str], sentence: &str| {
            let output = command(folder.path()).args(arguments).args(extra).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{said}");
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

#[test]
fn drift_sets_label_and_pin_to_a_value_or_to_null_and_reads_show_it() {
    let plugin = Plugin::start();
    let drift = |arguments: &[&str]| {
        let mut drift = command(plugin.folder.path());
        let (what, rest) = arguments.split_first().unwrap();
        drift.args(["drift", what, "--run", "theirs", "--ledger"]).arg(plugin.ledger()).args(rest);
        let output = drift.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    run(async {
        let mut engine = plugin.engine().await;
        let kept = engine.create("a").await;
        let id = kept.id();
        let changes: [(&[&str], _, _); 7] = [
            (&["set", "a", "label", "x"], json!("x"), json!(null)),
            (&["set", &id, "pin", "y"], json!("x"), json!("y")),
            (&["label", "a", "z"], json!("z"), json!("y")),
            (&["set", "a", "label"], json!(null), json!("y")),
            (&["set", "a", "label", ""], json!(""), json!("y")),
            (&["set", "a", "pin", "--null"], json!(""), json!(null)),
            (&["set", "a", "pin", "--", "--null"], json!(""), json!("--null")),
        ];
        for (revision, (arguments, label, pin)) in (2..).zip(changes) {
            assert_eq!(drift(arguments), (Some(0), String::new()), "{arguments:?}");
            let (entries, world) = verified(&plugin.ledger());
            let entry = entries.iter().rfind(|entry| entry.op == Operation::Drift).unwrap();
            assert_eq!(entry.run.as_deref(), Some("theirs"));
            let object = serde_json::to_value(&world.get(&id).unwrap().attributes).unwrap();
            assert_eq!((&object["label"], &object["pin"]), (&label, &pin), "{arguments:?}");
            assert_eq!(object["revision"], json!(revision));
            let read = engine.read(&kept).await;
            assert_eq!(read.diagnostics, []);
            let read = verified(&plugin.ledger()).0.pop().and_then(|entry| entry.returned);
            let there = equiform_proto::ledger::Digest::of(object.as_object().unwrap());
            assert_eq!(read, Some(there), "{arguments:?}");
        }
    });
    let before = std::fs::read(plugin.ledger()).unwrap();
    for (arguments, sentence) in [
        (&["set", "b", "label", "x"][..], "`equiform ledger world FILE` lists the existing ones"),
        (&["delete", "b"], "There is no mock_node with the id or key \"b\""),
        (&["set", "a", "revision", "7"], "[possible values: label, pin]"),
        (&["set", "a", "label", "x", "--null"], "cannot be used with"),
    ] {
        let (code, said) = drift(arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(sentence), "{arguments:?}: {said}");
    }
    assert_eq!(std::fs::read(plugin.ledger()).unwrap(), before);
}
