//! State that an older version of the provider left.

use std::fs;

use serde_json::{Value, json};

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, PAIR, Workspace, graph};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        state_of_schema_version_0_is_upgraded_and_plans_empty,
        state_of_a_schema_version_to_come_is_refused,
    ]
};

/// Edits every object in the state.
fn edit_state(workspace: &Workspace, edit: impl Fn(&mut Value)) {
    let path = workspace.path("terraform.tfstate");
    let mut state: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for resource in state["resources"].as_array_mut().unwrap() {
        resource["instances"].as_array_mut().unwrap().iter_mut().for_each(&edit);
    }
    fs::write(path, serde_json::to_vec_pretty(&state).unwrap()).unwrap();
}

fn state_of_schema_version_0_is_upgraded_and_plans_empty(engine: &Engine) {
    let workspace = Workspace::with(engine, PAIR);
    workspace.apply();
    edit_state(&workspace, |instance| {
        instance["schema_version"] = json!(0);
        let attributes = instance["attributes"].as_object_mut().unwrap();
        attributes.remove("pinned_refs");
        if let Some(refs) = attributes["refs"].as_array_mut() {
            refs.extend(refs.clone());
        }
    });
    workspace.plan_is_empty();
    // The same without what a refresh would mend.
    workspace.run(&["plan", "-input=false", "-detailed-exitcode", "-refresh=false"]).succeeded();
    workspace.apply().are(&[]);
    workspace.write(&PAIR.replace("key  = \"b\"", "key  = \"b\"\nlabel = \"new\""));
    workspace.apply().are(&["update b"]);
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
    workspace.plan_is_empty();
}

fn state_of_a_schema_version_to_come_is_refused(engine: &Engine) {
    let workspace = Workspace::with(engine, PAIR);
    workspace.apply();
    edit_state(&workspace, |instance| instance["schema_version"] = json!(2));
    let plan = workspace.run(&["plan", "-input=false"]);
    plan.ended_with(1).clean();
    assert_eq!(workspace.graph(), graph(&["a", "b"], &[("a", "b")]));
}
