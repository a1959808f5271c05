//! A graph of some size.

use std::fmt::Write as _;

use crate::support::behaviour::{Behaviour, behaviours, newest};
use crate::support::{Engine, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    newest => [five_hundred_nodes_with_a_thousand_references_come_and_go]
};

const NODES: usize = 500;

fn five_hundred_nodes_with_a_thousand_references_come_and_go(engine: &Engine) {
    // Each node refers to two that stand well before it, so that there is width as well as depth.
    let refs = |node: usize| {
        let mut refs: Vec<usize> =
            [node * 7 / 11, node / 2, node / 3].into_iter().filter(|&to| to < node).collect();
        refs.dedup();
        // The last few make up for the first few, which have nothing to refer to.
        refs.truncate(if node >= NODES - 4 { 3 } else { 2 });
        refs
    };
    let mut expected = graph(&[], &[]);
    let mut program = String::new();
    for node in 0..NODES {
        let ids: Vec<String> = refs(node).iter().map(|to| format!("mock_node.r{to}.id")).collect();
        writeln!(
            program,
            "resource \"mock_node\" \"r{node}\" {{\n  key = \"r{node}\"\n  refs = [{}]\n}}",
            ids.join(", ")
        )
        .expect("a text can be written to");
        expected.nodes.insert(format!("r{node}"));
        expected.edges.extend(refs(node).iter().map(|to| (format!("r{to}"), format!("r{node}"))));
    }
    assert_eq!(expected.edges.len(), 1_000);

    let workspace = Workspace::with(engine, &program);
    assert_eq!(workspace.apply_with(&["-parallelism=32"]).len(), NODES);
    assert_eq!(workspace.graph(), expected);
    let destroy = ["destroy", "-input=false", "-auto-approve", "-parallelism=32"];
    let done = workspace.watch(|| {
        workspace.run(&destroy).succeeded();
    });
    assert_eq!(done.len(), NODES);
    assert_eq!(workspace.graph(), graph(&[], &[]));
}
