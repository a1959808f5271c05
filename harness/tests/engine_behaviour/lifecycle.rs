//! From nothing to something and back.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_program_is_valid_and_planning_it_does_nothing,
        an_apply_builds_the_graph_in_order,
        a_second_plan_is_empty,
        a_second_apply_writes_nothing,
        a_saved_plan_does_what_it_says,
        a_destroy_takes_dependents_first,
    ]
};

const CHAIN: &str = r#"
    resource "mock_node" "a" {
      key = "a"
    }
    resource "mock_node" "b" {
      key  = "b"
      refs = [mock_node.a.id]
    }
    resource "mock_node" "c" {
      key         = "c"
      label       = "last"
      refs        = [mock_node.b.id]
      pinned_refs = [mock_node.a.id]
    }
"#;

const EDGES: &[(&str, &str)] = &[("a", "b"), ("a", "c"), ("b", "c")];

fn a_program_is_valid_and_planning_it_does_nothing(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    workspace.run(&["validate"]).succeeded();
    let plan = workspace.run(&["plan", "-input=false", "-detailed-exitcode"]);
    plan.ended_with(2).clean().says("Plan: 3 to add, 0 to change, 0 to destroy.");
    assert_eq!(workspace.ledger().last_seq(), 0);
}

fn an_apply_builds_the_graph_in_order(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    let done = workspace.apply();
    done.are(&["create a", "create b", "create c"]);
    done.create("a").is_before(done.create("b"));
    done.create("b").is_before(done.create("c"));
    assert_eq!(workspace.graph(), graph(&["a", "b", "c"], EDGES));
    assert_eq!(workspace.ledger().revision("c"), 1);
}

fn a_second_plan_is_empty(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    workspace.apply();
    workspace.plan_is_empty();
}

fn a_second_apply_writes_nothing(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    workspace.apply();
    workspace.apply().are(&[]);
    assert_eq!(workspace.graph(), graph(&["a", "b", "c"], EDGES));
}

fn a_saved_plan_does_what_it_says(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    workspace.run(&["plan", "-input=false", "-out=saved"]).succeeded();
    // Plans are also read by machines.
    workspace.run(&["show", "-json", "saved"]).succeeded();
    let done = workspace.watch(|| {
        workspace.run(&["apply", "-input=false", "saved"]).succeeded();
    });
    done.are(&["create a", "create b", "create c"]);
    assert_eq!(workspace.graph(), graph(&["a", "b", "c"], EDGES));
}

fn a_destroy_takes_dependents_first(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    workspace.apply();
    let done = workspace.destroy();
    done.are(&["delete a", "delete b", "delete c"]);
    done.delete("c").is_before(done.delete("b"));
    done.delete("b").is_before(done.delete("a"));
}
