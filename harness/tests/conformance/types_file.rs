//! The families for types of the user's own: what is only written, what is sensitive, what is renewed, what is listed.

use std::fs;

use equiform_proto::ledger::Operation;
use serde_json::{Value, json};

use crate::lab::{Lab, Protocol, Rule, rules};
use crate::needs::{actions_and_lists, ephemeral_resources, everywhere, write_only_attributes};

pub const ALL: &[Rule] = rules! {
    everywhere => [
        what_is_sensitive_stands_in_the_state_and_never_in_the_ledger,
        nested_attributes_deploy_and_change_over_both_protocols,
    ],
    write_only_attributes => [what_is_only_written_stands_nowhere_and_changes_nothing],
    ephemeral_resources => [an_ephemeral_type_is_renewed_when_it_says_so],
    actions_and_lists => [a_type_that_can_be_listed_is_listed_by_its_ids]
};

const APPLY: &[&str] = &["apply", "-input=false", "-auto-approve"];

fn types(lab: &Lab) {
    let types = json!({
        "equiform_types": 1,
        "resources": {"mock_vault": {"attributes": {
            "id": {"type": "string", "computed": "id"},
            "name": {"type": "string", "required": true},
            "password": {"type": "string", "optional": true, "sensitive": true},
            "secret": {"type": "string", "optional": true, "write_only": true},
            "secret_version": {"type": "number", "optional": true},
        }}, "mock_rack": {"attributes": {
            "name": {"type": "string", "required": true},
            "slots": {"optional": true, "nested": {"nesting": "list", "attributes": {
                "size": {"type": "number", "required": true},
                "serial": {"type": "string", "optional": true, "computed": true},
            }}},
        }}},
        "ephemeral": {"mock_lease": {"renew_after_ms": 50, "attributes": {
            "of": {"type": "string", "required": true},
            "password": {"type": "string", "computed": true, "sensitive": true},
        }}},
        "lists": ["mock_vault"],
    });
    lab.write_file("equiform.types.json", &types.to_string());
}

/// What stands on the disk after a command.
fn written(lab: &Lab) -> [String; 3] {
    ["terraform.tfstate", "equiform.ledger.jsonl", "rpcs"]
        .map(|file| fs::read_to_string(lab.path(file)).unwrap())
}

fn what_is_sensitive_stands_in_the_state_and_never_in_the_ledger(lab: &Lab) {
    types(lab);
    let vault = |password: &str| {
        format!("resource \"mock_vault\" \"v\" {{\n  name     = \"v\"\n  password = \"{password}\"\n}}\n")
    };
    lab.start(&vault("hunter2"));
    lab.calls_of(APPLY).include(&["ApplyResourceChange"]);
    lab.calls_of(&["plan", "-input=false", "-detailed-exitcode"]);
    lab.write(&vault("hunter3"));
    let calls = lab.calls_of(APPLY);
    assert_eq!(calls.of("ApplyResourceChange"), 1, "{calls:?}");
    let [state, ledger, rpcs] = written(lab);
    assert!(state.contains("hunter3") && !ledger.contains("hunter") && !rpcs.contains("hunter"), "{ledger}");
    lab.calls_of(&["destroy", "-input=false", "-auto-approve"]);
}

fn nested_attributes_deploy_and_change_over_both_protocols(lab: &Lab) {
    types(lab);
    // Protocol 5 has the slots as plain objects, all of which a program has to name.
    let rack = |sizes: &[u32]| {
        let slots: Vec<_> = sizes.iter().map(|size| format!("{{ size = {size}, serial = null }}")).collect();
        format!("resource \"mock_rack\" \"r\" {{\n  name  = \"r\"\n  slots = [{}]\n}}\n", slots.join(", "))
    };
    lab.start(&rack(&[1, 2]));
    lab.calls_of(APPLY);
    lab.calls_of(&["plan", "-input=false", "-detailed-exitcode"]);
    lab.write(&rack(&[1, 3, 4]));
    assert_eq!(lab.calls_of(APPLY).of("ApplyResourceChange"), 1);
    let state: Value = serde_json::from_str(&written(lab)[0]).unwrap();
    let slots = &state["resources"][0]["instances"][0]["attributes"]["slots"];
    assert_eq!((&slots[1]["size"], slots.as_array().unwrap().len()), (&json!(3), 3));
    // What is computed within a value is computed over protocol 6 alone.
    assert_eq!(slots[0]["serial"].is_string(), lab.protocol() == Protocol::Six, "{slots}");
    lab.calls_of(&["destroy", "-input=false", "-auto-approve"]);
}

fn what_is_only_written_stands_nowhere_and_changes_nothing(lab: &Lab) {
    types(lab);
    let vault = |secret: &str, version: u32| {
        format!(
            "resource \"mock_vault\" \"v\" {{\n  name           = \"v\"\n  secret         = {secret}\n  \
             secret_version = {version}\n}}\nephemeral \"mock_ticket\" \"t\" {{\n  key = \"t\"\n}}\n"
        )
    };
    lab.start(&vault("\"hunter2\"", 1));
    lab.calls_of(APPLY);
    // Another secret alone is no change: nobody knows the one before.
    lab.write(&vault("\"hunter3\"", 1));
    assert_eq!(lab.calls_of(APPLY).of("ApplyResourceChange"), 0);
    // And what lives no longer than a command may be written too.
    lab.write(&vault("ephemeral.mock_ticket.t.token", 2));
    assert_eq!(lab.calls_of(APPLY).of("ApplyResourceChange"), 1);
    for text in written(lab) {
        assert!(!text.contains("hunter") && !text.contains("token-"), "{text}");
    }
    let state: Value = serde_json::from_str(&written(lab)[0]).unwrap();
    let vault =
        &state["resources"].as_array().unwrap().iter().find(|one| one["type"] == "mock_vault").unwrap();
    assert_eq!(vault["instances"][0]["attributes"]["secret"], Value::Null);
}

fn an_ephemeral_type_is_renewed_when_it_says_so(lab: &Lab) {
    types(lab);
    lab.start(
        r#"
        ephemeral "mock_lease" "l" {
          of = "vault"
        }
        provider "mock" {
          alias = "with_lease"
          run   = ephemeral.mock_lease.l.of
        }
        provider "mock" {}
        resource "mock_node" "a" {
          provider = mock.with_lease
          key      = "a"
        }
        "#,
    );
    let calls = lab.calls(|| {
        let mut command = lab.command(APPLY);
        command.env("EQUIFORM_HOLD", "1s");
        lab.finish(command).succeeded();
    });
    calls.include(&["OpenEphemeralResource", "RenewEphemeralResource", "CloseEphemeralResource"]);
    let ledger = lab.ledger();
    let of = |op| {
        let leases = ledger.entries().iter().filter(move |entry| entry.op == op);
        leases.filter(|entry| entry.type_name.as_deref() == Some("mock_lease")).count()
    };
    assert!(of(Operation::Renew) > 1 && of(Operation::Open) == of(Operation::Close));
}

fn a_type_that_can_be_listed_is_listed_by_its_ids(lab: &Lab) {
    types(lab);
    lab.start("resource \"mock_vault\" \"v\" {\n  count = 2\n  name  = \"vault-${count.index}\"\n}\n");
    lab.calls_of(APPLY);
    let query = "list \"mock_vault\" \"all\" {\n  provider         = mock\n  include_resource = true\n}\n";
    lab.write_file("all.tfquery.hcl", query);
    let mut said = String::new();
    let calls = lab.calls(|| said = lab.run(&["query"]).succeeded().stdout.clone());
    calls.include(&["ListResource"]);
    assert!(said.contains("vault-0") && said.contains("vault-1"), "{said}");
}
