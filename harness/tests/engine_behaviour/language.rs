//! Other ways to write the same graph.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_sensitive_value_is_hidden_and_works,
        what_is_known_of_an_unknown_value_does_not_bind_the_provider,
        for_each_count_and_modules_make_one_graph_of_twenty_nodes,
    ]
};

fn a_sensitive_value_is_hidden_and_works(engine: &Engine) {
    let program = |secret: &str| {
        format!(
            r#"
            resource "mock_node" "a" {{
              key   = "a"
              label = sensitive("{secret}")
            }}
            resource "mock_node" "b" {{
              key  = "b"
              refs = [mock_node.a.id]
            }}
            "#
        )
    };
    let workspace = Workspace::with(engine, &program("hunter2"));
    let plan = workspace.run(&["plan", "-input=false"]);
    plan.succeeded().says("label = (sensitive value)");
    assert!(!plan.stdout.contains("hunter2"), "{plan}");
    workspace.apply();
    workspace.plan_is_empty();
    workspace.write(&program("hunter3"));
    workspace.apply().are(&["update a"]);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

/// Engines tell a provider what they know of a value that is yet to come: its prefix, its length, that it is not null.
fn what_is_known_of_an_unknown_value_does_not_bind_the_provider(engine: &Engine) {
    let workspace = Workspace::with(
        engine,
        r#"
        resource "mock_node" "a" {
          key = "a"
        }
        resource "mock_node" "b" {
          key   = "b"
          label = "made for ${mock_node.a.id}"
          pin   = coalesce(mock_node.a.label, mock_node.a.id)
          refs  = [for n in range(mock_node.a.revision) : mock_node.a.id]
        }
        resource "mock_node" "c" {
          key  = "c"
          refs = mock_node.b.refs
        }
        "#,
    );
    workspace.apply().are(&["create a", "create b", "create c"]);
    let ledger = workspace.ledger();
    assert_eq!(ledger.graph(), graph(&["a", "b", "c"], &[("a", "b"), ("a", "c")]));
    assert_eq!(ledger.label("b"), Some(format!("made for {}", ledger.id("a"))));
    workspace.plan_is_empty();
}

fn for_each_count_and_modules_make_one_graph_of_twenty_nodes(engine: &Engine) {
    let workspace = Workspace::empty(engine);
    workspace.write_file(
        "pair/main.tf",
        r#"
        terraform {
          required_providers {
            mock = {
              source = "equiform.test/equiform/mock"
            }
          }
        }
        variable "name" {
          type = string
        }
        variable "refs" {
          type = set(string)
        }
        resource "mock_node" "first" {
          key  = "${var.name}-first"
          refs = var.refs
        }
        resource "mock_node" "second" {
          key  = "${var.name}-second"
          refs = [mock_node.first.id]
        }
        output "id" {
          value = mock_node.second.id
        }
        "#,
    );
    // 1 root, 7 by count, 4 by for_each, and 4 modules of 2.
    workspace.write(
        r#"
        resource "mock_node" "root" {
          key = "root"
        }
        resource "mock_node" "counted" {
          count = 7
          key   = "counted-${count.index}"
          refs  = [mock_node.root.id]
        }
        resource "mock_node" "each" {
          for_each = toset(["n", "e", "s", "w"])
          key      = "each-${each.key}"
          refs     = slice(mock_node.counted[*].id, 0, 2)
        }
        module "pair" {
          source   = "./pair"
          for_each = mock_node.each
          name     = "pair-${each.key}"
          refs     = [each.value.id]
        }
        "#,
    );
    workspace.init();
    let done = workspace.apply();
    assert_eq!(done.len(), 20);

    let mut expected = graph(&["root"], &[]);
    let mut add = |node: String, refs: &[String]| {
        expected.edges.extend(refs.iter().map(|from| (from.clone(), node.clone())));
        expected.nodes.insert(node);
    };
    (0..7).for_each(|n| add(format!("counted-{n}"), &["root".to_owned()]));
    for side in ["n", "e", "s", "w"] {
        add(format!("each-{side}"), &["counted-0".to_owned(), "counted-1".to_owned()]);
        add(format!("pair-{side}-first"), &[format!("each-{side}")]);
        add(format!("pair-{side}-second"), &[format!("pair-{side}-first")]);
    }
    assert_eq!(workspace.graph(), expected);
    workspace.plan_is_empty();
    assert_eq!(workspace.destroy().len(), 20);
}
