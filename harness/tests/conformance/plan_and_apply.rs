//! The rules of plan and apply.

use equiform::engines::EngineName;
use equiform_proto::ledger::{Operation, Phase};

use crate::lab::{Lab, Rule, rules};
use crate::needs::{everywhere, imports_by_identity};
use crate::support::graph;

pub const ALL: &[Rule] = rules! {
    everywhere => [
        validating_asks_for_the_schema_and_configures_nothing,
        a_create_is_planned_validated_and_applied_once,
        a_configured_attribute_is_planned_as_configured_and_a_computed_one_as_unknown,
        what_was_unknown_when_planned_is_planned_again_when_applied_and_refined_only,
        what_is_unchanged_is_read_and_upgraded_but_never_applied,
        a_change_of_sensitivity_alone_never_reaches_apply,
        an_update_keeps_what_is_computed_once,
        a_replacement_is_planned_twice_and_applied_twice_in_the_order_that_the_program_asks_for,
        a_set_that_is_the_same_in_another_order_is_no_change,
        a_create_that_fails_in_part_is_kept_as_tainted_and_replaced,
        a_failed_update_leaves_the_object_as_it_was,
        a_destroy_is_planned_and_leaves_nothing,
        state_is_upgraded_each_time_and_once_for_each_object,
        what_the_engine_keeps_beside_an_object_comes_back,
    ],
    imports_by_identity => [an_identity_is_stored_beside_the_object]
};

const APPLY: &[&str] = &["apply", "-input=false", "-auto-approve"];
const PLAN: &[&str] = &["plan", "-input=false"];

const PAIR: &str = r#"
    resource "mock_node" "a" {
      key   = "a"
      label = "first"
    }
    resource "mock_node" "b" {
      key  = "b"
      refs = [mock_node.a.id]
    }
"#;

fn validating_asks_for_the_schema_and_configures_nothing(lab: &Lab) {
    lab.start(&format!(
        "{PAIR}\nprovider \"mock\" {{\n  run = \"x\"\n}}\ndata \"mock_node\" \"d\" {{\n  key = \"a\"\n}}\n"
    ));
    let calls = lab.calls_of(&["validate"]);
    calls.include(&[
        "GetProviderSchema",
        "ValidateProviderConfig",
        "ValidateResourceConfig",
        "ValidateDataResourceConfig",
    ]);
    assert_eq!((calls.of("ConfigureProvider"), calls.of("PlanResourceChange")), (0, 0), "{calls:?}");
}

fn a_create_is_planned_validated_and_applied_once(lab: &Lab) {
    lab.start("resource \"mock_node\" \"a\" {\n  key = \"a\"\n}\n");
    let calls = lab.calls_of(APPLY);
    calls.include(&["ValidateResourceConfig", "ConfigureProvider"]);
    // Once to plan, and once more to apply: the second must refine the first.
    assert_eq!((calls.of("PlanResourceChange"), calls.of("ApplyResourceChange")), (2, 1), "{calls:?}");
    assert_eq!(lab.graph(), graph(&["a"], &[]));
}

fn a_configured_attribute_is_planned_as_configured_and_a_computed_one_as_unknown(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(&["plan", "-input=false", "-out=saved"]);
    let shown = lab.run(&["show", "-json", "saved"]);
    let plan: serde_json::Value = serde_json::from_str(&shown.succeeded().stdout).unwrap();
    let changes = plan["resource_changes"].as_array().unwrap();
    let change = |name: &str| &changes.iter().find(|change| change["name"] == name).unwrap()["change"];
    assert_eq!(
        (&change("a")["after"]["key"], &change("a")["after"]["label"]),
        (&"a".into(), &"first".into())
    );
    for computed in ["id", "revision"] {
        assert_eq!(change("a")["after_unknown"][computed], true, "{computed}");
        assert!(change("a")["after"].get(computed).is_none_or(serde_json::Value::is_null));
    }
    // A null in the configuration of what is not computed stays null, and what is unknown there stays unknown.
    assert!(change("a")["after"]["pin"].is_null() && change("a")["after_unknown"].get("pin").is_none());
    assert_eq!(change("b")["after_unknown"]["refs"], serde_json::json!([true]));
}

fn what_was_unknown_when_planned_is_planned_again_when_applied_and_refined_only(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(&["plan", "-input=false", "-out=saved"]);
    // Engines check that the second plan refines the first, and say "inconsistent final plan" where it does not.
    let calls = lab.calls_of(&["apply", "-input=false", "saved"]);
    assert_eq!((calls.of("PlanResourceChange"), calls.of("ApplyResourceChange")), (2, 2), "{calls:?}");
    assert_eq!(lab.graph(), graph(&["a", "b"], &[("a", "b")]));
}

fn what_is_unchanged_is_read_and_upgraded_but_never_applied(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(APPLY);
    let calls = lab.calls_of(APPLY);
    calls.include(&["UpgradeResourceState", "ReadResource", "PlanResourceChange"]);
    assert_eq!((calls.of("ReadResource"), calls.of("ApplyResourceChange")), (2, 0), "{calls:?}");
    let calls = lab.calls_of(&["plan", "-input=false", "-refresh=false", "-detailed-exitcode"]);
    assert_eq!((calls.of("ReadResource"), calls.of("ApplyResourceChange")), (0, 0), "{calls:?}");
}

fn a_change_of_sensitivity_alone_never_reaches_apply(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(APPLY);
    lab.write(&PAIR.replace("\"first\"", "sensitive(\"first\")"));
    let owed = ["Warning: this attribute value will be marked as sensitive"];
    let calls = lab.calls(|| {
        lab.run(APPLY).ended_with(0).clean_but_for(&owed);
    });
    assert_eq!(calls.of("ApplyResourceChange"), 0, "{calls:?}");
}

fn an_update_keeps_what_is_computed_once(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(APPLY);
    let id = lab.ledger().id("a");
    lab.write(&PAIR.replace("first", "second"));
    // The dependent holds the id, which is known to stay: it is no change.
    let calls = lab.calls_of(APPLY);
    assert_eq!(calls.of("ApplyResourceChange"), 1, "{calls:?}");
    let ledger = lab.ledger();
    assert_eq!((ledger.id("a"), ledger.revision("a")), (id, 2));
}

fn a_replacement_is_planned_twice_and_applied_twice_in_the_order_that_the_program_asks_for(lab: &Lab) {
    let pinned = |pin: &str, order: &str| {
        format!(
            "resource \"mock_node\" \"a\" {{\n  key = \"a\"\n  pin = \"{pin}\"\n  lifecycle {{\n    \
             create_before_destroy = {order}\n  }}\n}}\n"
        )
    };
    lab.start(&pinned("0", "false"));
    lab.calls_of(APPLY);
    for (pin, order) in [("1", "false"), ("2", "true")] {
        lab.write(&pinned(pin, order));
        let mut calls = None;
        let done = lab.watch(|| calls = Some(lab.calls_of(APPLY)));
        let calls = calls.unwrap();
        // As a change, then as a create after nothing; the destroy is planned by the engine alone or once more.
        assert!(calls.of("PlanResourceChange") >= 3, "{calls:?}");
        assert_eq!(calls.of("ApplyResourceChange"), 2, "{calls:?}");
        done.are(&["create a", "delete a"]);
        if order == "true" {
            done.create("a").is_before(done.delete("a"));
        } else {
            done.delete("a").is_before(done.create("a"));
        }
        lab.plan_is_empty();
    }
}

fn a_set_that_is_the_same_in_another_order_is_no_change(lab: &Lab) {
    let three = "resource \"mock_node\" \"a\" {\n  key = \"a\"\n}\nresource \"mock_node\" \"b\" {\n  key = \"b\"\n}\n";
    let referring = |refs: &str| {
        format!("{three}resource \"mock_node\" \"c\" {{\n  key = \"c\"\n  pinned_refs = [{refs}]\n}}\n")
    };
    lab.start(&referring("mock_node.a.id, mock_node.b.id"));
    lab.calls_of(APPLY);
    lab.write(&referring("mock_node.b.id, mock_node.a.id, mock_node.b.id"));
    assert_eq!(lab.calls_of(APPLY).of("ApplyResourceChange"), 0);
    // An element less is a change of the set itself, and that is pinned.
    lab.write(&referring("mock_node.b.id"));
    assert_eq!(lab.calls_of(APPLY).of("ApplyResourceChange"), 2);
}

fn with_a_fault_in(lab: &Lab, operation: &str, action: &str) {
    let call = format!(r#"{{"operation":"{operation}","key":"a"}}"#);
    let faults = format!(r#"{{"version":1,"faults":[{{"match":{call},"action":"{action}"}}]}}"#);
    let mut command = lab.command(APPLY);
    lab.finish({
        command.env("EQUIFORM_FAULTS", faults);
        command
    })
    .ended_with(1)
    .clean()
    .says("The mock provider was told to fail this operation");
}

fn a_create_that_fails_in_part_is_kept_as_tainted_and_replaced(lab: &Lab) {
    lab.start("resource \"mock_node\" \"a\" {\n  key = \"a\"\n}\n");
    lab.calls(|| with_a_fault_in(lab, "create", "error_with_partial_object"));
    let id = lab.ledger().id("a");
    lab.run(PLAN).succeeded().says("is tainted, so");
    let done = lab.watch(|| drop(lab.calls_of(APPLY)));
    done.are(&["delete a", "create a"]);
    assert_ne!(lab.ledger().id("a"), id);
}

fn a_failed_update_leaves_the_object_as_it_was(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(APPLY);
    lab.write(&PAIR.replace("first", "second"));
    lab.calls(|| with_a_fault_in(lab, "update", "error"));
    assert_eq!(lab.ledger().label("a").as_deref(), Some("first"));
    let failed = lab.ledger().entries().iter().filter(|entry| entry.phase == Phase::Fail).count();
    assert_eq!(failed, 1);
    lab.calls_of(APPLY);
    assert_eq!(lab.ledger().label("a").as_deref(), Some("second"));
}

fn a_destroy_is_planned_and_leaves_nothing(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(APPLY);
    let calls = lab.calls_of(&["destroy", "-input=false", "-auto-approve"]);
    // The provider says that it plans destroys, so it is asked.
    calls.include(&["PlanResourceChange"]);
    assert_eq!(calls.of("ApplyResourceChange"), 2, "{calls:?}");
    assert_eq!(lab.graph(), graph(&[], &[]));
    let ledger = lab.ledger();
    let planned_away =
        ledger.entries().iter().filter(|entry| entry.op == Operation::Plan && entry.planned.is_none());
    assert!(planned_away.count() >= 2);
}

fn state_is_upgraded_each_time_and_once_for_each_object(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(APPLY);
    for _ in 0..2 {
        let calls = lab.calls_of(PLAN);
        // OpenTofu looks at the state more often than it needs to.
        let upgrades = calls.of("UpgradeResourceState");
        assert!(upgrades == 2 || (lab.engine.id.name == EngineName::Tofu && upgrades >= 2), "{calls:?}");
    }
}

fn what_the_engine_keeps_beside_an_object_comes_back(lab: &Lab) {
    // The provider refuses private data that is not what it gave; a life without a complaint has shown it all along.
    lab.start(PAIR);
    lab.calls_of(APPLY);
    lab.write(&PAIR.replace("first", "second"));
    lab.calls_of(APPLY);
    lab.calls_of(PLAN);
    let state = std::fs::read_to_string(lab.path("terraform.tfstate")).unwrap();
    let kept = state.lines().filter(|line| line.contains("\"private\"")).count();
    assert_eq!(kept, 2, "{state}");
    // And one that was altered is refused.
    let altered = state.replacen("\"private\": \"", "\"private\": \"AAAA", 1);
    std::fs::write(lab.path("terraform.tfstate"), altered).unwrap();
    lab.run(PLAN).ended_with(1).says("The engine broke the plugin protocol");
}

fn an_identity_is_stored_beside_the_object(lab: &Lab) {
    lab.start(PAIR);
    lab.calls_of(APPLY).include(&["GetResourceIdentitySchemas"]);
    let state = std::fs::read_to_string(lab.path("terraform.tfstate")).unwrap();
    assert!(state.contains("\"identity\""), "{state}");
    // One of the schema's own version needs no upgrade, unlike an object.
    assert_eq!(lab.calls_of(PLAN).of("UpgradeResourceIdentity"), 0);
}
