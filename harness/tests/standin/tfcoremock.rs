//! tfcoremock's users change over without a change: its types, its files, its failures, and a ledger as the gain.

use std::fs;
use std::path::Path;

use crate::{ENGINES, equiform, printed, root, write};

fn copied(folder: &Path) {
    let from = root().join("fixtures/standin/tfcoremock");
    for name in ["main.tf", "dynamic_resources.json", "terraform.data/seen.json"] {
        write(folder, &format!("p/{name}"), &fs::read_to_string(from.join(name)).unwrap());
    }
}

#[test]
fn a_program_for_tfcoremock_deploys_changes_and_is_destroyed_without_a_schema() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        copied(folder.path());
        let run = |more: &[&str]| {
            let mut arguments = vec!["standin", "run", "p", "--keep=kept", "--engine", engine];
            arguments.extend(more);
            printed(&equiform(folder.path(), &arguments), 0).0
        };
        let said = run(&[]);
        for part in [
            "is a stand-in, which needs no schema",
            "Resources: 3 added, 0 changed, 0 destroyed.",
            "\"https://bucket.example\",\n  10,\n  \"m\",",
            "next = 4",
            "  tfcoremock_bucket.a -> tfcoremock_simple_resource.b\n  tfcoremock_simple_resource.b -> \
             tfcoremock_complex_resource.c\n",
        ] {
            assert!(said.contains(part), "{engine}: {part}\n{said}");
        }
        let said = run(&["--var=title=two", "--destroy"]);
        assert!(said.contains("Resources: 1 added, 1 changed, 1 destroyed."), "{engine}: {said}");
        assert!(said.contains("Destroy complete! Resources: 3 destroyed."), "{engine}: {said}");
        let ledger = fs::read_to_string(folder.path().join("kept/equiform.ledger.jsonl")).unwrap();
        assert!(!ledger.contains("opensesame"), "{engine}: a secret stands in the ledger");
    }
}

#[test]
fn an_object_whose_id_is_told_to_fail_fails() {
    let folder = tempfile::tempdir().unwrap();
    copied(folder.path());
    write(folder.path(), "p/provider.tf", "provider \"tfcoremock\" {\n  fail_on_create = [\"mine\"]\n}\n");
    let run = ["standin", "run", "p", "--engine", ENGINES[0]];
    let (said, _) = printed(&equiform(folder.path(), &run), 1);
    assert!(said.contains("fail_on_create = [\"mine\"]"), "{said}");
    assert!(said.contains("create  fail"), "{said}");
}
