//! One test for each rule of `docs/model.md`.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::expectation::yields;
use super::*;

/// A program, a resource a word: `b<a` refers to a, `b<^a` by a reference that forces a replacement, `b<+a` has a
/// `depends_on`; several dependencies are joined by commas; `b!` asks for create_before_destroy.
fn program(text: &str) -> Deployment {
    let mut deployment = Deployment::default();
    for word in text.split_whitespace() {
        let (name, dependencies) = word.split_once('<').unwrap_or((word, ""));
        let mut description = ResourceDescription {
            create_before_destroy: name.ends_with('!'),
            ..ResourceDescription::default()
        };
        for dependency in dependencies.split(',').filter(|dependency| !dependency.is_empty()) {
            let kind = match &dependency[..1] {
                "^" => EdgeKind::PinnedRefs,
                "+" => EdgeKind::DependsOn,
                _ => EdgeKind::Refs,
            };
            description.dependencies.insert(dependency.trim_start_matches(['^', '+']).to_owned(), kind);
        }
        deployment.resources.insert(name.trim_end_matches('!').to_owned(), description);
    }
    deployment
}

fn operation(text: &str) -> ExpectedOperation {
    let (sign, key) = text.split_at(1);
    let kind = match sign {
        "+" => Kind::Create,
        "~" => Kind::Update,
        "-" => Kind::Delete,
        _ => panic!("{text} is no operation"),
    };
    ExpectedOperation { key: key.to_owned(), kind }
}

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
fn rules_between_deletes_and_changes_that_contradict_each_other_bind_nobody() {
    expect("x a b<a c!<b", "x a<x c!<a", "~a -b ~c", "~a>~c");
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

/// Two programs over five resources, with edges of all kinds that go upward only. A resource that is in both asks for
/// create_before_destroy in both or in neither: engines make no promise for the run in which that changes.
fn two_programs() -> impl Strategy<Value = (Deployment, Deployment)> {
    let kind = prop_oneof![Just(EdgeKind::Refs), Just(EdgeKind::PinnedRefs), Just(EdgeKind::DependsOn)];
    let resource = (prop::bool::weighted(0.7), prop::collection::vec(prop::option::of(kind), 5));
    let program = prop::collection::vec(resource, 5);
    let asking = prop::collection::vec(prop::bool::weighted(0.3), 5);
    (program.clone(), program, asking).prop_map(|(before, after, asking)| {
        let build = |drawn: Vec<(bool, Vec<Option<EdgeKind>>)>| {
            let mut deployment = Deployment::default();
            for (index, (_, kinds)) in drawn.iter().enumerate().filter(|(_, (there, _))| *there) {
                let kinds = kinds.iter().enumerate().take(index).filter(|(lower, _)| drawn[*lower].0);
                let dependencies = kinds.filter_map(|(lower, kind)| Some((format!("r{lower}"), (*kind)?)));
                let description = ResourceDescription {
                    dependencies: dependencies.collect(),
                    create_before_destroy: asking[index],
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

    /// What is released by circles is what is released by the definition: the order asks for the pair the other way round.
    #[test]
    fn a_rule_yields_just_where_the_order_leads_back((before, after) in two_programs()) {
        let mut wanted = Expectation::with_contradictions(&before, &after);
        let all = wanted.order.clone();
        let leads_back = |first: &ExpectedOperation, second: &ExpectedOperation| {
            let (mut open, mut seen) = (vec![second], BTreeSet::from([second]));
            while let Some(operation) = open.pop() {
                let next = all.keys().filter(|(from, _)| from == operation).map(|(_, to)| to);
                open.extend(next.filter(|to| seen.insert(*to)));
            }
            seen.contains(first)
        };
        wanted.order.retain(|(first, second), rule| !(yields(rule) && leads_back(first, second)));
        prop_assert_eq!(Expectation::between(&before, &after), wanted);
    }

    #[test]
    fn the_same_program_again_asks_for_nothing((program, _) in two_programs()) {
        prop_assert_eq!(Expectation::between(&program, &program), Expectation::default());
    }

    #[test]
    fn order_speaks_only_of_operations_that_are_expected((before, after) in two_programs()) {
        let Expectation { operations, order } = Expectation::between(&before, &after);
        prop_assert!(order.keys().all(|(first, second)| operations.contains(first) && operations.contains(second)));
    }
}
