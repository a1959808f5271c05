use equiform_proto::faults::{Breach, Fault, FaultAction, FaultOperation};

use super::*;
use crate::spec::Drift;
use crate::spec::notation::{effect, operation, program};

fn after(before: &str, after: &str, effects: &str) -> Result<Deployed, NotModelled> {
    let effects: Vec<Effect> = effects.split_whitespace().map(effect).collect();
    after_failure(&Deployed::by(&program(before)), &program(after), &effects)
}

fn object<'a>(deployed: &'a Deployed, key: &str) -> &'a Object {
    deployed.object(&key.into()).unwrap()
}

fn remembered<'a>(deployed: &'a Deployed, key: &str) -> &'a Remembered {
    deployed.memory.node(key).unwrap()
}

#[test]
fn after_all_operations_the_program_is_deployed() {
    let done = after("a b<a", "x a b<x", "-b +x +b").unwrap();
    assert_eq!(done, Deployed::by(&program("x a b<x")));
}

#[test]
fn after_some_operations_the_rest_is_as_it_was() {
    assert_eq!(after("a b<a", "x a<x b<a", "").unwrap(), Deployed::by(&program("a b<a")));
    assert_eq!(after("a b<a", "x a b<x", "+x").unwrap(), Deployed::by(&program("x a b<a")));
    assert_eq!(after("x a b<^a", "x a<^x b<^a", "-b").unwrap(), Deployed::by(&program("x a")));
}

#[test]
fn what_refers_to_an_object_that_was_replaced_and_is_not_written_itself_is_outdated() {
    let done = after("x a b<a c<+a", "x a<^x b<a c<+a", "-a +a").unwrap();
    assert_eq!(object(&done, "b").outdated, ["a".into()].into());
    assert!(object(&done, "c").outdated.is_empty(), "it refers to nothing by value");
    let done = after("x a b<a", "x a<^x b<a", "-a +a ~b").unwrap();
    assert!(object(&done, "b").outdated.is_empty());
}

#[test]
fn an_object_that_was_created_in_part_is_marked_and_one_that_was_updated_in_part_has_the_new_label() {
    assert!(remembered(&after("", "a", "+a?").unwrap(), "a").is_marked());
    let done = after("x a", "x a=l<x", "~a?").unwrap();
    assert_eq!(object(&done, "a").label.as_deref(), Some("l"));
    assert_eq!(remembered(&done, "a").dependencies.len(), 0);
}

#[test]
fn an_object_that_was_made_against_the_plan_is_as_the_provider_made_it() {
    let breached = |text: &str, breach| Effect { breach: Some(breach), ..effect(text) };
    let created =
        |breach| after_failure(&Deployed::NOTHING, &program("a=l"), &[breached("+a", breach)]).unwrap();
    let other = created(Breach::InconsistentResult);
    assert!(remembered(&other, "a").is_marked());
    assert_eq!(object(&other, "a").label.as_deref(), Some(Breach::LABEL));
    assert_eq!(object(&created(Breach::UnknownResult), "a").label, None);
    let before = Deployed::by(&program("x a"));
    let effects = [breached("~a", Breach::InconsistentResult)];
    let updated = after_failure(&before, &program("x a=l<x"), &effects).unwrap();
    assert!(!remembered(&updated, "a").is_marked());
    assert_eq!(object(&updated, "a").label.as_deref(), Some(Breach::LABEL));
    assert_eq!(remembered(&updated, "a").dependencies.len(), 1, "all the rest is as it was planned");
}

#[test]
fn an_old_object_that_could_not_be_deleted_is_left_beside_the_new_one() {
    let done = after("x a!", "x a!<^x", "+a").unwrap();
    assert_eq!(remembered(&done, "a").pending, [0]);
    assert_eq!(done.world.of_node(&"a".into()).count(), 2);
    let rest = after_failure(&done, &program("x a!<^x"), &[effect("-a'0")]).unwrap();
    assert_eq!(rest, Deployed::by(&program("x a!<^x")));
    let gone = after_failure(&done, &program("x"), &[effect("-a"), effect("-a'0")]).unwrap();
    assert_eq!(gone, Deployed::by(&program("x")));
}

#[test]
fn an_update_leaves_an_old_object_where_it_is() {
    let done = after("x a!", "x a!<^x", "+a").unwrap();
    let done = after_failure(&done, &program("x a!=l<^x"), &[effect("~a")]).unwrap();
    assert_eq!(remembered(&done, "a").pending, [0]);
    assert_eq!(object(&done, "a").label.as_deref(), Some("l"));
}

#[test]
fn a_node_whose_current_object_is_gone_keeps_the_old_one() {
    let done = after("x a!", "x a!<^x", "+a").unwrap();
    let done = after_failure(&done, &program("x a!<^x"), &[effect("-a")]).unwrap();
    assert!(!done.has("a"));
    assert_eq!(remembered(&done, "a").pending, [0]);
    let again = after_failure(&done, &program("x a!<^x"), &[effect("+a")]).unwrap();
    assert_eq!(remembered(&again, "a").current.as_ref().unwrap().object, 1);
}

#[test]
fn what_was_left_out_is_as_it_was_and_what_was_only_deleted_is_gone() {
    let (before, written) = (Deployed::by(&program("x a b<+a")), program("x a<^x b<+a"));
    let replacement = ["-a", "+a"].map(operation).into();
    let left_out = |effects: &str| {
        let effects: Vec<Effect> = effects.split_whitespace().map(effect).collect();
        with_left_out(Deployed::by(&written), &before, &replacement, &effects)
    };
    assert_eq!(left_out("-a +a"), Deployed::by(&written));
    assert_eq!(left_out(""), before);
    assert!(left_out("-a").keys().map(|key| &**key).eq(["b", "x"]));
}

#[test]
fn an_old_object_that_should_have_been_deleted_is_still_there() {
    let (before, written) = (Deployed::by(&program("x a!")), program("x a!<^x"));
    let left = |effects: &[Effect]| with_objects_left(Deployed::by(&written), &before, effects);
    assert_eq!(remembered(&left(&[effect("+a")]), "a").pending, [0]);
    assert_eq!(left(&[effect("+a"), effect("-a")]), Deployed::by(&written));
}

#[test]
fn what_nobody_wrote_is_nothing_to_go_on_from() {
    assert!(after("a", "a", "-z").is_err());
    assert_eq!(after("x a!", "x a!<^x", "+a?").unwrap_err().key.as_ref(), "a", "two objects, one in part");
    assert!(after("a", "a", "-a -a").is_err(), "an object is deleted once");
}

#[test]
fn an_engine_that_reads_objects_knows_what_has_drifted() {
    let deployed = Deployed::by(&program("a=l b<a"));
    let gone = deployed.clone().drifted("a", &Drift::Gone);
    assert!(gone.has_drifted() && gone.len() == 2);
    assert_eq!(gone.refreshed().len(), 1);
    let other = deployed.drifted("a", &Drift::Label(Some("m".into())));
    assert_eq!(remembered(&other, "a").current.as_ref().unwrap().label.as_deref(), Some("l"));
    let read = other.refreshed();
    assert_eq!(remembered(&read, "a").current.as_ref().unwrap().label.as_deref(), Some("m"));
}

#[test]
fn a_destroy_may_wait_by_what_was_deployed_and_by_what_is_written() {
    let either = before_destroy_by_either(Deployed::by(&program("a b<a c")), &program("a b<c c"));
    assert!(remembered(&either, "b").dependencies.keys().map(|key| &**key).eq(["a", "c"]));
    let same = Deployed::by(&program("a b<a"));
    assert_eq!(before_destroy_by_either(same.clone(), &program("a b<a")), same);
}

#[test]
fn a_call_is_met_only_where_there_is_something_to_read_or_to_replace() {
    let deployed = after("x a", "x a<^x b", "+b?").unwrap();
    let meets = |operation, key: &str, breach| {
        deployed.meets(&Fault::in_first_call(operation, Some(key), FaultAction::Breach(breach)))
    };
    let reads = ["a", "b", "c"].map(|key| meets(FaultOperation::Read, key, Breach::WrongType));
    assert_eq!(reads, [true, true, false]);
    let replaces = ["a", "b", "c"].map(|key| meets(FaultOperation::Plan, key, Breach::InvalidReplacement));
    assert_eq!(replaces, [true, false, false], "b is marked, c is not there");
    assert!(meets(FaultOperation::Plan, "c", Breach::InvalidPlan));
}
