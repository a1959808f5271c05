//! A program of 36 resource types, as large programs for a real cloud are: it deploys, changes and is destroyed on
//! stand-ins, and the ledger's graph has the edges that its references make.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use equiform::algebra::graph::NamedGraph;
use serde_json::Value as Json;

use crate::{ENGINES, equiform, printed, root};

/// What must be in no file but the state.
const SECRET: &str = "not to be seen anywhere";

/// The edges that are written down by hand.
fn expected() -> BTreeSet<(String, String)> {
    let text = fs::read_to_string(root().join("fixtures/standin/cloud/edges.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let edge =
        |line: &str| line.split_once(" -> ").map(|(from, to)| (from.to_owned(), to.to_owned())).unwrap();
    lines.map(edge).collect()
}

/// The same after the change: the third instance refers as the first does, and nobody to the queue that is gone.
fn expected_after_change() -> BTreeSet<(String, String)> {
    let mut edges = expected();
    edges.retain(|(from, _)| from != "nimbus_queue.dead[0]");
    let third = |name: &str| name.replace("this[0]", "this[2]");
    let added: Vec<_> = edges
        .iter()
        .filter(|(from, to)| (from.contains("this[0]") || to.contains("this[0]")) && !to.contains("target"))
        .map(|(from, to)| (third(from), third(to)))
        .collect();
    edges.extend(added);
    edges
}

struct Cloud<'a> {
    engine: &'a str,
    kept: &'a Path,
}

impl Cloud<'_> {
    fn run(&self, more: &[&str]) -> String {
        let kept = self.kept.to_str().unwrap();
        let program = root().join("fixtures/standin/cloud");
        let run = ["standin", "run", program.to_str().unwrap(), "--engine", self.engine, "--keep", kept];
        let (said, errors) = printed(&equiform(self.kept.parent().unwrap(), &[&run, more].concat()), 0);
        assert_eq!(errors, "");
        said
    }

    fn ledger(&self, command: &str, more: &[&str]) -> String {
        let file = |name: &str| self.kept.join(name).to_str().unwrap().to_owned();
        let (ledger, state) = (file("equiform.ledger.jsonl"), file("terraform.tfstate"));
        let arguments = ["ledger", command, &ledger, "--state", &state, "--format=json"];
        let (said, notes) = printed(&equiform(self.kept.parent().unwrap(), &[&arguments, more].concat()), 0);
        assert_eq!(notes, "", "every name is certain");
        said
    }

    fn graph(&self) -> NamedGraph {
        serde_json::from_str(&self.ledger("graph", &[])).unwrap()
    }

    /// Which operations a run committed, by type.
    fn operations(&self, after: u64) -> Vec<String> {
        let ledger = fs::read_to_string(self.kept.join("equiform.ledger.jsonl")).unwrap();
        let entries = ledger.lines().skip(1).map(|line| serde_json::from_str::<Json>(line).unwrap());
        let committed = entries.filter(|entry| {
            let op = entry["op"].as_str().unwrap();
            ["create", "update", "delete"].contains(&op)
                && entry["phase"] == "commit"
                && entry["seq"].as_u64().unwrap() > after
        });
        let mut told: Vec<String> = committed
            .map(|entry| format!("{} {}", entry["op"].as_str().unwrap(), entry["type"].as_str().unwrap()))
            .collect();
        told.sort();
        told
    }
}

#[track_caller]
fn assert_edges(graph: &NamedGraph, expected: &BTreeSet<(String, String)>) {
    let missing: Vec<_> = expected.difference(&graph.edges).collect();
    let added: Vec<_> = graph.edges.difference(expected).collect();
    assert!(missing.is_empty() && added.is_empty(), "missing {missing:#?}, too many {added:#?}");
}

#[test]
fn a_cloud_deploys_changes_and_is_destroyed_offline_with_the_edges_that_its_references_make() {
    for engine in ENGINES {
        let folder = tempfile::tempdir().unwrap();
        let cloud = Cloud { engine, kept: &folder.path().join("kept") };

        let said = cloud.run(&[]);
        assert!(said.contains("equiform/nimbus 2.1.0 is a stand-in: 36 resources, 2 data sources"), "{said}");
        assert!(said.contains("Apply complete! Resources: 52 added, 0 changed, 0 destroyed."), "{said}");
        assert!(said.contains("names: 52 of 52 are certain"), "{said}");
        let graph = cloud.graph();
        assert_edges(&graph, &expected());
        assert_eq!(graph.nodes.len(), 52);
        let types =
            graph.nodes.iter().map(|node| node.trim_start_matches("module.service.").split('.').next());
        assert_eq!(types.collect::<BTreeSet<_>>().len(), 36, "an object of each type");
        let world: Json = serde_json::from_str(&cloud.ledger("world", &[])).unwrap();
        let objects = world["objects"].as_array().unwrap();
        assert!(objects.iter().all(|object| object["sure"] == "exact" && object["address"].is_string()));

        assert!(cloud.run(&["--plan"]).contains("No changes."), "it is all there");

        let before = world["seq"].as_u64().unwrap();
        let said = cloud.run(&["--var=stage=second"]);
        assert!(said.contains("Apply complete! Resources: 9 added, 6 changed, 7 destroyed."), "{said}");
        // What is gone has its name from the state before.
        assert!(said.contains("delete  commit  module.service.nimbus_instance.this[0]"), "{said}");
        assert!(said.contains("delete  commit  nimbus_queue.dead[0]"), "{said}");
        let expected_operations = [
            "create nimbus_disk",
            "create nimbus_disk_attachment",
            "create nimbus_disk_attachment",
            "create nimbus_disk_attachment",
            "create nimbus_instance",
            "create nimbus_instance",
            "create nimbus_instance",
            "create nimbus_target_attachment",
            "create nimbus_target_attachment",
            "delete nimbus_disk_attachment",
            "delete nimbus_disk_attachment",
            "delete nimbus_instance",
            "delete nimbus_instance",
            "delete nimbus_queue",
            "delete nimbus_target_attachment",
            "delete nimbus_target_attachment",
            "update nimbus_bucket",
            "update nimbus_database",
            "update nimbus_function",
            "update nimbus_log_group",
            "update nimbus_network",
            "update nimbus_queue",
        ];
        assert_eq!(cloud.operations(before), expected_operations);
        assert_edges(&cloud.graph(), &expected_after_change());

        let said = cloud.run(&["--var=stage=second", "--destroy"]);
        assert!(said.contains("Resources: 0 added, 0 changed, 0 destroyed."), "{said}");
        assert!(said.contains("Destroy complete! Resources: 54 destroyed."), "{said}");
        assert!(cloud.graph().nodes.is_empty());
        for entry in fs::read_dir(cloud.kept).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() && !path.to_str().unwrap().contains("tfstate") {
                let bytes = fs::read(&path).unwrap();
                assert!(
                    !String::from_utf8_lossy(&bytes).contains(SECRET),
                    "{} has what nobody may see",
                    path.display()
                );
            }
        }
        let verify = ["ledger", "verify", "kept/equiform.ledger.jsonl"];
        printed(&equiform(folder.path(), &verify), 0);
    }
}
