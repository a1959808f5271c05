//! A world that changes behind the engine's back.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        refresh_only_takes_drift_into_the_state,
        an_apply_takes_drift_back,
        an_object_deleted_by_someone_else_is_created_anew,
        destroying_what_is_gone_already_succeeds,
        updating_what_is_gone_already_is_told,
    ]
};

fn pair(label: &str) -> String {
    format!(
        r#"
        resource "mock_node" "a" {{
          key   = "a"
          label = "{label}"
        }}
        resource "mock_node" "b" {{
          key  = "b"
          refs = [mock_node.a.id]
        }}
        "#
    )
}

fn built(engine: &Engine) -> Workspace {
    let workspace = Workspace::with(engine, &pair("ours"));
    workspace.apply();
    workspace
}

fn refresh_only_takes_drift_into_the_state(engine: &Engine) {
    let workspace = built(engine);
    workspace.drift(&["label", "a", "theirs"]);
    let plan = workspace.run(&["plan", "-input=false", "-refresh-only", "-detailed-exitcode"]);
    plan.ended_with(2).clean().says("\"ours\" -> \"theirs\"");
    workspace.apply_with(&["-refresh-only"]).are(&[]);
    let state = workspace.run(&["state", "show", "mock_node.a"]);
    state.succeeded().says("label = \"theirs\"").says("revision = 2");
    workspace.write(&pair("theirs"));
    workspace.plan_is_empty();
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
}

fn an_apply_takes_drift_back(engine: &Engine) {
    let workspace = built(engine);
    workspace.drift(&["label", "a", "theirs"]);
    assert_eq!(workspace.ledger().label("a").as_deref(), Some("theirs"));
    workspace.apply().are(&["update a"]);
    let ledger = workspace.ledger();
    assert_eq!((ledger.label("a").as_deref(), ledger.revision("a")), (Some("ours"), 3));
    workspace.plan_is_empty();
}

fn an_object_deleted_by_someone_else_is_created_anew(engine: &Engine) {
    let workspace = built(engine);
    let id = workspace.ledger().id("a");
    workspace.drift(&["delete", "a"]);
    let plan = workspace.run(&["plan", "-input=false", "-detailed-exitcode"]);
    plan.ended_with(2).clean().says("Plan: 1 to add, 1 to change, 0 to destroy.");
    workspace.apply().are(&["create a", "update b"]);
    assert_ne!(workspace.ledger().id("a"), id);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn destroying_what_is_gone_already_succeeds(engine: &Engine) {
    let workspace = built(engine);
    workspace.drift(&["delete", "b"]);
    let done = workspace.watch(|| {
        workspace.run(&["destroy", "-input=false", "-auto-approve", "-refresh=false"]).succeeded();
    });
    done.are(&["failed delete b", "delete a"]);
    assert_eq!(workspace.graph(), graph(&[], &[]));
    assert!(workspace.state_list().is_empty());
}

fn updating_what_is_gone_already_is_told(engine: &Engine) {
    let workspace = built(engine);
    let id = workspace.ledger().id("b");
    workspace.drift(&["delete", "b"]);
    let changed = pair("ours").replace("key  = \"b\"", "key  = \"b\"\nlabel = \"new\"");
    workspace.write(&changed);
    let done = workspace.watch(|| {
        let apply = workspace.try_apply(&["-refresh=false"]);
        apply.ended_with(1).clean().says(&format!("The mock_node {id} is gone"));
    });
    done.are(&["failed update b"]);
    // The advice is to refresh.
    workspace.apply().are(&["create b"]);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}
