//! Begin and end of every pair of operations against the partial order of the model, and how many were under way at
//! once against how many may be.

use rustc_hash::FxHashMap;

use super::Trial;
use crate::evidence::ObservedOperation;
use crate::judge::finding::detail::Span as SpanDetail;
use crate::judge::finding::{Detail, Finding, FindingKind, Subject};
use crate::spec::{OperationKind, Reason, ReplacementOrder, ResourceOperation};

/// What it looks at.
pub const ABOUT: &str =
    "operations keep the required order, and no more of them run at once than -parallelism allows";

/// When the first of the operations of a kind on a key began, and the one that ended last.
struct Span<'a> {
    first: &'a ObservedOperation,
    last: &'a ObservedOperation,
}

fn ended(observed: &ObservedOperation) -> u64 {
    observed.end.map_or(u64::MAX, |(seq, _)| seq)
}

/// Two operations that did not keep the order: the one that should have ended first, and the one that did not wait.
#[derive(Debug, Clone, Copy)]
pub struct Violation<'a> {
    /// It should have ended before the other began.
    pub earlier: &'a ObservedOperation,
    /// It did not wait.
    pub later: &'a ObservedOperation,
    /// Why it should have.
    pub reason: &'a Reason,
}

/// The pairs of a stage that did not keep the order. One that follows from others says nothing that they do not, unless
/// what is between them never happened.
pub fn violations<'a>(trial: &'a Trial<'_>) -> Vec<Violation<'a>> {
    let Some(model) = &trial.model else { return Vec::new() };
    let mut spans: FxHashMap<&ResourceOperation, Span<'_>> = FxHashMap::default();
    for observed in &trial.evidence.operations {
        let span = spans.entry(&observed.operation).or_insert(Span { first: observed, last: observed });
        if ended(observed) > ended(span.last) {
            span.last = observed;
        }
    }
    let (mut violations, mut implied) = (Vec::new(), Vec::new());
    for (first, second, reason) in model.expectation.pairs() {
        let (Some(earlier), Some(later)) = (spans.get(first), spans.get(second)) else { continue };
        let (earlier, later) = (earlier.last, later.first);
        if ended(earlier) > later.begin {
            let violation = Violation { earlier, later, reason };
            if reason.implied { implied.push(violation) } else { violations.push(violation) }
        }
    }
    if violations.is_empty() { implied } else { violations }
}

/// Compares the order of operations with the model's, and how many there were at once with the limit.
pub fn judge(trial: &Trial<'_>) -> Vec<Finding> {
    let span = |observed: &ObservedOperation| SpanDetail {
        begin: observed.begin,
        end: observed.end.map(|(seq, _)| seq),
    };
    let found = |Violation { earlier, later, reason }: Violation<'_>| {
        let subjects = [earlier, later].map(Subject::of_observed);
        let detail = Detail::Spans { first: span(earlier), second: span(later) };
        trial.finding(FindingKind::OrderViolated).of_rule(reason.rule).about(subjects).with(detail)
    };
    let mut findings: Vec<Finding> = violations(trial).into_iter().map(found).collect();
    findings.extend(overlapping_replacements(trial).map(|(create, delete)| {
        let detail = Detail::Spans { first: span(create), second: span(delete) };
        let subjects = [create, delete].map(Subject::of_observed);
        trial.finding(FindingKind::ReplacementOverlaps).about(subjects).with(detail)
    }));
    // A saved plan is applied with options of its own.
    let most = trial.stage.action.parallelism().map_or(trial.calls.at_once, u64::from);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let observed = most_at_once(&trial.evidence.operations);
    if observed > most {
        let detail = Detail::Count { observed, expected: Some(most) };
        findings.push(trial.finding(FindingKind::TooManyAtOnce).with(detail));
    }
    findings
}

/// The replacements for which either order will do, and whose create and delete were under way at once: the one that
/// began first comes first.
fn overlapping_replacements<'a>(
    trial: &'a Trial<'_>,
) -> impl Iterator<Item = (&'a ObservedOperation, &'a ObservedOperation)> {
    let replacements = trial.model.as_ref().map(|model| &model.expectation.replacements);
    let either = replacements.into_iter().flatten();
    let either = either.filter(|(_, order)| **order == ReplacementOrder::Either);
    let operations = &trial.evidence.operations;
    let of = |key, kind| {
        let operation = ResourceOperation::new(key, kind);
        operations.iter().find(|observed| observed.operation == operation)
    };
    either.filter_map(move |(key, _)| {
        let (create, delete) = (of(key, OperationKind::Create)?, of(key, OperationKind::Delete)?);
        at_once(create, delete)
    })
}

/// Two operations that overlap, the one that began first before the other.
fn at_once<'a>(
    one: &'a ObservedOperation,
    other: &'a ObservedOperation,
) -> Option<(&'a ObservedOperation, &'a ObservedOperation)> {
    let (first, second) = if one.begin < other.begin { (one, other) } else { (other, one) };
    (ended(first) > second.begin).then_some((first, second))
}

/// How many operations were under way at the same time.
fn most_at_once(operations: &[ObservedOperation]) -> usize {
    let begun = operations.iter().map(|observed| (observed.begin, true));
    let mut moments: Vec<(u64, bool)> =
        begun.chain(operations.iter().map(|observed| (ended(observed), false))).collect();
    moments.sort_unstable();
    let mut open = 0usize;
    let opens = moments.into_iter().map(|(_, begins)| {
        open = if begins { open + 1 } else { open - 1 };
        open
    });
    opens.max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_operations_overlap_unless_one_has_ended_when_the_other_begins() {
        let observed = |kind, begin, end| ObservedOperation {
            operation: ResourceOperation::new(&"a".into(), kind),
            begin,
            end: Some((end, true)),
            id: None,
            fault: None,
        };
        let create = observed(OperationKind::Create, 3, 6);
        let begins = |begin, end| {
            let delete = observed(OperationKind::Delete, begin, end);
            at_once(&create, &delete).map(|(first, _)| first.operation.kind)
        };
        assert_eq!((begins(1, 2), begins(7, 8)), (None, None));
        assert_eq!(begins(1, 4), Some(OperationKind::Delete));
        assert_eq!((begins(4, 5), begins(5, 8)), (Some(OperationKind::Create), Some(OperationKind::Create)));
    }

    #[test]
    fn operations_that_overlap_are_under_way_at_once_and_one_that_never_ends_stays_so() {
        let create = |begin, end: Option<u64>| ObservedOperation {
            operation: ResourceOperation::new(&"a".into(), OperationKind::Create),
            begin,
            end: end.map(|seq| (seq, true)),
            id: None,
            fault: None,
        };
        assert_eq!(most_at_once(&[]), 0);
        assert_eq!(most_at_once(&[create(1, Some(2)), create(3, Some(4))]), 1);
        assert_eq!(most_at_once(&[create(1, Some(4)), create(2, Some(3)), create(5, Some(6))]), 2);
        assert_eq!(most_at_once(&[create(1, None), create(2, Some(3)), create(4, Some(5))]), 2);
    }
}
