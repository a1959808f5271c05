//! Edges that leave no value: there the order of operations is all the evidence.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        depends_on_alone_orders_creates_and_deletes,
        an_edge_that_only_the_state_knows_orders_deletes,
    ]
};

/// A chain of four by `depends_on`, written in an order that would be wrong.
const CHAIN: &str = r#"
    resource "mock_node" "d" {
      key        = "d"
      depends_on = [mock_node.c]
    }
    resource "mock_node" "b" {
      key        = "b"
      depends_on = [mock_node.a]
    }
    resource "mock_node" "c" {
      key        = "c"
      depends_on = [mock_node.b]
    }
    resource "mock_node" "a" {
      key = "a"
    }
"#;

fn depends_on_alone_orders_creates_and_deletes(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    let done = workspace.apply();
    done.are(&["create a", "create b", "create c", "create d"]);
    for (first, then) in [("a", "b"), ("b", "c"), ("c", "d")] {
        done.create(first).is_before(done.create(then));
    }
    assert_eq!(workspace.graph(), graph(&["a", "b", "c", "d"], &[]));
    let done = workspace.destroy();
    done.are(&["delete a", "delete b", "delete c", "delete d"]);
    for (first, then) in [("d", "c"), ("c", "b"), ("b", "a")] {
        done.delete(first).is_before(done.delete(then));
    }
}

fn an_edge_that_only_the_state_knows_orders_deletes(engine: &Engine) {
    let workspace = Workspace::with(engine, CHAIN);
    workspace.apply();
    workspace.write("");
    let done = workspace.apply();
    done.are(&["delete a", "delete b", "delete c", "delete d"]);
    for (first, then) in [("d", "c"), ("c", "b"), ("b", "a")] {
        done.delete(first).is_before(done.delete(then));
    }
}
