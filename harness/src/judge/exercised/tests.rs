use equiform_proto::ledger::World;

use super::*;
use crate::algebra::graph::NamedGraph;
use crate::case::stage::Stage;
use crate::evidence::{ObservedOperation, StageEvidence, StageRecord, StoredIdentity, StoredSetting};
use crate::judge::oracles::{ModelView, ORACLES, Oracle, Trial};
use crate::judge::requests::Requests;
use crate::spec::notation::{between, operation, program};
use crate::spec::{Deployed, Options};

/// What the step between two programs exercised, if these operations were observed: `+a[1..4]` is a create of
/// a that began at 1 and ended at 4.
fn exercised(before: &str, after: &str, observed: &str) -> Exercised {
    let expectation = between(&program(before), &program(after));
    let mut operations: Vec<ObservedOperation> = observed.split_whitespace().map(observation).collect();
    operations.sort_by_key(|observed| observed.begin);
    let trial = Trial {
        stage: &Stage::usual(3, 0)[1],
        options: &Options::USUAL,
        identity: StoredIdentity::Never,
        setting: StoredSetting::Always,
        engine: None,
        version: None,
        known_stderr: &[],
        backup_is_a_copy: true,
        calls: &crate::engines::driver::CallBounds::UNBOUNDED,
        repeated: None,
        evidence: &StageEvidence::without_state(StageRecord::new("batch-2", "apply"), operations),
        requests: &Requests::default(),
        world: &World::default(),
        model: Some(ModelView {
            source: &NamedGraph::default(),
            program_is_deployed: true,
            deployed: &Deployed::by(&program(before)),
            program: &program(after),
            written: &program(after),
            semantics: crate::spec::semantics::terraform::TERRAFORM,
            plan: &expectation,
            expectation: &expectation,
            outcome: None,
        }),
    };
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let mut exercised = Exercised::default();
    exercised.count(&trial, &oracles);
    exercised
}

fn observation(text: &str) -> ObservedOperation {
    let (name, span) = text.trim_end_matches(']').split_once('[').expect("it has a span");
    let (begin, end) = span.split_once("..").expect("it has a begin and an end");
    let end = end.parse().ok().map(|end| (end, true));
    ObservedOperation {
        operation: operation(name),
        begin: begin.parse().expect("a number"),
        end,
        id: None,
        fault: None,
    }
}

fn count(exercised: u64, kept: u64, adjacent: u64, overlapped: u64, reversed: u64) -> Count {
    Count { exercised, kept, adjacent, overlapped, reversed }
}

#[test]
fn a_rule_is_due_for_each_pair_that_it_orders_and_that_was_observed() {
    let in_order = exercised("", "a b<a c<^a d<+a", "+a[1..2] +b[3..4] +c[5..6]");
    assert_eq!(in_order.rule(Rule::DependencyMadeFirst), count(2, 2, 1, 0, 0), "d was not observed");
    assert_eq!(in_order.edge(EdgeKind::Refs), count(1, 1, 1, 0, 0));
    assert_eq!(in_order.edge(EdgeKind::PinnedRefs), count(1, 1, 0, 0, 0), "b ended in between");
    assert_eq!(in_order.edge(EdgeKind::DependsOn), count(0, 0, 0, 0, 0));
    let not = exercised("", "a b<a c<^a d<+a", "+a[3..5] +b[1..2] +c[4..6] +d[7..8]");
    assert_eq!(not.rule(Rule::DependencyMadeFirst), count(3, 1, 0, 1, 1));
}

#[test]
fn what_no_rule_orders_is_counted_by_pairs_and_by_those_that_overlapped() {
    // a is before c by way of b; d is free of all of them.
    let step = exercised("", "a b<a c<b d", "+a[1..2] +b[3..5] +c[7..8] +d[4..6]");
    assert_eq!(step.rule(Rule::Unordered), count(3, 2, 0, 1, 0));
    let sequential = exercised("", "a b", "+a[1..2] +b[3..4]");
    assert_eq!(sequential.rule(Rule::Unordered), count(1, 1, 0, 0, 0));
}

#[test]
fn replacements_are_counted_by_the_order_that_is_due() {
    let default = exercised("x a", "x a<^x", "-a[1..2] +a[3..4]");
    assert_eq!(default.replacement(ReplacementOrder::DeleteFirst), count(1, 1, 1, 0, 0));
    assert_eq!(default.rule(Rule::DeleteThenCreate), count(1, 1, 1, 0, 0));
    assert_eq!(default.rule(Rule::Replaced), count(1, 1, 0, 0, 0));
    let reversed = exercised("x a!", "x a!<^x", "-a[1..2] +a[3..4]");
    assert_eq!(reversed.replacement(ReplacementOrder::CreateFirst), count(1, 0, 0, 0, 1));
    let either = exercised("x a c!<a", "x a<^x", "-c[1..2] -a[3..6] +a[4..5]");
    assert_eq!(either.replacement(ReplacementOrder::Either), count(1, 0, 0, 1, 0));
}

#[test]
fn operations_count_as_kept_if_they_happened_once_and_nothing_else_did() {
    let step = exercised("a b k", "b<c c k", "-a[1..2] +c[3..4] +c[5..6] ~k[7..8]");
    assert_eq!(step.rule(Rule::Removed), count(1, 1, 0, 0, 0));
    assert_eq!(step.rule(Rule::Created), count(1, 0, 0, 0, 0), "twice is not once");
    assert_eq!(step.rule(Rule::Updated), count(1, 0, 0, 0, 0), "it is missing");
    assert_eq!(step.rule(Rule::LeftAlone), count(1, 0, 0, 0, 0), "k was touched");
}

#[test]
fn an_order_that_rests_on_a_setting_that_has_spread_or_on_a_chain_is_counted_as_such() {
    let spread = exercised("x a b<a c!<+b", "x a<^x b<a c!<+b", "+a[1..2] ~b[3..4] -a[5..6]");
    assert_eq!(spread.rule(Rule::SettingSpreads).exercised, 2);
    assert_eq!(
        exercised("x a! b<a", "x a!<^x b<a", "+a[1..2] ~b[3..4] -a[5..6]")
            .rule(Rule::SettingSpreads)
            .exercised,
        0
    );
    let chain = exercised("a m<+a b<+m", "m", "-b[1..2] -a[3..4]");
    assert_eq!(chain.rule(Rule::WholeChain), count(1, 1, 1, 0, 0));
    assert!(chain.edges.is_empty());
}

#[test]
fn counts_add_up_and_come_back_from_their_file() {
    let one = exercised("", "a b<a", "+a[1..2] +b[3..4]");
    let mut sum = one.clone();
    sum.add(&exercised("a b<a", "", "-b[1..2] -a[3..4]"));
    assert_eq!(sum.edge(EdgeKind::Refs).exercised, 2);
    assert_eq!(sum.checks[OPERATIONS_COMPARED], 4);
    let text = serde_json::to_string(&sum).unwrap();
    assert_eq!(serde_json::from_str::<Exercised>(&text).unwrap(), sum);
}

#[test]
fn what_was_not_exercised_is_named_unless_it_was_left_out() {
    let mut exercised = exercised("", "a b<a", "+a[1..2] +b[3..4]");
    let names = exercised.not_exercised(&Rule::ALL);
    assert!(names.contains(&"rule 6 (removed-dependency-first)".to_owned()), "{names:?}");
    assert!(
        names.contains(&"edges by depends_on".to_owned())
            && names.contains(&"replacement (either order)".to_owned())
    );
    assert!(!names.iter().any(|name| name.contains("dependency-made-first") || name == "edges by refs"));
    exercised.left_out = "contested".parse().unwrap();
    assert_eq!(exercised.not_exercised(&Rule::ALL).len(), names.len() - 1);
}

#[test]
fn an_operation_that_never_ended_overlaps_with_what_began_after_it() {
    let hung = exercised("", "a b<a", "+a[1..never] +b[3..4]");
    assert_eq!(hung.rule(Rule::DependencyMadeFirst), count(1, 0, 0, 1, 0));
    let operation = operation("+a");
    assert_eq!(observation("+a[1..2]").operation, operation);
}
