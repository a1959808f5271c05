//! In every stage exactly the expected operations, none extra, none missing. A plan and the same program once
//! more do nothing, a destroy deletes each object once.

use rustc_hash::FxHashMap;

use super::{Finding, Trial};
use crate::spec::ResourceOperation;

/// For people.
pub const ABOUT: &str = "every stage does exactly the operations that the model expects";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut found: Vec<(Kind, &ResourceOperation)> = Vec::new();
    let expected = &trial.expectation.operations;
    let mut seen: FxHashMap<&ResourceOperation, usize> = FxHashMap::default();
    for observed in &trial.evidence.operations {
        *seen.entry(&observed.operation).or_default() += 1;
        let is_to_fail = trial.expectation.failing.contains(&observed.operation);
        if !matches!(observed.end, Some((_, true))) && !is_to_fail {
            found.push((Kind::WithoutEffect, &observed.operation));
        }
    }
    for operation in expected {
        match seen.remove(operation) {
            None if trial.expectation.optional.contains(operation) => {}
            None => found.push((Kind::Missing, operation)),
            Some(1) => {}
            Some(_) => found.push((Kind::Repeated, operation)),
        }
    }
    found.extend(seen.into_keys().map(|operation| (Kind::Extra, operation)));
    // The first one stands for all: which one that is must not hang on the names of the resources.
    found.sort_unstable_by_key(|(kind, operation)| (*kind, operation.kind, &operation.key));
    let finding = |(kind, operation): (Kind, &ResourceOperation)| {
        Finding::new("steps", kind.name(), trial, operation.to_string())
    };
    found.into_iter().map(finding).collect()
}

/// In which way an operation is not as expected, the most telling one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    WithoutEffect,
    Missing,
    Repeated,
    Extra,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::WithoutEffect => "without effect",
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::Extra => "extra",
        }
    }
}
