//! Begin and end of every pair of operations against the partial order of the model.

use rustc_hash::FxHashMap;

use super::steps::describe;
use super::{Finding, Trial};
use crate::deploy::evidence::Observed;
use crate::model::ExpectedOperation;

/// For people.
pub const ABOUT: &str = "operations keep the order that edges and lifecycles ask for";

/// When the first of the operations of a kind on a key began, and the one that ended last.
struct Span<'a> {
    first: &'a Observed,
    last: &'a Observed,
}

fn ended(observed: &Observed) -> u64 {
    observed.end.map_or(u64::MAX, |(seq, _)| seq)
}

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut spans: FxHashMap<&ExpectedOperation, Span<'_>> = FxHashMap::default();
    for observed in &trial.stage.operations {
        let span = spans.entry(&observed.operation).or_insert(Span { first: observed, last: observed });
        if ended(observed) > ended(span.last) {
            span.last = observed;
        }
    }
    let mut findings = Vec::new();
    for ((first, second), reason) in &trial.expectation.order {
        let rule = reason.rule.text();
        let (Some(earlier), Some(later)) = (spans.get(first), spans.get(second)) else { continue };
        let (earlier, later) = (earlier.last, later.first);
        if ended(earlier) > later.begin {
            let end = earlier.end.map_or("never".to_owned(), |(seq, _)| seq.to_string());
            let text = format!(
                "{} (seq {} to {end}) had not ended when {} began (seq {}): {rule}",
                describe(first),
                earlier.begin,
                describe(second),
                later.begin
            );
            findings.push(Finding::new("order", rule, trial, text));
        }
    }
    findings
}
