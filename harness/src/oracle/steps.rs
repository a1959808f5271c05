//! After every batch exactly the expected operations, none extra, none missing.

use std::collections::BTreeMap;

use super::{Finding, Trial};
use crate::deploy::evidence::Stage;
use crate::model::ExpectedOperation;

/// For people.
pub const ABOUT: &str = "every batch does exactly the operations that the model expects";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !matches!(trial.stage.stage, Stage::Batch(_)) {
        return findings;
    }
    let mut found =
        |kind: &str, operation| findings.push(Finding::new("steps", kind, trial, describe(operation)));
    let expected = &trial.expectation.operations;
    let mut seen: BTreeMap<&ExpectedOperation, usize> = BTreeMap::new();
    for observed in &trial.stage.operations {
        *seen.entry(&observed.operation).or_default() += 1;
        if !matches!(observed.end, Some((_, true))) {
            found("without effect", &observed.operation);
        }
    }
    expected
        .iter()
        .filter(|operation| !seen.contains_key(operation))
        .for_each(|operation| found("missing", operation));
    for (operation, times) in seen {
        if !expected.contains(operation) {
            found("extra", operation);
        } else if times > 1 {
            found("repeated", operation);
        }
    }
    findings
}

/// An operation in words.
pub fn describe(operation: &ExpectedOperation) -> String {
    format!("{} {}", format!("{:?}", operation.kind).to_lowercase(), operation.key)
}
