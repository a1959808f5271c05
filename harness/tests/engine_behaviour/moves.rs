//! Objects that change their address, their provider's address, or leave the state and stay in the world.

use crate::support::behaviour::{Behaviour, behaviours, everywhere, moves_between_providers, removed_blocks};
use crate::support::{Engine, PAIR, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_moved_block_renames_without_an_operation,
        a_moved_block_leads_into_for_each_and_modules,
    ],
    moves_between_providers => [a_moved_block_leads_to_a_provider_with_another_address],
    removed_blocks => [
        a_removed_block_leaves_the_object_in_the_world,
        a_removed_block_may_destroy,
    ]
};

fn a_moved_block_renames_without_an_operation(engine: &Engine) {
    let workspace = Workspace::with(engine, PAIR);
    workspace.apply();
    workspace.write(
        r#"
        resource "mock_node" "renamed" {
          key = "a"
        }
        resource "mock_node" "b" {
          key  = "b"
          refs = [mock_node.renamed.id]
        }
        moved {
          from = mock_node.a
          to   = mock_node.renamed
        }
        "#,
    );
    workspace.apply().are(&[]);
    assert_eq!(workspace.state_list(), ["mock_node.b", "mock_node.renamed"]);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn a_moved_block_leads_into_for_each_and_modules(engine: &Engine) {
    let workspace = Workspace::with(engine, PAIR);
    workspace.apply();
    workspace.write_file(
        "child/main.tf",
        r#"
        terraform {
          required_providers {
            mock = {
              source = "equiform.test/equiform/mock"
            }
          }
        }
        resource "mock_node" "inner" {
          for_each = toset(["a"])
          key      = each.key
        }
        output "id" {
          value = mock_node.inner["a"].id
        }
        "#,
    );
    workspace.write(
        r#"
        module "child" {
          source = "./child"
        }
        resource "mock_node" "b" {
          key  = "b"
          refs = [module.child.id]
        }
        moved {
          from = mock_node.a
          to   = module.child.mock_node.inner["a"]
        }
        "#,
    );
    workspace.init();
    workspace.apply().are(&[]);
    assert_eq!(workspace.state_list(), ["mock_node.b", "module.child.mock_node.inner[\"a\"]"]);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn a_moved_block_leads_to_a_provider_with_another_address(engine: &Engine) {
    let workspace = Workspace::with(engine, PAIR);
    workspace.apply();
    workspace.write_file(
        "main.tf",
        r#"
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
        resource "mock_node" "there" {
          provider = other
          key      = "a"
        }
        resource "mock_node" "b" {
          key  = "b"
          refs = [mock_node.there.id]
        }
        moved {
          from = mock_node.a
          to   = mock_node.there
        }
        "#,
    );
    workspace.init();
    workspace.apply().are(&[]);
    let state = std::fs::read_to_string(workspace.path("terraform.tfstate")).unwrap();
    let state: serde_json::Value = serde_json::from_str(&state).unwrap();
    let there = state["resources"].as_array().unwrap().iter().find(|resource| resource["name"] == "there");
    assert_eq!(there.unwrap()["provider"], "provider[\"equiform.test/other/mock\"]");
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

const REMOVED: &str = r#"
    removed {
      from = mock_node.b
      lifecycle {
        destroy = false
      }
    }
    resource "mock_node" "a" {
      key = "a"
    }
"#;

fn a_removed_block_leaves_the_object_in_the_world(engine: &Engine) {
    let workspace = Workspace::with(engine, PAIR);
    workspace.apply();
    workspace.write(REMOVED);
    let done = workspace.watch(|| {
        // The object is nobody's now, and each engine has its own words for it.
        workspace.try_apply(&[]).ended_with(0).clean_but_for(&[
            "Warning: Some objects will no longer be managed by Terraform",
            "Warning: Resource will be removed from the state",
            "Warning: Resource going to be removed from the state",
        ]);
    });
    done.are(&[]);
    assert_eq!(workspace.state_list(), ["mock_node.a"]);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn a_removed_block_may_destroy(engine: &Engine) {
    let workspace = Workspace::with(engine, PAIR);
    workspace.apply();
    workspace.write(&REMOVED.replace("false", "true"));
    workspace.apply().are(&["delete b"]);
    assert_eq!(workspace.graph(), graph(&["a"], &[]));
    workspace.plan_is_empty();
}
