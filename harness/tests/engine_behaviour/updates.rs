//! Updates in place.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_changed_label_updates_the_node_in_place,
        references_are_added_and_dropped_in_place,
        a_node_that_loses_its_dependency_is_updated_after_the_delete,
    ]
};

fn a_changed_label_updates_the_node_in_place(engine: &Engine) {
    let labelled = |label: &str| {
        format!(
            r#"
            resource "mock_node" "a" {{
              key   = "a"
              label = {label}
            }}
            resource "mock_node" "b" {{
              key  = "b"
              refs = [mock_node.a.id]
            }}
            "#
        )
    };
    let workspace = Workspace::with(engine, &labelled("\"one\""));
    workspace.apply();
    let id = workspace.ledger().id("a");
    for (label, revision) in [("\"two\"", 2), ("null", 3), ("\"\"", 4)] {
        workspace.write(&labelled(label));
        // The dependent holds the id, which stays: nothing is to be done about it.
        workspace.apply().are(&["update a"]);
        let ledger = workspace.ledger();
        assert_eq!((ledger.id("a"), ledger.revision("a")), (id.clone(), revision));
        assert_eq!(ledger.object("a")["label"].to_string(), label);
        assert_eq!(ledger.graph(), graph(&["a", "b"], &[("a", "b")]));
        workspace.plan_is_empty();
    }
}

fn references_are_added_and_dropped_in_place(engine: &Engine) {
    let referring = |refs: &str| {
        format!(
            r#"
            resource "mock_node" "a" {{
              key = "a"
            }}
            resource "mock_node" "b" {{
              key = "b"
            }}
            resource "mock_node" "c" {{
              key  = "c"
              refs = {refs}
            }}
            "#
        )
    };
    let nodes = &["a", "b", "c"];
    let workspace = Workspace::with(engine, &referring("[]"));
    workspace.apply();
    let id = workspace.ledger().id("c");
    let steps: [(&str, &[(&str, &str)]); 4] = [
        ("[mock_node.a.id, mock_node.b.id]", &[("a", "c"), ("b", "c")]),
        ("[mock_node.b.id]", &[("b", "c")]),
        ("[mock_node.a.id, mock_node.a.id]", &[("a", "c")]),
        ("null", &[]),
    ];
    for ((refs, edges), revision) in steps.into_iter().zip(2..) {
        workspace.write(&referring(refs));
        workspace.apply().are(&["update c"]);
        let ledger = workspace.ledger();
        assert_eq!((ledger.id("c"), ledger.revision("c")), (id.clone(), revision));
        assert_eq!(ledger.graph(), graph(nodes, edges));
        workspace.plan_is_empty();
    }
}

fn a_node_that_loses_its_dependency_is_updated_after_the_delete(engine: &Engine) {
    let workspace = Workspace::with(
        engine,
        r#"
        resource "mock_node" "a" {
          key = "a"
        }
        resource "mock_node" "b" {
          key  = "b"
          refs = [mock_node.a.id]
        }
        "#,
    );
    workspace.apply();
    workspace.write("resource \"mock_node\" \"b\" {\n  key = \"b\"\n}\n");
    let done = workspace.apply();
    done.are(&["delete a", "update b"]);
    done.delete("a").is_before(done.update("b"));
    assert_eq!(workspace.graph(), graph(&["b"], &[]));
    workspace.plan_is_empty();
}
