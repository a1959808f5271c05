//! `standin install`, `list` and `remove`.

use std::fs;
use std::process::Command;

use crate::{ENGINES, engine, equiform, printed, schema, write};

const NIMBUS: &str = "registry.terraform.io/equiform/nimbus";

#[test]
fn engines_take_what_was_installed_and_not_what_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "schema.json", &schema(NIMBUS, &[("nimbus_network", &["cidr"])]));
    let install = ["standin", "install", "--schema=schema.json", "--as=equiform/nimbus@2.3.4"];
    let (said, _) = printed(&equiform(folder.path(), &install), 0);
    assert!(
        said.starts_with("equiform/nimbus 2.3.4 has a stand-in: 1 resources, 0 data sources\n"),
        "{said}"
    );
    let export =
        said.lines().find_map(|line| line.trim().strip_prefix("export TF_CLI_CONFIG_FILE=")).unwrap();
    write(
        folder.path(),
        "program/main.tf",
        "terraform {\n  required_providers {\n    nimbus = {\n      \
        source  = \"equiform/nimbus\"\n      version = \"~> 2.0\"\n    }\n  }\n}\n",
    );
    let init = |name: &str| {
        let _ = fs::remove_dir_all(folder.path().join("program/.terraform"));
        let _ = fs::remove_file(folder.path().join("program/.terraform.lock.hcl"));
        let mut command = Command::new(engine(name));
        command.args(["init", "-no-color", "-input=false"]).current_dir(folder.path().join("program"));
        // A proxy where nobody listens: whatever is not in the mirror is not to be had.
        command.env("TF_CLI_CONFIG_FILE", export).env("CHECKPOINT_DISABLE", "1");
        command.env("HTTPS_PROXY", "http://127.0.0.1:9").output().unwrap()
    };
    for name in ENGINES {
        let (said, _) = printed(&init(name), 0);
        assert!(said.contains("equiform/nimbus v2.3.4 (unauthenticated)"), "{said}");
    }
    let (list, _) = printed(&equiform(folder.path(), &["standin", "list"]), 0);
    insta::assert_snapshot!(list, @r"
    ADDRESS                                VERSION  PROTOCOL  OVERRIDES
    registry.opentofu.org/equiform/nimbus  2.3.4    6         no
    registry.terraform.io/equiform/nimbus  2.3.4    6         no
    ");
    let (removed, _) = printed(&equiform(folder.path(), &["standin", "remove", "equiform/nimbus"]), 0);
    assert_eq!(removed.lines().count(), 2, "{removed}");
    assert_eq!(init(ENGINES[0]).status.code(), Some(1));
    let (list, note) = printed(&equiform(folder.path(), &["standin", "list"]), 0);
    assert!(list.is_empty() && note.contains("`equiform standin install` puts one there"), "{list}{note}");
    printed(&equiform(folder.path(), &["standin", "remove", "equiform/nimbus"]), 2);
}

#[test]
fn the_version_is_taken_from_a_lock_file_the_schemas_name_or_thin_air_and_it_is_said_which() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "nimbus-3.0.1.json", &schema(NIMBUS, &[]));
    write(folder.path(), "a/schema.json", &schema(NIMBUS, &[]));
    write(folder.path(), "b/schema.json", &schema(NIMBUS, &[]));
    let lock = format!("provider \"{NIMBUS}\" {{\n  version = \"2.2.2\"\n}}\n");
    write(folder.path(), "b/.terraform.lock.hcl", &lock);
    for (file, version, why) in [
        ("nimbus-3.0.1.json", "3.0.1", "from the schema's file name"),
        ("a/schema.json", "99.0.0", "none was given, so it is 99.0.0"),
        ("b/schema.json", "2.2.2", "from b/.terraform.lock.hcl"),
    ] {
        let install = ["standin", "install", "--schema", file, "--as=equiform/nimbus", "--protocol=5"];
        let (said, _) = printed(&equiform(folder.path(), &install), 0);
        assert!(said.starts_with(&format!("equiform/nimbus {version} has a stand-in")), "{said}");
        assert!(said.contains(&format!("  version       {why}")), "{said}");
    }
    let (list, _) = printed(&equiform(folder.path(), &["standin", "list", "--format=json"]), 0);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 6);
    assert_eq!(list[0]["address"], "registry.opentofu.org/equiform/nimbus");
    assert_eq!((&list[0]["version"], &list[0]["protocol"]), (&"2.2.2".into(), &5.into()));
}

#[test]
fn what_cannot_be_served_is_refused_with_a_sentence_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |text: &str, address: &str, sentence: &str| {
        write(folder.path(), "schema.json", text);
        let install = ["standin", "install", "--schema=schema.json", "--as", address];
        let (said, error) = printed(&equiform(folder.path(), &install), 2);
        assert!(said.is_empty() && error.contains(sentence), "{said}{error}");
        assert!(!error.contains("panicked"), "{error}");
        assert!(!folder.path().join(".equiform").exists(), "{error}");
    };
    let good = schema(NIMBUS, &[("nimbus_network", &["cidr"])]);
    refused(&good, "equiform/stratus", "schema.json: there is no schema of equiform/stratus in it; it has");
    refused(&good, "../../etc", "cannot be part of a provider's address");
    refused(&good, "equiform/nimbus@new", "`new` is not a version");
    refused(&good[..good.len() - 3], "equiform/nimbus", "schema.json:1:");
    refused(
        &good.replace("1.0", "0.2"),
        "equiform/nimbus",
        "it has format 0.2, which Terraform 0.15 and 1.0 wrote",
    );
    refused("provider \"nimbus\" {}", "equiform/nimbus", "schema.json:1:1: expected value");
    refused(
        &good.replace("nimbus_network", "../x"),
        "equiform/nimbus",
        "`../x` cannot be the name of a type",
    );
    let deep = format!("{}\"string\"{}", "[\"set\",".repeat(10_000), "]".repeat(10_000));
    let deep = good.replacen("\"type\":\"string\"", &format!("\"type\":{deep}"), 1);
    refused(&deep, "equiform/nimbus", "nested deeper than any schema");
    refused(&" ".repeat(100_000_000), "equiform/nimbus", "more than any schema needs");
    write(folder.path(), "overrides.json", "[1]");
    let install =
        ["standin", "install", "--schema=good.json", "--as=equiform/nimbus", "--overrides=overrides.json"];
    write(folder.path(), "good.json", &good);
    let (_, error) = printed(&equiform(folder.path(), &install), 2);
    assert!(error.contains("overrides.json:1:0: overrides are a JSON object"), "{error}");
}
