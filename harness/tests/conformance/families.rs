//! What is not plan and apply: data sources, imports, moves, stopping, functions, ephemeral resources, lists, actions,
//! generated configuration.

use std::fs;

use equiform_proto::ledger::{Operation, Phase};

use crate::lab::{Lab, Rule, rules};
use crate::needs::{actions_and_lists, ephemeral_resources, everywhere, functions, moves_between_providers};
use crate::support::graph;
use crate::support::process::{Running, TIMEOUT, wait_until};

pub const ALL: &[Rule] = rules! {
    everywhere => [
        a_data_source_is_validated_and_read,
        an_object_is_imported_and_read,
        a_stop_cancels_what_is_in_flight_and_ends_nothing,
    ],
    moves_between_providers => [state_moves_to_a_provider_with_another_address],
    functions => [
        a_function_is_called_with_its_arguments,
        a_function_that_refuses_an_argument_says_which,
    ],
    ephemeral_resources => [
        an_ephemeral_resource_is_opened_and_closed_in_every_command_and_kept_nowhere,
        an_ephemeral_resource_is_renewed_while_it_is_needed,
    ],
    actions_and_lists => [
        an_action_is_planned_and_invoked_with_progress,
        an_action_that_fails_is_told,
        a_query_lists_what_is_in_the_world,
        configuration_is_generated_for_what_is_imported,
    ]
};

const APPLY: &[&str] = &["apply", "-input=false", "-auto-approve"];
const NODE: &str = "resource \"mock_node\" \"a\" {\n  key   = \"a\"\n  label = \"made\"\n}\n";

fn a_data_source_is_validated_and_read(lab: &Lab) {
    let read = "data \"mock_node\" \"d\" {\n  key = mock_node.a.key\n}\n";
    let shown = "output \"label\" {\n  value = data.mock_node.d.label\n}\n";
    lab.start(&format!("{NODE}{read}{shown}"));
    lab.calls_of(APPLY).include(&["ValidateDataResourceConfig", "ReadDataSource"]);
    assert_eq!(lab.run(&["output", "-raw", "label"]).succeeded().stdout, "made");
}

fn an_object_is_imported_and_read(lab: &Lab) {
    lab.start(NODE);
    lab.calls_of(APPLY);
    fs::remove_file(lab.path("terraform.tfstate")).unwrap();
    lab.calls_of(&["import", "-input=false", "mock_node.a", "a"])
        .include(&["ImportResourceState", "ReadResource"]);
    lab.plan_is_empty();
}

fn a_stop_cancels_what_is_in_flight_and_ends_nothing(lab: &Lab) {
    lab.start(&format!(
        "{NODE}resource \"mock_node\" \"b\" {{\n  key  = \"b\"\n  refs = [mock_node.a.id]\n}}\n"
    ));
    let calls = lab.calls(|| {
        let mut command = lab.command(APPLY);
        let running = Running::start(command.env("EQUIFORM_HOLD", "3600s"));
        let begun = || {
            fs::read_to_string(lab.ledger_path())
                .ok()?
                .contains(r#""op":"create","phase":"begin""#)
                .then_some(())
        };
        wait_until(TIMEOUT, begun).expect("the change arrives at the provider");
        running.signal(libc::SIGINT);
        running.wait().ended_with(1).clean();
    });
    calls.include(&["StopProvider"]);
    // What had begun came to its end, and what had not never did.
    assert_eq!(lab.graph(), graph(&["a"], &[]));
}

const MOVED: &str = r#"
    terraform {
      required_providers {
        mock = {
          source = "equiform.test/equiform/mock"
        }
        other = {
          source = "equiform.test/other/mock"
        }
      }
    }
    resource "mock_node" "renamed" {
      provider = other
      key      = "a"
      label    = "made"
    }
    moved {
      from = mock_node.a
      to   = mock_node.renamed
    }
"#;

fn state_moves_to_a_provider_with_another_address(lab: &Lab) {
    lab.start(NODE);
    lab.calls_of(APPLY);
    lab.write_file("main.tf", MOVED);
    lab.init();
    let calls = lab.calls_of(APPLY);
    calls.include(&["MoveResourceState"]);
    assert_eq!(calls.of("ApplyResourceChange"), 0, "{calls:?}");
    lab.plan_is_empty();
}

fn a_function_is_called_with_its_arguments(lab: &Lab) {
    lab.start("output \"key\" {\n  value = provider::mock::graph_key(\"net\", \"7\")\n}\n");
    lab.calls_of(APPLY).include(&["CallFunction"]);
    assert_eq!(lab.run(&["output", "-raw", "key"]).succeeded().stdout, "net.7");
    // What a function gives is no secret and no operation: the ledger has nothing of it.
    assert!(lab.ledger().entries().iter().all(|entry| entry.op == Operation::Configure));
}

fn a_function_that_refuses_an_argument_says_which(lab: &Lab) {
    lab.start("output \"key\" {\n  value = provider::mock::graph_key(\"net\", \"a.b\")\n}\n");
    let calls = lab.calls(|| {
        let refused = lab.run(&["plan", "-input=false"]);
        refused.ended_with(1).clean().says("A part of a key must not contain a dot");
    });
    calls.include(&["CallFunction"]);
}

const TICKET: &str = r#"
    ephemeral "mock_ticket" "t" {
      key            = "t"
      renew_after_ms = 50
    }
    provider "mock" {
      alias = "with_ticket"
      run   = ephemeral.mock_ticket.t.id
    }
    provider "mock" {}
    resource "mock_node" "a" {
      provider = mock.with_ticket
      key      = "a"
    }
"#;

/// What was done to tickets since an entry.
fn tickets(lab: &Lab, since: u64) -> Vec<(Operation, String)> {
    let ledger = lab.ledger();
    let entries = ledger.entries().iter().filter(|entry| entry.seq > since);
    let tickets = entries.filter(|entry| entry.mode.as_deref() == Some("ephemeral"));
    let told = |entry: &equiform_proto::ledger::Entry| {
        assert_eq!((entry.type_name.as_deref(), entry.key.as_deref()), (Some("mock_ticket"), Some("t")));
        assert!(entry.after.is_none() && entry.phase == Phase::Commit);
        (entry.op, entry.id.clone().unwrap())
    };
    tickets.map(told).collect()
}

fn an_ephemeral_resource_is_opened_and_closed_in_every_command_and_kept_nowhere(lab: &Lab) {
    lab.start(TICKET);
    let calls = lab.calls_of(&["plan", "-input=false"]);
    calls.include(&["ValidateEphemeralResourceConfig", "OpenEphemeralResource", "CloseEphemeralResource"]);
    let planned = tickets(lab, 0);
    assert_eq!((planned[0].0, planned.last().unwrap().0), (Operation::Open, Operation::Close));
    lab.calls_of(APPLY);
    let all = tickets(lab, 0);
    // Whatever was opened was closed, and each opening has an id of its own.
    let ids = |op| {
        let mut ids: Vec<_> = all.iter().filter(|one| one.0 == op).map(|(_, id)| id).collect();
        ids.sort();
        ids
    };
    assert_eq!(ids(Operation::Open), ids(Operation::Close));
    let mut different = ids(Operation::Open);
    different.dedup();
    assert_eq!(different.len(), ids(Operation::Open).len());
    for file in ["terraform.tfstate", "equiform.ledger.jsonl"] {
        let text = fs::read_to_string(lab.path(file)).unwrap();
        assert!(!text.contains("token-"), "{file} has the secret: {text}");
    }
}

fn an_ephemeral_resource_is_renewed_while_it_is_needed(lab: &Lab) {
    lab.start(TICKET);
    let calls = lab.calls(|| {
        let mut command = lab.command(APPLY);
        command.env("EQUIFORM_HOLD", "1s");
        lab.finish(command).succeeded();
    });
    calls.include(&["RenewEphemeralResource"]);
    let tickets = tickets(lab, 0);
    let renewed = tickets.iter().filter(|one| one.0 == Operation::Renew);
    assert!(renewed.clone().count() > 1, "{tickets:?}");
    assert!(
        renewed.clone().all(|one| tickets.iter().any(|open| open.0 == Operation::Open && open.1 == one.1))
    );
}

fn touching(key: &str, times: u32) -> String {
    format!(
        r#"
        resource "mock_node" "a" {{
          key = "a"
          lifecycle {{
            action_trigger {{
              events  = [after_create]
              actions = [action.mock_touch.t]
            }}
          }}
        }}
        action "mock_touch" "t" {{
          config {{
            key   = {key:?}
            times = {times}
          }}
        }}
        "#
    )
}

fn an_action_is_planned_and_invoked_with_progress(lab: &Lab) {
    lab.start(&touching("a", 3));
    let mut said = String::new();
    let calls = lab.calls(|| said = lab.run(APPLY).succeeded().stdout.clone());
    calls.include(&["ValidateActionConfig", "PlanAction", "InvokeAction"]);
    for time in 1..=3 {
        assert!(said.contains(&format!("touched a, {time} of 3")), "{said}");
    }
    let ledger = lab.ledger();
    assert_eq!(ledger.revision("a"), 4);
    let invoked: Vec<_> = ledger.entries().iter().filter(|entry| entry.op == Operation::Invoke).collect();
    assert_eq!((invoked.len(), invoked[0].phase, invoked[1].phase), (2, Phase::Begin, Phase::Commit));
    lab.calls_of(&["plan", "-input=false", "-detailed-exitcode"]);
}

fn an_action_that_fails_is_told(lab: &Lab) {
    lab.start(&touching("nobody", 1));
    let calls = lab.calls(|| {
        lab.run(APPLY).ended_with(1).clean().says("There is no mock_node with the key \"nobody\"");
    });
    calls.include(&["InvokeAction"]);
    let ledger = lab.ledger();
    let failed =
        ledger.entries().iter().find(|entry| entry.op == Operation::Invoke && entry.phase == Phase::Fail);
    assert_eq!(failed.unwrap().key.as_deref(), Some("nobody"));
}

fn a_query_lists_what_is_in_the_world(lab: &Lab) {
    let keys = r#"toset(["a1", "a2", "b1"])"#;
    lab.start(&format!("resource \"mock_node\" \"n\" {{\n  for_each = {keys}\n  key      = each.key\n}}\n"));
    lab.calls_of(APPLY);
    let list = |limit: u32| {
        format!(
            "list \"mock_node\" \"all\" {{\n  provider         = mock\n  include_resource = true\n  limit            = \
             {limit}\n  config {{\n    key_prefix = \"a\"\n  }}\n}}\n"
        )
    };
    lab.write_file("all.tfquery.hcl", &list(10));
    let mut said = String::new();
    let calls = lab.calls(|| said = lab.run(&["query"]).succeeded().stdout.clone());
    calls.include(&["ValidateListResourceConfig", "ListResource"]);
    assert!(said.contains("a1") && said.contains("a2") && !said.contains("b1"), "{said}");
    lab.write_file("all.tfquery.hcl", &list(1));
    let said = lab.run(&["query"]).succeeded().stdout.clone();
    assert!(said.contains("a1") != said.contains("a2"), "{said}");
    let ledger = lab.ledger();
    let lists = ledger.entries().iter().filter(|entry| entry.op == Operation::List);
    assert_eq!(lists.filter_map(|entry| entry.note.as_deref()).collect::<Vec<_>>(), ["2 found", "1 found"]);
}

fn configuration_is_generated_for_what_is_imported(lab: &Lab) {
    lab.start(NODE);
    lab.calls_of(APPLY);
    fs::remove_file(lab.path("terraform.tfstate")).unwrap();
    lab.write("import {\n  to = mock_node.a\n  id = \"a\"\n}\n");
    let owed = ["Warning: Config generation is experimental"];
    let calls = lab.calls(|| {
        lab.run(&["plan", "-input=false", "-generate-config-out=made.tf"]).ended_with(0).clean_but_for(&owed);
    });
    calls.include(&["GenerateResourceConfig"]);
    let made = fs::read_to_string(lab.path("made.tf")).unwrap();
    assert!(made.contains("\"made\"") && !made.contains("revision") && !made.contains("node-"), "{made}");
    let done = lab.watch(|| drop(lab.calls_of(APPLY)));
    done.are(&[]);
}
