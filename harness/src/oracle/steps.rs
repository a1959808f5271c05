//! After every batch exactly the expected operations, none extra, none missing.

use std::collections::BTreeMap;

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;
use crate::model::{Deployment, Expectation, ExpectedOperation};

/// For people.
pub const ABOUT: &str = "every batch does exactly the operations that the model expects";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stage in trial.stages {
        let Stage::Batch(number) = stage.stage else { continue };
        let expectation = expected(trial, number);
        let mut seen: BTreeMap<&ExpectedOperation, usize> = BTreeMap::new();
        for observed in &stage.operations {
            *seen.entry(&observed.operation).or_default() += 1;
            if !matches!(observed.end, Some((_, true))) {
                let text = format!("{} did not take effect", describe(&observed.operation));
                findings.push(Finding::new("steps", "without effect", stage, text));
            }
        }
        for operation in expectation.operations.iter().filter(|operation| !seen.contains_key(operation)) {
            findings.push(Finding::new("steps", "missing", stage, describe(operation)));
        }
        for (operation, times) in seen {
            if !expectation.operations.contains(operation) {
                findings.push(Finding::new("steps", "extra", stage, describe(operation)));
            } else if times > 1 {
                findings.push(Finding::new("steps", "repeated", stage, describe(operation)));
            }
        }
    }
    findings
}

/// What the model expects of a batch, counted from 1.
pub fn expected(trial: &Trial<'_>, number: usize) -> Expectation {
    let nothing = Deployment::default();
    let before = number.checked_sub(2).map_or(&nothing, |index| &trial.batches[index].deployment);
    Expectation::between(before, &trial.batches[number - 1].deployment)
}

/// An operation in words.
pub fn describe(operation: &ExpectedOperation) -> String {
    format!("{} {}", format!("{:?}", operation.kind).to_lowercase(), operation.key)
}
