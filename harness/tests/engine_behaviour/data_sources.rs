//! Reading what is there.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_data_source_finds_a_node_by_its_key,
        a_data_source_that_waits_for_its_node_finds_it,
        a_key_that_nobody_has_is_told,
    ]
};

fn a_data_source_finds_a_node_by_its_key(engine: &Engine) {
    let workspace =
        Workspace::with(engine, "resource \"mock_node\" \"a\" {\n  key = \"a\"\n  label = \"x\"\n}\n");
    workspace.apply();
    let program = r#"
        resource "mock_node" "a" {
          key   = "a"
          label = "x"
        }
        data "mock_node" "found" {
          key = "a"
        }
        resource "mock_node" "b" {
          key   = "b"
          label = data.mock_node.found.label
          refs  = [data.mock_node.found.id]
        }
        output "revision" {
          value = data.mock_node.found.revision
        }
    "#;
    workspace.write(program);
    workspace.apply().are(&["create b"]);
    let ledger = workspace.ledger();
    assert_eq!(ledger.graph(), graph(&["a", "b"], &[("a", "b")]));
    assert_eq!(ledger.label("b").as_deref(), Some("x"));
    assert_eq!(workspace.run(&["output", "revision"]).succeeded().stdout, "1\n");
    workspace.plan_is_empty();
}

fn a_data_source_that_waits_for_its_node_finds_it(engine: &Engine) {
    let workspace = Workspace::with(
        engine,
        r#"
        resource "mock_node" "a" {
          key = "a"
        }
        data "mock_node" "found" {
          key        = "a"
          depends_on = [mock_node.a]
        }
        resource "mock_node" "b" {
          key  = "b"
          refs = [data.mock_node.found.id]
        }
        "#,
    );
    let done = workspace.apply();
    done.are(&["create a", "create b"]);
    done.create("a").is_before(done.create("b"));
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn a_key_that_nobody_has_is_told(engine: &Engine) {
    let workspace = Workspace::with(engine, "data \"mock_node\" \"it\" {\n  key = \"nobody\"\n}\n");
    let plan = workspace.run(&["plan", "-input=false"]);
    plan.ended_with(1)
        .clean()
        .says("There is no mock_node with the key \"nobody\"")
        .says("has no such object. `equiform ledger world FILE` lists the existing ones.")
        // The engine shows the line that is at fault.
        .says("key = \"nobody\"");
}
