//! One test for each rule of `docs/model.md`; [`laws`] holds for any step.

mod laws;

use super::notation::{between, operation, program, without};
use super::semantics::terraform::{TERRAFORM, TOFU_FROM_1_12};
use super::*;

/// Checks operations (`+a ~b -c`) and order (`+a>~b`: the first before the second), nothing more and nothing less.
#[track_caller]
fn expect(before: &str, after: &str, operations: &str, order: &str) {
    let expectation = between(&program(before), &program(after));
    let wanted = operations.split_whitespace().map(operation).collect();
    assert_eq!(expectation.operations, wanted, "the operations from {before:?} to {after:?}");
    let pairs = order.split_whitespace().map(|pair| pair.split_once('>').expect("a pair is a>b"));
    let mut wanted: Vec<_> = pairs.map(|(first, second)| (operation(first), operation(second))).collect();
    wanted.sort();
    let mut found: Vec<_> =
        expectation.pairs().map(|(first, second, _)| (first.clone(), second.clone())).collect();
    found.sort();
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
    let by_all = between(&before, &after);
    assert!(by_all.pairs().map(|(_, _, reason)| reason.rule).eq([Rule::RemovedDependencyFirst]));
    let rest = without(&"contested".parse().unwrap(), &before, &after);
    assert_eq!((rest.pairs().count(), rest.operations), (0, by_all.operations));
    let (before, after) = (program("a b<^a"), program("b"));
    let rest = without(&"6".parse().unwrap(), &before, &after);
    let pairs: Vec<_> = rest.pairs().map(|(first, second, _)| (first.signed(), second.signed())).collect();
    assert_eq!(pairs, [("-b".to_owned(), "-a".to_owned()), ("-b".to_owned(), "+b".to_owned())]);
}

#[test]
fn an_order_says_by_which_edge_it_reaches_and_whether_it_rests_on_a_setting_that_has_spread() {
    let reasons = |before: &str, after: &str| -> Vec<Reason> {
        between(&program(before), &program(after)).pairs().map(|(_, _, reason)| *reason).collect()
    };
    let made = |via| Reason { rule: Rule::DependencyMadeFirst, via, spread: false, implied: false };
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

#[test]
fn a_label_is_changed_in_place_and_a_pin_by_a_replacement() {
    expect("a=l", "a=m", "~a", "");
    expect("a=l", "a", "~a", "");
    expect("a@p", "a@q", "+a -a", "-a>+a");
    expect("a=l@p", "a=m@q", "+a -a", "-a>+a");
}

#[test]
fn an_ignored_change_of_a_label_asks_for_nothing_until_there_is_a_new_object() {
    expect("a=l", "a~=m", "", "");
    expect("a~=l", "a~=m", "", "");
    expect("a~=l", "a=m", "~a", "");
    let (before, after) = (program("x a~=l"), program("x a~=m<^x"));
    let step = Step {
        deployed: &Deployed::by(&before),
        configuration: &after,
        options: &Options::USUAL,
        semantics: TERRAFORM,
    };
    assert_eq!(objects(&step.outcome())[0], ("a", Some("m"), None, true));
    let (before, after) = (program("x a~=l"), program("x a~=m<x"));
    let step = Step {
        deployed: &Deployed::by(&before),
        configuration: &after,
        options: &Options::USUAL,
        semantics: TERRAFORM,
    };
    assert_eq!(objects(&step.outcome())[0], ("a", Some("l"), None, true));
}

#[test]
fn a_trigger_replaces_when_what_it_names_is_changed_and_not_when_it_is_created() {
    expect("a=l b<*a", "a=m b<*a", "~a +b -b", "-b>~a -b>+b ~a>+b");
    expect("x a b<*a", "x a<^x b<*a", "-a +a +b -b", "-b>-a -a>+a -b>+b +a>+b");
    expect("b", "a b<*a", "+a", "");
    let (before, after) = (program("b c"), program("a b<*a c<*=a"));
    let tofu = Step {
        deployed: &Deployed::by(&before),
        configuration: &after,
        options: &Options::USUAL,
        semantics: TOFU_FROM_1_12,
    };
    assert_eq!(
        tofu.expectation(&LeftOut::none()).operations,
        ["+a", "+b", "-b", "+c", "-c"].map(operation).into()
    );
    expect("a=l b", "a=l b<*a", "", "");
    expect("x a=l b<*=a", "x a=l<x b<*=a", "~a", "");
    expect("a=l b<*=a", "a=m b<*=a", "~a +b -b", "-b>~a -b>+b ~a>+b");
    expect("a~=l b<*=a", "a~=m b<*=a", "", "");
}

#[test]
fn an_edge_that_changes_its_kind_changes_the_dependent_by_the_values_that_come_and_go() {
    expect("a b<a", "a b<+a", "~b", "");
    expect("a b<+a", "a b<^a", "+b -b", "-b>+b");
    expect("a b<+a", "a b<*a", "", "");
}

#[test]
fn targets_bring_what_they_depend_on_and_leave_everything_else_alone() {
    let (before, after) = (program("x a b<a z"), program("x a<^x b<a c<b"));
    let options = Options { target: ["a".into()].into(), ..Options::default() };
    let step = Step {
        deployed: &Deployed::by(&before),
        configuration: &after,
        options: &options,
        semantics: TERRAFORM,
    };
    let expected = step.expectation(&LeftOut::none());
    assert_eq!(expected.operations, ["+a", "-a"].map(operation).into());
    let outcome = step.outcome();
    let b = outcome.object(&"b".into()).unwrap();
    assert_eq!((b.outdated.len(), outcome.len()), (1, 4), "b refers to the old a, z is there, c is not");
    let whole =
        Step { deployed: &outcome, configuration: &after, options: &Options::USUAL, semantics: TERRAFORM };
    assert_eq!(whole.expectation(&LeftOut::none()).operations, ["~b", "-z", "+c"].map(operation).into());
}

#[test]
fn destroying_a_target_takes_what_depends_on_it_along() {
    let deployed = Deployed::by(&program("a b<a c<+b d"));
    let options = Options { target: ["b".into()].into(), ..Options::default() };
    let step = Step {
        deployed: &deployed,
        configuration: &Configuration::EMPTY,
        options: &options,
        semantics: TERRAFORM,
    };
    let expected = step.expectation(&LeftOut::none());
    assert_eq!(expected.operations, ["-b", "-c"].map(operation).into());
    assert_eq!(step.outcome().len(), 2);
}

#[test]
fn what_comes_after_an_operation_that_fails_is_not_begun_and_everything_else_is_done() {
    let failing = |before: &str, after: &str, failing: &str| {
        let step = Step {
            deployed: &Deployed::by(&program(before)),
            configuration: &program(after),
            options: &Options::USUAL,
            semantics: TERRAFORM,
        };
        let failing = failing.split_whitespace().map(operation).collect();
        step.expectation_with_failing(&LeftOut::none(), failing)
    };
    let expected = failing("", "a b<a c<+b d", "+b");
    assert_eq!(expected.operations, ["+a", "+b", "+d"].map(operation).into());
    assert_eq!((expected.failing, expected.optional.len()), ([operation("+b")].into(), 0));
    // a's old object may be held until everything that depends on the new one is made.
    let expected = failing("x a!", "x a!<^x b<+a", "+b");
    assert_eq!(expected.optional, [operation("-a")].into());
    assert!(expected.operations.contains(&operation("-a")));
    // Engines change a before they delete the old object of b, which depended on it.
    let expected = failing("x a b!<a", "x a<x b!<^x", "~a");
    assert_eq!(expected.operations, ["~a", "+b", "-b"].map(operation).into());
    assert_eq!(expected.optional, [operation("-b")].into());
    // Of two that fail, one that comes after the other is not begun, and one that may wait for it may be.
    let expected = failing("", "a b<a c<+b d", "+b +c");
    assert_eq!(expected.operations, ["+a", "+b", "+d"].map(operation).into());
    assert_eq!(expected.failing, [operation("+b")].into());
    let expected = failing("x a b!<a", "x a<x b!<^x", "~a -b");
    assert_eq!(expected.failing, ["~a", "-b"].map(operation).into());
    assert_eq!(expected.optional, [operation("-b")].into());
}

#[test]
fn an_old_object_is_deleted_beside_the_current_one_and_both_deletes_can_be_told_apart() {
    let before = program("x a!");
    let left = TERRAFORM
        .after_failure(&Deployed::by(&before), &program("x a!<^x"), &[notation::effect("+a")])
        .unwrap();
    let step = |text: &str| -> Vec<String> {
        let options = Options::default();
        let step =
            Step { deployed: &left, configuration: &program(text), options: &options, semantics: TERRAFORM };
        step.expectation(&LeftOut::none()).operations.iter().map(ResourceOperation::signed).collect()
    };
    assert_eq!(step("x a!<^x"), ["-a'0"]);
    assert_eq!(step("x"), ["-a", "-a'0"], "two deletes of one node");
    assert_eq!(step("x y a!<^x,^y"), ["+a", "-a", "-a'0", "+y"]);
}

/// What of what is deployed is in the objects themselves.
fn objects(deployed: &Deployed) -> Vec<(&str, Option<&str>, Option<&str>, bool)> {
    let of = |(key, remembered, _, object): (&'_ NodeKey, &Remembered, _, Option<&world::Object>)| {
        let up_to_date = object.is_some_and(|object| object.outdated.is_empty());
        up_to_date && !remembered.is_marked() && remembered.pending.is_empty() && !key.is_empty()
    };
    let current = deployed.current();
    current
        .map(|it| (&**it.0, it.2.label.as_deref(), it.2.pin.as_deref(), of((it.0, it.1, (), it.3))))
        .collect()
}
