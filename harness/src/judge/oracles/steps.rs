//! In every stage exactly the expected operations, none extra, none missing. A plan and the same program once
//! more do nothing, a destroy deletes each object once.

use rustc_hash::FxHashMap;

use super::Trial;
use crate::judge::finding::{Finding, FindingKind, Subject};
use crate::spec::ResourceOperation;

/// What it looks at.
pub const ABOUT: &str = "every stage does exactly the operations that the model expects";

/// Compares operations with those that are expected.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(expectation) = trial.model.as_ref().map(|model| model.expectation) else { return Vec::new() };
    let mut found: Vec<(FindingKind, &ResourceOperation)> = Vec::new();
    let mut seen: FxHashMap<&ResourceOperation, usize> = FxHashMap::default();
    for observed in &trial.evidence.operations {
        *seen.entry(&observed.operation).or_default() += 1;
        let is_to_fail = expectation.failing.contains(&observed.operation);
        if !matches!(observed.end, Some((_, true))) && !is_to_fail {
            found.push((FindingKind::OperationWithoutEffect, &observed.operation));
        }
    }
    for operation in &expectation.operations {
        match seen.remove(operation) {
            None if expectation.optional.contains(operation) => {}
            None => found.push((FindingKind::OperationMissing, operation)),
            Some(1) => {}
            Some(_) => found.push((FindingKind::OperationRepeated, operation)),
        }
    }
    found.extend(seen.into_keys().map(|operation| (FindingKind::OperationExtra, operation)));
    // The first one stands for all: the most telling kind, and then whatever the resources are called. Kinds are listed
    // in that order.
    found.sort_unstable_by_key(|(kind, operation)| (*kind, operation.kind, &operation.key));
    let finding = |(kind, operation)| trial.finding(kind).about([Subject::operation(operation)]);
    found.into_iter().map(finding).collect()
}
