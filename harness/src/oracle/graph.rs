//! After the last batch the graph equals the source's. Edges by `depends_on` leave no value and are judged by order and
//! state.

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;
use crate::graph::NamedGraph;
use crate::model::{Deployment, EdgeKind};
use crate::observe::graph_of;

/// For people.
pub const ABOUT: &str = "after the last batch the deployed graph equals the source";

/// The part of a deployment's graph that values show.
pub fn by_value(deployment: &Deployment) -> NamedGraph {
    let edges = deployment.resources.iter().flat_map(|(key, description)| {
        let by_value = description.dependencies.iter().filter(|(_, kind)| **kind != EdgeKind::DependsOn);
        by_value.map(move |(dependency, _)| (dependency.clone(), key.clone()))
    });
    NamedGraph { nodes: deployment.resources.keys().cloned().collect(), edges: edges.collect() }
}

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(batch) = trial.batches.last() else { return Vec::new() };
    if trial.stage.stage != Stage::Batch(trial.batches.len()) {
        return Vec::new();
    }
    let mut expected = by_value(&batch.deployment);
    expected.nodes = trial.source.nodes.clone();
    let (graph, dangling) = graph_of(trial.world);
    let differences = expected.differences(&graph);
    if differences.is_empty() && dangling.is_empty() {
        return Vec::new();
    }
    let text = format!("{} ({} references lead nowhere)", differences.join(", "), dangling.len());
    vec![Finding::new("graph", "differs from the source", trial, text)]
}
