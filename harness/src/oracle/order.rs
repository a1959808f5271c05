//! Begin and end of every pair of operations against the partial order of the model.

use super::steps::{describe, expected};
use super::{Finding, Trial};
use crate::deploy::evidence::Stage;
use crate::model::{Deployment, Expectation};

/// For people.
pub const ABOUT: &str = "operations keep the order that edges and lifecycles ask for";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stage in trial.stages {
        let expectation = match stage.stage {
            Stage::Batch(number) => expected(trial, number),
            Stage::Destroy => match trial.batches.last() {
                Some(last) => Expectation::between(&last.deployment, &Deployment::default()),
                None => continue,
            },
            Stage::Idle | Stage::Cross => continue,
        };
        for ((first, second), rule) in &expectation.order {
            let of = |wanted| stage.operations.iter().filter(move |observed| &observed.operation == wanted);
            for earlier in of(first) {
                for later in of(second) {
                    let ended = earlier.end.map_or(u64::MAX, |(seq, _)| seq);
                    if ended > later.begin {
                        let text = format!(
                            "{} (seq {} to {}) had not ended when {} began (seq {}): {rule}",
                            describe(first),
                            earlier.begin,
                            if ended == u64::MAX { "never".to_owned() } else { ended.to_string() },
                            describe(second),
                            later.begin
                        );
                        findings.push(Finding::new("order", rule, stage, text));
                    }
                }
            }
        }
    }
    findings
}
