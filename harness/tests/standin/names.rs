//! Several stand-ins and our own provider in one program, and how their objects get their names.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use crate::{ENGINES, equiform, printed, schema, write};

const PROGRAM: &str = r#"
terraform {
  required_providers {
    nimbus = {
      source = "equiform/nimbus"
    }
    stratus = {
      source  = "example.org/team/stratus"
      version = ">= 1.2, < 2.0"
    }
    mock = {
      source = "equiform.test/equiform/mock"
    }
  }

  # No schema file says what a provider takes here.
  provider_meta "stratus" {
    team       = ["a", 1]
    user_agent = "program"
  }
}

resource "nimbus_network" "a" {
  cidr = "10.0.0.0/8"
}

resource "stratus_server" "b" {
  note = "in <${nimbus_network.a.id}>"
}

resource "mock_node" "c" {
  key  = "c"
  refs = [stratus_server.b.id]
}
"#;

/// The program in a folder, with the schemas that it needs.
fn program(folder: &Path) {
    write(folder, "p/main.tf", PROGRAM);
    let nimbus = schema("registry.opentofu.org/equiform/nimbus", &[("nimbus_network", &["cidr"])]);
    write(folder, "p/schema.json", &nimbus);
    let stratus = schema("example.org/team/stratus", &[("stratus_server", &["note"])]);
    write(folder, "store/team/stratus-1.9.0.json", &stratus);
}

fn graph(folder: &Path, state: &Path) -> (Json, String) {
    let ledger = folder.join("kept/equiform.ledger.jsonl");
    let [ledger, state] = [ledger.to_str().unwrap(), state.to_str().unwrap()];
    let arguments = ["ledger", "graph", ledger, "--state", state, "--format=json"];
    let (said, notes) = printed(&equiform(folder, &arguments), 0);
    (serde_json::from_str(&said).unwrap(), notes)
}

#[test]
fn stand_ins_and_our_own_provider_share_a_program_and_a_ledger() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        program(folder.path());
        let run = ["standin", "run", "p", "--schemas=store", "--keep=kept", "--engine", engine];
        let (said, _) = printed(&equiform(folder.path(), &run), 0);
        assert!(said.contains("equiform/nimbus 99.0.0 is a stand-in: 1 resources"), "{said}");
        assert!(said.contains("example.org/team/stratus 1.9.0 is a stand-in: 1 resources"), "{said}");
        assert!(said.contains("note=nimbus_network.a"), "{said}");
        let state = folder.path().join("kept/terraform.tfstate");
        let nodes = ["c", "nimbus_network.a", "stratus_server.b"];
        let edges = [["nimbus_network.a", "stratus_server.b"], ["stratus_server.b", "c"]];
        let (found, notes) = graph(folder.path(), &state);
        assert_eq!((found, notes.as_str()), (json!({ "nodes": nodes, "edges": edges }), ""));

        let ledger = fs::read_to_string(folder.path().join("kept/equiform.ledger.jsonl")).unwrap();
        for address in ["equiform/nimbus\"", "\"provider\":\"example.org/team/stratus\""] {
            assert!(ledger.contains(address), "{ledger}");
        }
        // By the name that it has in the state alone.
        let show = |more: &[&str]| {
            let all = ["ledger", "show", "kept/equiform.ledger.jsonl", "--phase=commit"];
            printed(&equiform(folder.path(), &[&all, more].concat()), 0).0
        };
        let server = show(&["--state=kept/terraform.tfstate", "--key=stratus_server.b"]);
        assert_eq!(server.lines().count(), 1, "{server}");
        assert!(server.contains("  create  commit  stratus_server.b  server-"), "{server}");
        let without = show(&[]);
        assert!(without.contains("  create  commit  stratus_server  server-"), "{without}");

        let page = folder.path().join("page.html");
        let report =
            ["ledger", "report", "kept/equiform.ledger.jsonl", "--state=kept/terraform.tfstate", "--out"];
        printed(&equiform(folder.path(), &[&report[..], &[page.to_str().unwrap()]].concat()), 0);
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains("\"stratus_server.b\"") && page.contains("\"nimbus_network.a\""));
    }
}

#[test]
fn a_state_that_tells_less_gives_names_that_are_less_certain_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path());
    let run = ["standin", "run", "p", "--schemas=store", "--keep=kept", "--engine", ENGINES[0]];
    printed(&equiform(folder.path(), &run), 0);
    let text = fs::read_to_string(folder.path().join("kept/terraform.tfstate")).unwrap();
    let mut state: Json = serde_json::from_str(&text).unwrap();
    for resource in state["resources"].as_array_mut().unwrap() {
        let is_network = resource["type"] == "nimbus_network";
        let instance = &mut resource["instances"][0];
        instance["private"] = "bm90IG91cnM=".into();
        if is_network {
            instance["attributes"]["id"] = "another".into();
        }
    }
    let less = write(folder.path(), "less.tfstate", &state.to_string());
    let (found, notes) = graph(folder.path(), &less);
    assert_eq!(found["nodes"], json!(["c", "nimbus_network.a", "stratus_server.b"]));
    let notes: Vec<&str> = notes.lines().collect();
    assert!(
        notes.iter().any(|note| note.starts_with("note: the name nimbus_network.a of network-")
            && note.ends_with(" is a guess: the only remaining object of its type")),
        "{notes:?}"
    );
    assert!(
        notes.iter().any(|note| note.starts_with("note: the name stratus_server.b of server-")
            && note.ends_with(" is likely, by its attribute `id`")),
        "{notes:?}"
    );

    let none =
        write(folder.path(), "none.tfstate", r#"{"version":4,"serial":1,"lineage":"x","resources":[]}"#);
    let (found, notes) = graph(folder.path(), &none);
    assert!(found["nodes"][1].as_str().unwrap().starts_with("network-"), "{found}");
    assert!(notes.contains(" of type nimbus_network has no address in the state"), "{notes}");
    let bad = write(folder.path(), "bad.tfstate", "[]");
    let show = ["ledger", "show", "kept/equiform.ledger.jsonl", "--state", bad.to_str().unwrap()];
    let (_, error) = printed(&equiform(folder.path(), &show), 2);
    assert!(error.contains("bad.tfstate: this is not a state of Terraform or OpenTofu"), "{error}");
}
