//! Protocol 5: engines that speak it do the same as over protocol 6.

use std::collections::BTreeMap;

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [a_life_over_protocol_5_leaves_the_same_operations_as_over_protocol_6]
};

const BEFORE: &str = r#"
    resource "mock_node" "a" {
      key = "a"
      pin = "one"
    }
    resource "mock_node" "b" {
      key  = "b"
      refs = [mock_node.a.id]
    }
    resource "mock_node" "c" {
      key   = "c"
      label = "first"
    }
    data "mock_node" "a" {
      key = mock_node.a.key
    }
"#;

const AFTER: &str = r#"
    resource "mock_node" "a" {
      key = "a"
      pin = "two"
    }
    resource "mock_node" "b" {
      key  = "b"
      refs = [mock_node.a.id]
    }
    resource "mock_node" "c" {
      key   = "c"
      label = "second"
    }
"#;

/// What the ledger holds after each step of a life, and how often.
fn life(engine: &Engine, protocol: &str) -> Vec<BTreeMap<String, usize>> {
    let mut workspace = Workspace::with(engine, BEFORE);
    let log = workspace.path("rpcs");
    workspace.set("EQUIFORM_PROTOCOL", protocol);
    workspace.set("EQUIFORM_RPC_LOG", &log);
    let mut steps = Vec::new();
    let mut seen = 0;
    let mut step = |arguments: &[&str]| {
        workspace.run(arguments).succeeded();
        let ledger = workspace.ledger();
        let mut done = BTreeMap::new();
        for entry in ledger.entries().iter().filter(|entry| entry.seq > seen) {
            let key = entry.key.as_deref().unwrap_or("-");
            *done.entry(format!("{} {} {key}", entry.op, entry.phase)).or_default() += 1;
        }
        seen = ledger.entries().last().map_or(0, |entry| entry.seq);
        steps.push(done);
    };
    step(&["apply", "-input=false", "-auto-approve"]);
    step(&["plan", "-input=false", "-detailed-exitcode"]);
    workspace.write(AFTER);
    step(&["apply", "-input=false", "-auto-approve"]);
    step(&["destroy", "-input=false", "-auto-approve"]);
    let service = format!("tfplugin{protocol}.Provider/");
    let rpcs = std::fs::read_to_string(&log).unwrap();
    assert!(rpcs.lines().count() > 20 && rpcs.lines().all(|rpc| rpc.starts_with(&service)), "{rpcs}");
    steps
}

fn a_life_over_protocol_5_leaves_the_same_operations_as_over_protocol_6(engine: &Engine) {
    let five = life(engine, "5");
    assert_eq!(five, life(engine, "6"));
    assert_eq!(five[2].get("update commit c"), Some(&1), "{five:?}");
    assert_eq!(five[3].get("delete commit a"), Some(&1), "{five:?}");
}
