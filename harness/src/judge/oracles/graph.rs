//! After the last batch the graph equals the source's. Edges by `depends_on` and triggers leave no value and are judged
//! by order and state; the program says which those are.

use super::{Finding, Trial};
use crate::algebra::graph::NamedGraph;
use crate::case::stage::JudgedAs;
use crate::judge::observe::graph_of;

/// For people.
pub const ABOUT: &str = "after the last batch the deployed graph equals the source";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    // A drift that was not repaired is another stage's to judge.
    if trial.stage.judged_as != JudgedAs::Source {
        return Vec::new();
    }
    let leaves_no_value = |(dependency, dependent): &(String, String)| {
        let kind = trial.program.node(dependent).and_then(|node| node.dependencies.get(dependency.as_str()));
        kind.is_some_and(|kind| !kind.leaves_a_value())
    };
    let NamedGraph { nodes, edges, .. } = trial.source.clone();
    let mut expected = NamedGraph { nodes, edges, ..NamedGraph::default() };
    expected.edges.retain(|edge| !leaves_no_value(edge));
    let (graph, dangling) = graph_of(trial.world);
    let differences = expected.differences(&graph);
    if differences.is_empty() && dangling.is_empty() {
        return Vec::new();
    }
    let text = format!("{} ({} references lead nowhere)", differences.join(", "), dangling.len());
    vec![Finding::new("graph", "differs from the source", trial, text)]
}
