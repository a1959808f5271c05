//! The same step from the same start does the same, whatever the timing and the parallelism: engines have races.

use std::collections::BTreeSet;

use super::{Finding, Repeated, Trial};

/// For people.
pub const ABOUT: &str = "the same step from the same start does the same, whatever the timing";

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let Some(first) = trial.repeated else { return Vec::new() };
    let again = Repeated::of(trial.evidence, trial.world);
    let mut findings = Vec::new();
    let mut found = |kind: &str, text: String| findings.push(Finding::new("repeat", kind, trial, text));
    if again.succeeded != first.succeeded {
        let word = |succeeded| if succeeded { "succeeded" } else { "failed" };
        found(
            "another end",
            format!("it {} first, and {} now", word(first.succeeded), word(again.succeeded)),
        );
    }
    if again.operations != first.operations {
        let only = |one: &Repeated, other: &Repeated| -> BTreeSet<String> {
            let there: BTreeSet<_> = other.operations.iter().collect();
            let missing = one.operations.iter().filter(|operation| !there.contains(operation));
            missing.map(|(operation, _)| operation.signed()).collect()
        };
        let text = format!("only first: {:?}; only now: {:?}", only(first, &again), only(&again, first));
        found("other operations", text);
    } else if again.world != first.world {
        found("another world", "the same operations led to another world".to_owned());
    }
    findings
}
