//! The provider block and the environment.

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::ledger::Ledger;
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        two_aliases_have_a_world_each,
        ledger_and_run_come_from_the_environment,
        the_provider_block_wins_over_the_environment,
        an_empty_ledger_name_is_told,
    ]
};

fn two_aliases_have_a_world_each(engine: &Engine) {
    let workspace = Workspace::with(
        engine,
        r#"
        provider "mock" {
          ledger = "east.jsonl"
          run    = "east"
        }
        provider "mock" {
          alias  = "west"
          ledger = "west.jsonl"
          run    = "west"
        }
        resource "mock_node" "a" {
          key = "a"
        }
        resource "mock_node" "b" {
          key  = "b"
          refs = [mock_node.a.id]
        }
        resource "mock_node" "c" {
          provider = mock.west
          key      = "c"
          label    = mock_node.b.id
        }
        "#,
    );
    workspace.apply();
    let (east, west) =
        (Ledger::read(&workspace.path("east.jsonl")), Ledger::read(&workspace.path("west.jsonl")));
    assert_eq!((east.graph(), east.runs()), (graph(&["a", "b"], &[("a", "b")]), vec!["east"]));
    assert_eq!((west.graph(), west.runs()), (graph(&["c"], &[]), vec!["west"]));
    assert_eq!(west.label("c"), Some(east.id("b")));
    workspace.plan_is_empty();
    assert!(!workspace.ledger_path().exists());
    workspace.destroy();
    assert_eq!(Ledger::read(&workspace.path("east.jsonl")).graph(), graph(&[], &[]));
    assert_eq!(Ledger::read(&workspace.path("west.jsonl")).graph(), graph(&[], &[]));
}

const NODE: &str = "resource \"mock_node\" \"a\" {\n  key = \"a\"\n}\n";

/// Applies with ledger and run in the environment.
fn apply_with_environment(workspace: &Workspace) {
    let mut command = workspace.command(["apply", "-input=false", "-auto-approve"]);
    command.env("EQUIFORM_LEDGER", "from-environment.jsonl").env("EQUIFORM_RUN", "from environment");
    workspace.finish(command).succeeded();
}

fn ledger_and_run_come_from_the_environment(engine: &Engine) {
    let workspace = Workspace::with(engine, NODE);
    apply_with_environment(&workspace);
    let ledger = Ledger::read(&workspace.path("from-environment.jsonl"));
    assert_eq!((ledger.graph(), ledger.runs()), (graph(&["a"], &[]), vec!["from environment"]));
    assert!(!workspace.ledger_path().exists());
}

fn the_provider_block_wins_over_the_environment(engine: &Engine) {
    let block = "provider \"mock\" {\n  ledger = \"from-block.jsonl\"\n  run = \"from block\"\n}\n";
    let workspace = Workspace::with(engine, &format!("{block}{NODE}"));
    apply_with_environment(&workspace);
    let ledger = Ledger::read(&workspace.path("from-block.jsonl"));
    assert_eq!((ledger.graph(), ledger.runs()), (graph(&["a"], &[]), vec!["from block"]));
    assert!(!workspace.path("from-environment.jsonl").exists());
}

fn an_empty_ledger_name_is_told(engine: &Engine) {
    let workspace = Workspace::with(engine, &format!("provider \"mock\" {{\n  ledger = \"\"\n}}\n{NODE}"));
    let plan = workspace.run(&["plan", "-input=false"]);
    plan.ended_with(1).clean().says("The ledger has no name").says("Leave it out for the default");
}
