//! Faults on demand: what the engine is told, what takes effect, and what the ledger says of it.

use equiform_proto::faults::FaultAction::*;
use equiform_proto::faults::FaultOperation::*;
use equiform_proto::faults::{Breach as Breached, Fault, FaultAction, FaultOperation, Faults};
use equiform_proto::ledger::{Entry, Operation, Phase};
use equiform_proto::tfplugin6::*;
use serde_json::{Value as Json, json};

use crate::processes::verified;
use crate::support::*;

const SUMMARY: &str = "The mock provider was told to fail this operation";

/// A list of faults as JSON: operation, key (empty for configure), call and action of each.
fn list(faults: &[(FaultOperation, &str, u64, FaultAction)]) -> String {
    let faults = faults.iter().map(|&(operation, key, nth, action)| {
        let mut fault = Fault::in_first_call(operation, Some(key).filter(|key| !key.is_empty()), action);
        fault.call.nth = nth;
        fault
    });
    Faults::new(faults.collect()).unwrap().to_json()
}

/// A provider whose environment holds a list of faults.
fn with_faults(faults: &[(FaultOperation, &str, u64, FaultAction)]) -> Plugin {
    with_list(&list(faults))
}

fn with_list(list: &str) -> Plugin {
    Plugin::start_with(|command| {
        command.env("EQUIFORM_FAULTS", list).env("EQUIFORM_RUN", "r");
    })
}

/// The only diagnostic, which names what failed.
fn assert_told(diagnostics: &[Diagnostic], names: &str) {
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert_eq!(diagnostics[0].summary, SUMMARY);
    assert!(diagnostics[0].detail.contains(names), "{}", diagnostics[0].detail);
}

/// The entries of an operation.
fn entries(plugin: &Plugin, op: Operation) -> Vec<Entry> {
    verified(&plugin.ledger()).0.into_iter().filter(|entry| entry.op == op).collect()
}

/// The attributes of the object in the world that has this key.
fn in_world(plugin: &Plugin, key: &str) -> Option<Json> {
    let (_, world) = verified(&plugin.ledger());
    let object = world.objects().find(|object| object.key.as_deref() == Some(key));
    object.map(|object| serde_json::to_value(&object.attributes).unwrap())
}

/// Phases and faults of entries.
fn ends(entries: &[Entry]) -> Vec<(Phase, Option<&str>)> {
    entries.iter().map(|entry| (entry.phase, entry.fault.as_deref())).collect()
}

fn kept(answer: &apply_resource_change::Response) -> Kept {
    Kept { state: answer.new_state.clone().unwrap(), private: answer.private.clone() }
}

/// Plans and applies; the plan must succeed.
async fn change(
    engine: &mut Engine,
    prior: Option<&Kept>,
    to: DynamicValue,
) -> apply_resource_change::Response {
    let plan = engine.plan(prior, to).await;
    assert_eq!(plan.diagnostics, []);
    engine.apply(prior, plan).await
}

/// What an engine proposes for an object that it keeps: its id stays.
fn proposed(kept: &Kept, label: &str, refs: &[&str]) -> DynamicValue {
    value(&json!({"key": "a", "label": label, "refs": refs, "id": kept.id(), "revision": 1}))
}

#[test]
fn a_create_that_fails_leaves_nothing_and_the_next_one_succeeds() {
    let plugin = with_faults(&[(Create, "a", 1, Error), (Create, "b", 2, Error)]);
    run(async {
        let mut engine = plugin.engine().await;
        let failed = change(&mut engine, None, node("a", None)).await;
        assert_told(&failed.diagnostics, "create of \"a\", call 1");
        assert_eq!(failed.new_state, Some(null()));
        assert!(failed.private.is_empty());
        assert!(in_world(&plugin, "a").is_none());
        engine.create("b").await;
        engine.create("a").await;
        let failed = change(&mut engine, None, node("b", None)).await;
        assert_told(&failed.diagnostics, "create of \"b\", call 2");
    });
    let entries = entries(&plugin, Operation::Create);
    let of_a: Vec<_> = entries.iter().filter(|entry| entry.key.as_deref() == Some("a")).cloned().collect();
    let fault = Some("create of \"a\", call 1: error");
    let expected = [(Phase::Begin, fault), (Phase::Fail, fault), (Phase::Begin, None), (Phase::Commit, None)];
    assert_eq!(ends(&of_a), expected);
    let failed = &of_a[1];
    assert_eq!((failed.begin, &failed.id), (Some(of_a[0].seq), &of_a[0].id));
    assert_eq!(failed.error.as_deref(), Some(SUMMARY));
    assert!(failed.after.is_none() && failed.refs.is_empty());
}

#[test]
fn a_breach_is_an_answer_without_an_error_and_the_ledger_has_what_took_effect() {
    let plugin = with_faults(&[
        (Create, "a", 1, Breach(Breached::InconsistentResult)),
        (Create, "b", 1, Breach(Breached::MissingResult)),
        (Create, "c", 1, Breach(Breached::UnknownResult)),
    ]);
    run(async {
        let mut engine = plugin.engine().await;
        for key in ["a", "b", "c"] {
            let answer = change(&mut engine, None, node(key, None)).await;
            assert_eq!(answer.diagnostics, [], "{key}");
            assert_eq!(answer.new_state == Some(null()), key == "b");
        }
    });
    assert_eq!(in_world(&plugin, "a").unwrap()["label"], Breached::LABEL);
    assert!(in_world(&plugin, "b").is_none());
    assert_eq!(in_world(&plugin, "c").unwrap()["label"], Json::Null);
    let entries = entries(&plugin, Operation::Create);
    let phases: Vec<Phase> = entries.iter().map(|entry| entry.phase).collect();
    use Phase::{Begin, Commit, Fail};
    assert_eq!(phases, [Begin, Commit, Begin, Fail, Begin, Commit]);
    assert!(entries.iter().all(|entry| entry.fault.is_some()));
}

#[test]
fn a_create_that_fails_in_part_leaves_an_object_that_can_be_read_and_replaced() {
    let plugin = with_faults(&[(Create, "a", 1, ErrorWithPartialObject)]);
    run(async {
        let mut engine = plugin.engine().await;
        let failed = change(&mut engine, None, node("a", Some("x"))).await;
        assert_told(&failed.diagnostics, "create of \"a\", call 1");
        let object = kept(&failed);
        assert!(failed.new_identity.is_some());
        let read = engine.read(&object).await;
        assert_eq!((read.diagnostics, read.new_state.as_ref()), (vec![], Some(&object.state)));
        assert_eq!(in_world(&plugin, "a").unwrap()["id"], object.id());
        // An engine replaces what is tainted, and plans that as if there were nothing to replace.
        let mut replaced = engine.plan(None, node("a", Some("x"))).await;
        let replacement = replaced.clone();
        replaced.planned_state = Some(null());
        assert_eq!(engine.apply(Some(&object), replaced).await.diagnostics, []);
        let created = engine.apply(None, replacement).await;
        assert_eq!(created.diagnostics, []);
        assert_ne!(kept(&created).id(), object.id());
    });
    let entries = entries(&plugin, Operation::Create);
    let fault = Some("create of \"a\", call 1: error with a partial object");
    let expected =
        [(Phase::Begin, fault), (Phase::Commit, fault), (Phase::Begin, None), (Phase::Commit, None)];
    assert_eq!(ends(&entries), expected);
    assert_eq!(entries[1].error, None);
}

#[test]
fn an_update_that_fails_leaves_the_object_as_it_was() {
    let plugin = with_faults(&[(Update, "a", 1, Error)]);
    run(async {
        let mut engine = plugin.engine().await;
        let object = engine.create("a").await;
        let failed = change(&mut engine, Some(&object), proposed(&object, "new", &[])).await;
        assert_told(&failed.diagnostics, "update of \"a\", call 1");
        assert_eq!((failed.new_state.as_ref(), &failed.private), (Some(&object.state), &object.private));
        let world = in_world(&plugin, "a").unwrap();
        assert_eq!((&world["label"], &world["revision"]), (&Json::Null, &json!(1)));
        let again = change(&mut engine, Some(&object), proposed(&object, "new", &[])).await;
        assert_eq!(again.diagnostics, []);
    });
    let entries = entries(&plugin, Operation::Update);
    let fault = Some("update of \"a\", call 1: error");
    let expected = [(Phase::Begin, fault), (Phase::Fail, fault), (Phase::Begin, None), (Phase::Commit, None)];
    assert_eq!(ends(&entries), expected);
    assert!(entries[1].after.is_none());
}

#[test]
fn an_update_that_fails_in_part_changes_the_label_alone() {
    let plugin = with_faults(&[(Update, "a", 1, ErrorWithPartialObject)]);
    run(async {
        let mut engine = plugin.engine().await;
        let (other, object) = (engine.create("b").await.id(), engine.create("a").await);
        let failed = change(&mut engine, Some(&object), proposed(&object, "new", &[&other])).await;
        assert_told(&failed.diagnostics, "update of \"a\", call 1");
        let part = kept(&failed);
        assert_eq!(part.private, object.private);
        let world = in_world(&plugin, "a").unwrap();
        assert_eq!((&world["label"], &world["refs"]), (&json!("new"), &Json::Null));
        assert_eq!((&world["revision"], &world["id"]), (&json!(2), &json!(object.id())));
        let read = engine.read(&part).await;
        assert_eq!((read.diagnostics, read.new_state.as_ref()), (vec![], Some(&part.state)));
        // The rest is an update of its own.
        let rest = change(&mut engine, Some(&part), proposed(&part, "new", &[&other])).await;
        assert_eq!(rest.diagnostics, []);
        assert_eq!(in_world(&plugin, "a").unwrap()["refs"], json!([other]));
    });
    let entries = entries(&plugin, Operation::Update);
    let fault = Some("update of \"a\", call 1: error with a partial object");
    let expected =
        [(Phase::Begin, fault), (Phase::Commit, fault), (Phase::Begin, None), (Phase::Commit, None)];
    assert_eq!(ends(&entries), expected);
    assert_eq!((entries[0].refs.len(), entries[1].refs.len()), (1, 0));
}

#[test]
fn a_delete_that_fails_leaves_the_object_and_what_belongs_to_it() {
    let plugin = with_faults(&[(Delete, "a", 1, Error)]);
    run(async {
        let mut engine = plugin.engine().await;
        let object = engine.create("a").await;
        // In the course of a replacement: what the engine holds by then belongs to the object to come.
        let mut replaced = engine.plan_replacement(&object, node("a", None)).await;
        replaced.planned_state = Some(null());
        let failed = engine.apply(Some(&object), replaced.clone()).await;
        assert_told(&failed.diagnostics, "delete of \"a\", call 1");
        assert_eq!((failed.new_state.as_ref(), &failed.private), (Some(&object.state), &object.private));
        assert!(in_world(&plugin, "a").is_some());
        assert_eq!(engine.apply(Some(&object), replaced).await.diagnostics, []);
        assert!(in_world(&plugin, "a").is_none());
    });
    let entries = entries(&plugin, Operation::Delete);
    let fault = Some("delete of \"a\", call 1: error");
    let expected = [(Phase::Begin, fault), (Phase::Fail, fault), (Phase::Begin, None), (Phase::Commit, None)];
    assert_eq!(ends(&entries), expected);
}

#[test]
fn a_read_and_a_plan_that_fail_are_single_lines_and_change_nothing() {
    let plugin = with_faults(&[(Read, "a", 2, Error), (Plan, "a", 2, Error)]);
    run(async {
        let mut engine = plugin.engine().await;
        let object = engine.create("a").await;
        assert_eq!(engine.read(&object).await.diagnostics, []);
        let failed = engine.read(&object).await;
        assert_told(&failed.diagnostics, "read of \"a\", call 2");
        assert_eq!((failed.new_state.as_ref(), &failed.private), (Some(&object.state), &object.private));
        assert_eq!(engine.read(&object).await.diagnostics, []);
        let failed = engine.plan(Some(&object), proposed(&object, "new", &[])).await;
        assert_told(&failed.diagnostics, "plan of \"a\", call 2");
        assert_eq!(failed.planned_state, None);
        assert_eq!(engine.plan(Some(&object), proposed(&object, "new", &[])).await.diagnostics, []);
    });
    let (reads, plans) = (entries(&plugin, Operation::Read), entries(&plugin, Operation::Plan));
    let expected =
        |fault| [(Phase::Commit, None), (Phase::Fail, Some(fault)), (Phase::Commit, None)].to_vec();
    assert_eq!(ends(&reads), expected("read of \"a\", call 2: error"));
    assert_eq!(ends(&plans), expected("plan of \"a\", call 2: error"));
    assert_eq!((reads[1].returned, plans[1].planned), (None, None));
    assert_eq!(reads[1].error.as_deref(), Some(SUMMARY));
}

#[test]
fn configurations_are_counted_by_the_ledger_whichever_process_they_are_for() {
    let (first, second) =
        (with_faults(&[(Configure, "", 2, Error)]), with_faults(&[(Configure, "", 2, Error)]));
    run(async {
        let ledger = first.ledger();
        assert_eq!(Engine::new(first.channel().await).configure(&ledger).await, []);
        let failed = Engine::new(second.channel().await).configure(&ledger).await;
        assert_told(&failed, "the configure, call 2");
        assert_eq!(Engine::new(first.channel().await).configure(&ledger).await, []);
    });
    let fault = Some("configure, call 2: error");
    let entries = entries(&first, Operation::Configure);
    assert_eq!(ends(&entries), [(Phase::Commit, None), (Phase::Fail, fault), (Phase::Commit, None)]);
}

#[test]
fn a_validation_that_fails_is_told_and_is_not_in_the_ledger() {
    let plugin = with_faults(&[(Validate, "a", 2, Error)]);
    run(async {
        let mut provider = plugin.engine().await.provider;
        let mut told = Vec::new();
        for key in ["b", "a", "b", "a", "a"] {
            let request = validate_resource_config::Request {
                type_name: "mock_node".to_owned(),
                config: Some(node(key, None)),
                ..validate_resource_config::Request::default()
            };
            told.push(provider.validate_resource_config(request).await.unwrap().into_inner().diagnostics);
        }
        assert_told(&told[3], "validate of \"a\", call 2");
        assert_eq!(told.iter().filter(|told| told.is_empty()).count(), 4);
    });
    assert_eq!(verified(&plugin.ledger()).0.len(), 1);
}

#[test]
fn the_provider_block_goes_before_the_variable_and_counts_for_validation_too() {
    let plugin = with_faults(&[(Create, "a", 1, Error), (Validate, "a", 1, Error)]);
    run(async {
        let mut engine = Engine::new(plugin.channel().await);
        let config =
            || Some(value(&json!({"ledger": plugin.ledger(), "faults": list(&[(Validate, "b", 1, Error)])})));
        let request = validate_provider_config::Request { config: config() };
        let answer = engine.provider.validate_provider_config(request).await.unwrap().into_inner();
        assert_eq!(answer.diagnostics, []);
        for (key, fails) in [("a", false), ("b", true)] {
            let request = validate_resource_config::Request {
                type_name: "mock_node".to_owned(),
                config: Some(node(key, None)),
                ..validate_resource_config::Request::default()
            };
            let answer = engine.provider.validate_resource_config(request).await.unwrap().into_inner();
            assert_eq!(!answer.diagnostics.is_empty(), fails, "{key}");
        }
        let request =
            configure_provider::Request { config: config(), ..configure_provider::Request::default() };
        assert_eq!(engine.provider.configure_provider(request).await.unwrap().into_inner().diagnostics, []);
        engine.create("a").await;
    });
}

#[test]
fn a_bad_list_is_refused_when_the_provider_is_configured() {
    let item = r#"{"match":{"operation":"delete","key":"a"},"action":"error_with_partial_object"}"#;
    for (list, why) in [
        (format!(r#"{{"version":1,"faults":[{item}]}}"#), "only create and update can take effect in part"),
        ("create:a:1:error".to_owned(), "it is not a JSON document such as"),
    ] {
        let plugin = with_list(&list);
        let refused = run(async { Engine::new(plugin.channel().await).configure(&plugin.ledger()).await });
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].summary, "The list of faults cannot be used");
        assert!(refused[0].detail.contains(why), "{}", refused[0].detail);
    }
}

#[test]
fn an_operation_that_is_to_fail_is_held_like_any_other() {
    let plugin = Plugin::start_with(|command| {
        command.env("EQUIFORM_FAULTS", list(&[(Create, "a", 1, Error)])).env("EQUIFORM_HOLD", "100ms");
    });
    run(async {
        let mut engine = plugin.engine().await;
        let plan = engine.plan(None, node("a", None)).await;
        let start = std::time::Instant::now();
        assert_told(&engine.apply(None, plan).await.diagnostics, "create of \"a\", call 1");
        assert!(start.elapsed() >= std::time::Duration::from_millis(100));
    });
}
