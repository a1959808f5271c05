//! After the last batch the graph equals the source's. Edges by `depends_on` leave no value and are judged by order and
//! state; the program says which those are.

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;
use crate::model::EdgeKind;
use crate::observe::graph_of;

/// For people.
pub const ABOUT: &str = "after the last batch the deployed graph equals the source";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(batch) = trial.batches.last() else { return Vec::new() };
    if trial.stage.stage != Stage::Batch(trial.batches.len()) {
        return Vec::new();
    }
    let leaves_no_value = |(dependency, dependent): &(String, String)| {
        let described = batch.deployment.resources.get(dependent);
        described.and_then(|it| it.dependencies.get(dependency)) == Some(&EdgeKind::DependsOn)
    };
    let mut expected = trial.source.clone();
    expected.edges.retain(|edge| !leaves_no_value(edge));
    let (graph, dangling) = graph_of(trial.world);
    let differences = expected.differences(&graph);
    if differences.is_empty() && dangling.is_empty() {
        return Vec::new();
    }
    let text = format!("{} ({} references lead nowhere)", differences.join(", "), dangling.len());
    vec![Finding::new("graph", "differs from the source", trial, text)]
}
