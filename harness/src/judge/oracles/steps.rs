//! In every stage exactly the expected operations, none extra, none missing. A plan and the same program once
//! more do nothing, a destroy deletes each object once.

use rustc_hash::FxHashMap;

use super::{Finding, Trial};
use crate::spec::ResourceOperation;

/// For people.
pub const ABOUT: &str = "every stage does exactly the operations that the model expects";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |kind: &str, operation: &ResourceOperation| {
        findings.push(Finding::new("steps", kind, trial, operation.to_string()));
    };
    let expected = &trial.expectation.operations;
    let mut seen: FxHashMap<&ResourceOperation, usize> = FxHashMap::default();
    for observed in &trial.evidence.operations {
        *seen.entry(&observed.operation).or_default() += 1;
        let is_to_fail = trial.expectation.failing.contains(&observed.operation);
        if !matches!(observed.end, Some((_, true))) && !is_to_fail {
            found("without effect", &observed.operation);
        }
    }
    let mut more = Vec::new();
    for operation in expected {
        match seen.remove(operation) {
            None if trial.expectation.optional.contains(operation) => {}
            None => found("missing", operation),
            Some(1) => {}
            Some(_) => more.push((operation, "repeated")),
        }
    }
    more.extend(seen.into_keys().map(|operation| (operation, "extra")));
    more.sort_unstable();
    more.into_iter().for_each(|(operation, kind)| found(kind, operation));
    findings
}
