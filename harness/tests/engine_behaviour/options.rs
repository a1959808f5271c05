//! The same goal, reached by other options of the command line.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_target_is_built_with_what_it_depends_on,
        a_target_is_destroyed_with_what_depends_on_it,
        replace_makes_a_new_object_and_updates_its_dependent,
    ]
};

const FORK: &str = r#"
    resource "mock_node" "a" {
      key = "a"
    }
    resource "mock_node" "b" {
      key  = "b"
      refs = [mock_node.a.id]
    }
    resource "mock_node" "c" {
      key  = "c"
      refs = [mock_node.b.id]
    }
    resource "mock_node" "aside" {
      key = "aside"
    }
"#;

/// What engines say to whoever uses `-target`.
const OWED: &[&str] =
    &["Warning: Resource targeting is in effect", "Warning: Applied changes may be incomplete"];

fn a_target_is_built_with_what_it_depends_on(engine: &Engine) {
    let workspace = Workspace::with(engine, FORK);
    let done = workspace.watch(|| {
        workspace.try_apply(&["-target=mock_node.b"]).ended_with(0).clean_but_for(OWED);
    });
    done.are(&["create a", "create b"]);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.apply().are(&["create c", "create aside"]);
    assert_eq!(workspace.graph(), graph(&["a", "aside", "b", "c"], &[("a", "b"), ("b", "c")]));
}

fn a_target_is_destroyed_with_what_depends_on_it(engine: &Engine) {
    let workspace = Workspace::with(engine, FORK);
    workspace.apply();
    let done = workspace.watch(|| {
        let arguments = ["destroy", "-input=false", "-auto-approve", "-target=mock_node.b"];
        workspace.run(&arguments).ended_with(0).clean_but_for(OWED);
    });
    done.are(&["delete c", "delete b"]);
    done.delete("c").is_before(done.delete("b"));
    assert_eq!(workspace.graph(), graph(&["a", "aside"], &[]));
}

fn replace_makes_a_new_object_and_updates_its_dependent(engine: &Engine) {
    let workspace = Workspace::with(engine, FORK);
    workspace.apply();
    let before = workspace.ledger();
    let done = workspace.apply_with(&["-replace=mock_node.a"]);
    done.are(&["delete a", "create a", "update b"]);
    done.delete("a").is_before(done.create("a"));
    let ledger = workspace.ledger();
    assert_ne!(ledger.id("a"), before.id("a"));
    assert_eq!((ledger.id("b"), ledger.revision("b")), (before.id("b"), 2));
    assert_eq!(ledger.graph(), before.graph());
    workspace.plan_is_empty();
}
