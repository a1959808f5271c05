//! Ctrl-C while an operation is in flight.

use std::fs::{self, File};

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::process::{PATIENCE, Running, wait_until};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [an_interrupted_apply_stops_and_the_next_one_completes_it]
};

fn an_interrupted_apply_stops_and_the_next_one_completes_it(engine: &Engine) {
    let workspace = Workspace::with(engine, "resource \"mock_node\" \"a\" {\n  key = \"a\"\n}\n");
    workspace.apply();
    workspace.write(
        r#"
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
        "#,
    );

    // Whoever holds the ledger's lock holds every operation.
    let ledger = File::open(workspace.ledger_path()).unwrap();
    ledger.lock().unwrap();
    let log = workspace.path("engine.log");
    let mut command = workspace.command(["apply", "-input=false", "-auto-approve"]);
    let running = Running::start(command.env("TF_LOG", "debug").env("TF_LOG_PATH", &log));
    let arrived = || fs::read_to_string(&log).ok()?.contains("a change has arrived").then_some(());
    wait_until(PATIENCE, arrived).expect("the change arrives at the provider");
    running.signal(libc::SIGINT);
    let output = running.wait();
    output.ended_with(1).clean().says("The operation was stopped").says("Run the command again to go on.");
    workspace.nothing_is_left();
    ledger.unlock().unwrap();

    assert_eq!(workspace.graph(), graph(&["a"], &[]));
    workspace.apply().are(&["create b", "create c"]);
    assert_eq!(workspace.graph(), graph(&["a", "b", "c"], &[("a", "b"), ("b", "c")]));
    workspace.plan_is_empty();
}
