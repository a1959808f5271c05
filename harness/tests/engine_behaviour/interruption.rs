//! Ctrl-C while an operation is in flight.

use std::fs;

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::process::{Running, TIMEOUT, wait_until};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [an_interrupted_apply_ends_what_it_has_begun_and_the_next_one_completes_it]
};

fn an_interrupted_apply_ends_what_it_has_begun_and_the_next_one_completes_it(engine: &Engine) {
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

    // An operation that takes an hour, unless it is told to stop.
    let mut command = workspace.command(["apply", "-input=false", "-auto-approve"]);
    let running = Running::start(command.env("EQUIFORM_HOLD", "3600s"));
    let begun =
        |line: &str| line.contains(r#""op":"create","phase":"begin""#) && line.contains(r#""key":"b""#);
    let arrived = || fs::read_to_string(workspace.ledger_path()).ok()?.lines().any(begun).then_some(());
    wait_until(TIMEOUT, arrived).expect("the change arrives at the provider");
    running.signal(libc::SIGINT);
    running.wait().ended_with(1).clean();
    workspace.nothing_is_left();

    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.apply().are(&["create c"]);
    assert_eq!(workspace.graph(), graph(&["a", "b", "c"], &[("a", "b"), ("b", "c")]));
    workspace.plan_is_empty();
}
