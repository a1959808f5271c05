//! The same step from the same start does the same, whatever the timing and the parallelism: engines have races.

use std::collections::BTreeSet;

use super::{Repeated, Trial};
use crate::judge::finding::{Detail, Finding, FindingKind};
use crate::spec::ResourceOperation;

/// What it looks at.
pub const ABOUT: &str = "the same step from the same start does the same, whatever the timing";

/// Compares a repetition with the stage that it repeats.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(first) = trial.repeated else { return Vec::new() };
    let again = Repeated::of(trial.evidence, trial.world);
    let mut findings = Vec::new();
    if again.succeeded != first.succeeded {
        let detail = Detail::Ends { first: first.succeeded, second: again.succeeded };
        findings.push(trial.finding(FindingKind::RepetitionEndsDifferently).with(detail));
    }
    if again.operations != first.operations {
        let only = |one: &Repeated, other: &Repeated| -> Vec<ResourceOperation> {
            let there: BTreeSet<_> = other.operations.iter().collect();
            let missing = one.operations.iter().filter(|operation| !there.contains(operation));
            let missing: BTreeSet<_> = missing.map(|(operation, _)| operation.clone()).collect();
            missing.into_iter().collect()
        };
        let detail = Detail::Runs { only_first: only(first, &again), only_second: only(&again, first) };
        findings.push(trial.finding(FindingKind::RepetitionDiffers).with(detail));
    } else if again.world != first.world {
        findings.push(trial.finding(FindingKind::RepetitionWorldDiffers));
    }
    findings
}
