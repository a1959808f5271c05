//! After the last batch the graph equals the source's. Edges by `depends_on` and triggers leave no value and are judged
//! by order and state; the program says which those are.

use std::collections::BTreeSet;

use super::Trial;
use crate::case::stage::JudgedAs;
use crate::judge::finding::{Detail, Finding, FindingKind};
use crate::judge::observe::graph_of;

/// What it looks at.
pub const ABOUT: &str = "after the last batch the deployed graph equals the source";

/// Compares the graph with the source's.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    // A drift that was not repaired is another stage's to judge.
    let Some(model) = trial.model.as_ref().filter(|_| trial.stage.judged_as == JudgedAs::Source) else {
        return Vec::new();
    };
    let leaves_a_value = |(dependency, dependent): &&(String, String)| {
        let kind = model.program.node(dependent).and_then(|node| node.dependencies.get(dependency.as_str()));
        kind.is_none_or(|kind| kind.leaves_a_value())
    };
    let edges: BTreeSet<(String, String)> =
        model.source.edges.iter().filter(leaves_a_value).cloned().collect();
    let (nodes, (graph, dangling)) = (&model.source.nodes, graph_of(trial.world));
    if *nodes == graph.nodes && edges == graph.edges && dangling.is_empty() {
        return Vec::new();
    }
    let detail = Detail::Graph {
        missing_nodes: nodes.difference(&graph.nodes).cloned().collect(),
        extra_nodes: graph.nodes.difference(nodes).cloned().collect(),
        missing_edges: edges.difference(&graph.edges).cloned().collect(),
        extra_edges: graph.edges.difference(&edges).cloned().collect(),
        dangling: dangling.len(),
    };
    vec![trial.finding(FindingKind::GraphDiffers).with(detail)]
}
