//! Replacements, in both orders.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_replacement_deletes_before_it_creates,
        create_before_destroy_creates_before_it_deletes,
        a_changed_pinned_reference_replaces_the_node,
        a_dependent_with_a_pinned_reference_is_replaced_too,
        a_dependent_with_a_pinned_reference_is_replaced_too_under_create_before_destroy,
        a_changed_key_replaces_the_node,
    ]
};

/// `b` refers to `a` by an attribute; `a` has a pin, and a line in its lifecycle block.
fn pair(pin: &str, lifecycle: &str, by: &str) -> String {
    format!(
        r#"
        resource "mock_node" "a" {{
          key = "a"
          pin = "{pin}"
          lifecycle {{
            {lifecycle}
          }}
        }}
        resource "mock_node" "b" {{
          key = "b"
          {by} = [mock_node.a.id]
        }}
        "#
    )
}

const CREATE_FIRST: &str = "create_before_destroy = true";

fn a_replacement_deletes_before_it_creates(engine: &Engine) {
    let workspace = Workspace::with(engine, &pair("one", "", "refs"));
    workspace.apply();
    let before = workspace.ledger();
    workspace.write(&pair("two", "", "refs"));
    let done = workspace.apply();
    done.are(&["delete a", "create a", "update b"]);
    done.delete("a").is_before(done.create("a"));
    done.create("a").is_before(done.update("b"));
    let ledger = workspace.ledger();
    assert_eq!(ledger.graph(), graph(&["a", "b"], &[("a", "b")]));
    assert_ne!(ledger.id("a"), before.id("a"));
    assert_eq!((ledger.revision("a"), ledger.id("b"), ledger.revision("b")), (1, before.id("b"), 2));
    workspace.plan_is_empty();
}

fn create_before_destroy_creates_before_it_deletes(engine: &Engine) {
    let workspace = Workspace::with(engine, &pair("one", CREATE_FIRST, "refs"));
    workspace.apply();
    let before = workspace.ledger();
    workspace.write(&pair("two", CREATE_FIRST, "refs"));
    let done = workspace.apply();
    done.are(&["create a", "update b", "delete a"]);
    done.create("a").is_before(done.update("b"));
    done.update("b").is_before(done.delete("a"));
    assert_eq!(done.delete("a").id, before.id("a"));
    let ledger = workspace.ledger();
    assert_eq!(ledger.graph(), graph(&["a", "b"], &[("a", "b")]));
    assert_eq!(ledger.id("a"), done.create("a").id);
    assert_eq!((ledger.id("b"), ledger.revision("b")), (before.id("b"), 2));
    workspace.plan_is_empty();
}

fn a_changed_pinned_reference_replaces_the_node(engine: &Engine) {
    let pinned_to = |node: &str| {
        format!(
            r#"
            resource "mock_node" "a" {{
              key = "a"
            }}
            resource "mock_node" "b" {{
              key = "b"
            }}
            resource "mock_node" "c" {{
              key         = "c"
              pinned_refs = [mock_node.{node}.id]
            }}
            "#
        )
    };
    let workspace = Workspace::with(engine, &pinned_to("a"));
    workspace.apply();
    workspace.write(&pinned_to("b"));
    let done = workspace.apply();
    done.are(&["delete c", "create c"]);
    done.delete("c").is_before(done.create("c"));
    assert_eq!(workspace.graph(), graph(&["a", "b", "c"], &[("b", "c")]));
    workspace.plan_is_empty();
}

fn a_dependent_with_a_pinned_reference_is_replaced_too(engine: &Engine) {
    let workspace = Workspace::with(engine, &pair("one", "", "pinned_refs"));
    workspace.apply();
    workspace.write(&pair("two", "", "pinned_refs"));
    let done = workspace.apply();
    done.are(&["delete b", "delete a", "create a", "create b"]);
    done.delete("b").is_before(done.delete("a"));
    done.delete("a").is_before(done.create("a"));
    done.create("a").is_before(done.create("b"));
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn a_dependent_with_a_pinned_reference_is_replaced_too_under_create_before_destroy(engine: &Engine) {
    // Asked for on the dependent, it spreads to what that depends on.
    let program = |pin: &str| {
        let lifecycle = format!("key = \"b\"\nlifecycle {{\n{CREATE_FIRST}\n}}");
        pair(pin, "", "pinned_refs").replace("key = \"b\"", &lifecycle)
    };
    let workspace = Workspace::with(engine, &program("one"));
    workspace.apply();
    workspace.write(&program("two"));
    let done = workspace.apply();
    done.are(&["create a", "create b", "delete b", "delete a"]);
    done.create("a").is_before(done.create("b"));
    done.create("b").is_before(done.delete("b"));
    done.delete("b").is_before(done.delete("a"));
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn a_changed_key_replaces_the_node(engine: &Engine) {
    for (lifecycle, creates_first) in [("", false), (CREATE_FIRST, true)] {
        let workspace = Workspace::with(engine, &pair("one", lifecycle, "refs"));
        workspace.apply();
        workspace
            .write(&pair("one", lifecycle, "refs").replace("\"a\"\n          pin", "\"z\"\n          pin"));
        let done = workspace.apply();
        done.are(&["delete a", "create z", "update b"]);
        match creates_first {
            false => done.delete("a").is_before(done.create("z")),
            true => done.create("z").is_before(done.delete("a")),
        }
        assert_eq!(workspace.graph(), graph(&["b", "z"], &[("z", "b")]));
        workspace.plan_is_empty();
    }
}
