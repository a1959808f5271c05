//! Begin and end of every pair of operations against the partial order of the model.

use rustc_hash::FxHashMap;

use super::{Finding, Trial};
use crate::evidence::ObservedOperation;
use crate::spec::ResourceOperation;

/// For people.
pub const ABOUT: &str = "operations keep the order that edges and lifecycles ask for";

/// When the first of the operations of a kind on a key began, and the one that ended last.
struct Span<'a> {
    first: &'a ObservedOperation,
    last: &'a ObservedOperation,
}

fn ended(observed: &ObservedOperation) -> u64 {
    observed.end.map_or(u64::MAX, |(seq, _)| seq)
}

/// See the module.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let mut spans: FxHashMap<&ResourceOperation, Span<'_>> = FxHashMap::default();
    for observed in &trial.evidence.operations {
        let span = spans.entry(&observed.operation).or_insert(Span { first: observed, last: observed });
        if ended(observed) > ended(span.last) {
            span.last = observed;
        }
    }
    let (mut findings, mut implied) = (Vec::new(), Vec::new());
    for (first, second, reason) in trial.expectation.pairs() {
        let rule = reason.rule.text();
        let (Some(earlier), Some(later)) = (spans.get(first), spans.get(second)) else { continue };
        let (earlier, later) = (earlier.last, later.first);
        if ended(earlier) > later.begin {
            let end = earlier.end.map_or("never".to_owned(), |(seq, _)| seq.to_string());
            let text = format!(
                "{first} (seq {} to {end}) had not ended when {second} began (seq {}): {rule}",
                earlier.begin, later.begin
            );
            let finding = Finding::new("order", rule, trial, text);
            if reason.implied { implied.push(finding) } else { findings.push(finding) }
        }
    }
    // A pair that follows from others says nothing that they do not, unless what is between them never happened.
    if findings.is_empty() { implied } else { findings }
}
