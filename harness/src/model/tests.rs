//! One test for each rule of `docs/model.md`.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::notation::{operation, program};
use super::*;

/// Checks operations (`+a ~b -c`) and order (`+a>~b`: the first before the second), nothing more and nothing less.
#[track_caller]
fn expect(before: &str, after: &str, operations: &str, order: &str) {
    let expectation = Expectation::between(&program(before), &program(after));
    let wanted = operations.split_whitespace().map(operation).collect();
    assert_eq!(expectation.operations, wanted, "the operations from {before:?} to {after:?}");
    let pairs = order.split_whitespace().map(|pair| pair.split_once('>').expect("a pair is a>b"));
    let mut wanted: Vec<_> = pairs.map(|(first, second)| (operation(first), operation(second))).collect();
    wanted.sort();
    let found: Vec<_> = expectation.order.into_keys().collect();
    assert_eq!(found, wanted, "the order from {before:?} to {after:?}");
}

#[test]
fn a_dependency_is_created_before_its_dependent() {
    expect("", "a b<a", "+a +b", "+a>+b");
}

#[test]
fn a_pinned_reference_and_a_depends_on_order_creation_as_a_reference_does() {
    expect("", "a b<^a c<+a", "+a +b +c", "+a>+b +a>+c");
}

#[test]
fn a_new_dependency_is_created_before_the_dependent_is_updated() {
    expect("b", "a b<a", "+a ~b", "+a>~b");
}

#[test]
fn a_dependency_is_updated_before_its_dependent() {
    expect("x a b<a", "x a<x b<a,x", "~a ~b", "~a>~b");
}

#[test]
fn a_dependent_is_deleted_before_its_dependency() {
    expect("a b<a c<+b", "", "-a -b -c", "-b>-a -c>-b");
}

#[test]
fn a_removed_dependent_is_deleted_before_its_dependency_is_updated() {
    expect("x a b<a", "x a<x", "~a -b", "-b>~a");
}

#[test]
fn a_replaced_dependent_s_old_object_is_deleted_before_its_dependency_is_changed() {
    // a is updated, b replaced because of p.
    expect("x p a b<a", "x p a<x b<a,^p", "~a +b -b", "-b>+b -b>~a ~a>+b");
    // a is replaced, new object first; b is replaced, or removed, old object first.
    expect("x a! b<^a", "x a!<^x b<^a", "+a -a +b -b", "+a>-a -b>+b -b>-a -b>+a +a>+b +b>-a");
    expect("x a! b<^a", "x a!<^x", "+a -a -b", "+a>-a -b>-a -b>+a");
}

#[test]
fn a_rule_that_is_left_out_orders_nothing_and_all_others_still_do() {
    let (before, after) = (program("a b<a"), program("b"));
    let by_all = Expectation::between(&before, &after);
    assert_eq!(
        by_all.order.values().map(|reason| reason.rule).collect::<Vec<_>>(),
        [Rule::RemovedDependencyFirst]
    );
    let without = Expectation::without(&"contested".parse().unwrap(), &before, &after);
    assert_eq!(without, Expectation { order: BTreeMap::new(), ..by_all });
    let (before, after) = (program("a b<^a"), program("b"));
    let without = Expectation::without(&"6".parse().unwrap(), &before, &after);
    let pairs: Vec<_> = without.order.keys().cloned().collect();
    assert_eq!(pairs, [(operation("-b"), operation("-a")), (operation("-b"), operation("+b"))]);
}

#[test]
fn an_order_says_by_which_edge_it_reaches_and_whether_it_rests_on_a_setting_that_has_spread() {
    let reasons = |before: &str, after: &str| -> Vec<Reason> {
        Expectation::between(&program(before), &program(after)).order.into_values().collect()
    };
    let made = |via| Reason { rule: Rule::DependencyMadeFirst, via, spread: false };
    let edges = [EdgeKind::Refs, EdgeKind::PinnedRefs, EdgeKind::DependsOn].map(|kind| made(Via::Edge(kind)));
    assert_eq!(reasons("", "a b<a c<^a d<+a"), edges);
    assert_eq!(reasons("a m<+a b<+m", "m")[0].via, Via::Others);
    let spread = |after| reasons("x a c!<+a", after).iter().filter(|reason| reason.spread).count();
    assert_eq!((spread("x a<^x c!<+a"), spread("x a!<^x c!<+a")), (1, 0));
}

#[test]
fn with_create_before_destroy_a_removed_dependent_may_be_deleted_before_or_after_the_update_of_its_dependency()
 {
    expect("x a b!<a", "x a<x", "~a -b", "");
}

#[test]
fn order_holds_through_resources_that_are_left_alone() {
    expect("a m<+a b<m", "x a<x m<+a b<m,x", "+x ~a ~b", "+x>~a +x>~b ~a>~b");
    expect("a m<+a b<+m", "m", "-a -b", "-b>-a");
    expect("x a m<+a b<+m", "x a<x m<+a", "~a -b", "-b>~a");
}

#[test]
fn a_removed_dependency_is_deleted_before_the_new_object_of_a_replaced_dependent() {
    expect("a b<^a", "b", "-a +b -b", "-b>+b -b>-a -a>+b");
}

#[test]
fn where_create_before_destroy_comes_or_goes_in_the_step_either_order_will_do() {
    // c, which asks for it, is removed: for a it was in force, and is no more.
    expect("x a c!<a", "x a<^x", "+a -a -c", "-c>-a");
    // c, which asks for it, is new: for b it comes into force, and b's removed dependency a is held by the old b.
    expect("a b<^a", "b c!<b", "-a +b -b +c", "+b>-b -b>-a +b>+c");
}

#[test]
fn a_removed_dependency_is_deleted_before_the_dependent_that_loses_it_is_updated() {
    expect("a b<a", "b", "-a ~b", "-a>~b");
}

#[test]
fn with_create_before_destroy_a_removed_dependency_outlives_the_update_of_its_dependent() {
    expect("a! b<a", "b", "-a ~b", "~b>-a");
}

#[test]
fn a_replacement_deletes_first_and_takes_replaced_dependents_around_it() {
    expect("x a<^x b<^a", "x y a<^x,^y b<^a", "+y +a -a +b -b", "+y>+a -a>+a -b>+b -b>-a +a>+b");
}

#[test]
fn a_replaced_dependency_updates_the_dependent_that_refers_to_it() {
    expect("x a b<a", "x a<^x b<a", "+a -a ~b", "-a>+a +a>~b");
}

#[test]
fn a_replaced_dependency_leaves_a_dependent_by_order_alone_as_it_is() {
    expect("x a b<+a", "x a<^x b<+a", "+a -a", "-a>+a");
}

#[test]
fn create_before_destroy_creates_then_changes_dependents_then_deletes() {
    expect("x a! b<a", "x a!<^x b<a", "+a -a ~b", "+a>-a +a>~b ~b>-a");
}

#[test]
fn create_before_destroy_spreads_to_everything_it_depends_on() {
    expect("x a b<a c!<+b", "x a<^x b<a c!<+b", "+a -a ~b", "+a>-a +a>~b ~b>-a");
}

#[test]
fn create_before_destroy_does_not_spread_to_dependents() {
    expect("x a! b<a", "x a! b<a,^x", "+b -b", "-b>+b");
}

#[test]
fn create_before_destroy_of_a_removed_dependent_still_holds_for_what_it_depended_on() {
    expect("a b<a c!<+a", "b", "-a ~b -c", "-c>-a ~b>-a");
}

#[test]
fn a_removed_dependency_outlives_the_new_object_of_a_replaced_dependent_with_create_before_destroy() {
    expect("a b!<^a", "b!", "-a +b -b", "+b>-b -b>-a +b>-a");
}

#[test]
fn independent_operations_have_no_order() {
    expect("c", "a b", "+a +b -c", "");
}

#[test]
fn a_depends_on_that_comes_or_goes_asks_the_provider_for_nothing() {
    expect("a b", "a b<+a", "", "");
    expect("a b<+a", "a b", "", "");
}

#[test]
fn a_reference_that_becomes_pinned_replaces() {
    expect("a b<a", "a b<^a", "+b -b", "-b>+b");
}

/// Two programs over five resources, with edges of all kinds that go upward only.
fn two_programs() -> impl Strategy<Value = (Deployment, Deployment)> {
    let kind = prop_oneof![Just(EdgeKind::Refs), Just(EdgeKind::PinnedRefs), Just(EdgeKind::DependsOn)];
    let edges = prop::collection::vec(prop::option::of(kind), 5);
    let resource = (prop::bool::weighted(0.7), edges, prop::bool::weighted(0.3));
    let program = prop::collection::vec(resource, 5);
    (program.clone(), program).prop_map(|(before, after)| {
        let build = |drawn: Vec<(bool, Vec<Option<EdgeKind>>, bool)>| {
            let mut deployment = Deployment::default();
            for (index, (_, kinds, asks)) in drawn.iter().enumerate().filter(|(_, (there, ..))| *there) {
                let kinds = kinds.iter().enumerate().take(index).filter(|(lower, _)| drawn[*lower].0);
                let dependencies = kinds.filter_map(|(lower, kind)| Some((format!("r{lower}"), (*kind)?)));
                let description = ResourceDescription {
                    dependencies: dependencies.collect(),
                    create_before_destroy: *asks,
                };
                deployment.resources.insert(format!("r{index}"), description);
            }
            deployment
        };
        (build(before), build(after))
    })
}

proptest! {
    /// An acyclic program that follows on an acyclic one can always be deployed: the order asked for has no circle.
    #[test]
    fn some_sequence_keeps_the_whole_order((before, after) in two_programs()) {
        let expectation = Expectation::between(&before, &after);
        let mut left = expectation.operations.clone();
        while !left.is_empty() {
            let free = left.iter().find(|operation| {
                !expectation.order.keys().any(|(first, second)| second == *operation && left.contains(first))
            });
            let Some(free) = free.cloned() else {
                return Err(TestCaseError::fail(format!("a circle among {left:?}: {:?}", expectation.order)));
            };
            left.remove(&free);
        }
    }

    #[test]
    fn the_same_program_again_asks_for_nothing((program, _) in two_programs()) {
        let expected = Expectation { left_alone: program.resources.len(), ..Expectation::default() };
        prop_assert_eq!(Expectation::between(&program, &program), expected);
    }

    #[test]
    fn order_speaks_only_of_operations_that_are_expected((before, after) in two_programs()) {
        let Expectation { operations, order, .. } = Expectation::between(&before, &after);
        prop_assert!(order.keys().all(|(first, second)| operations.contains(first) && operations.contains(second)));
    }
}
