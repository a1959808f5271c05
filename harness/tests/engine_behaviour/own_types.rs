//! Types of the user's own, from a types file: what they compute, keep, replace and refuse.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::behaviour::{Behaviour, behaviours, everywhere};
use crate::support::{Engine, Workspace};

pub const ALL: &[Behaviour] = behaviours! {
    everywhere => [
        a_types_file_says_what_is_computed_and_how,
        a_types_file_says_what_is_updated_and_what_is_replaced,
        values_that_a_types_file_does_not_allow_are_refused_by_name,
        a_state_in_transition_goes_on_with_every_read,
        a_data_source_answers_what_the_types_file_says,
        a_bad_types_file_is_told_with_file_line_and_path,
        the_types_in_the_provider_block_have_to_be_those_that_were_shown,
    ]
};

/// The file that `docs/types.md` shows.
fn example() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/types/equiform.types.json");
    fs::read_to_string(path).unwrap()
}

fn with_types(engine: &Engine, program: &str) -> Workspace {
    let workspace = Workspace::empty(engine);
    workspace.write_file("equiform.types.json", &example());
    workspace.write(program);
    workspace.init();
    workspace
}

/// A disk with these further arguments.
fn disk(arguments: &str) -> String {
    format!("resource \"mock_disk\" \"a\" {{\n  key = \"a\"\n  {arguments}\n}}\n")
}

/// What the state has of the one disk.
fn stored(workspace: &Workspace) -> Value {
    let state = fs::read(workspace.path("terraform.tfstate")).unwrap();
    let state: Value = serde_json::from_slice(&state).unwrap();
    let resources = state["resources"].as_array().unwrap();
    let disk = resources.iter().find(|resource| resource["type"] == "mock_disk").unwrap();
    disk["instances"][0]["attributes"].clone()
}

/// What is planned for the one disk: the values that are known, and which are not.
fn planned(workspace: &Workspace) -> (Value, Value) {
    workspace.run(&["plan", "-input=false", "-out=saved"]).succeeded();
    let shown = workspace.run(&["show", "-json", "saved"]);
    let plan: Value = serde_json::from_str(&shown.succeeded().stdout).unwrap();
    let changes = plan["resource_changes"].as_array().unwrap();
    let change = changes.iter().find(|change| change["type"] == "mock_disk").unwrap();
    (change["change"]["after"].clone(), change["change"]["after_unknown"].clone())
}

fn a_types_file_says_what_is_computed_and_how(engine: &Engine) {
    let workspace = with_types(engine, &disk("size = 8\n  labels = { team = \"x\" }\n  backup = {}"));
    let (known, unknown) = planned(&workspace);
    assert_eq!(known["provider_name"], "equiform");
    assert_eq!(known["kind"], "plain");
    assert_eq!(known["all_labels"], json!({"team": "x"}));
    assert_eq!(known["backup"]["hour"], 3);
    for name in ["id", "zone", "address", "etag", "revision", "status"] {
        assert_eq!(unknown[name], true, "{name} is known after apply only");
    }
    assert_eq!(unknown["backup"]["place"], true);

    workspace.apply().are(&["create a"]);
    let first = stored(&workspace);
    let id = first["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("disk-"), "{id}");
    assert_eq!(first["zone"], "zone-a");
    assert_eq!(first["address"], format!("disk://zone-a/{id}"));
    assert_eq!(first["revision"], 1);
    assert_eq!(first["status"], "booting");
    assert!(first["backup"]["place"].is_string());

    workspace.write(&disk("size = 9\n  labels = { team = \"x\" }\n  backup = {}"));
    workspace.apply().are(&["update a"]);
    let second = stored(&workspace);
    assert_eq!((&second["id"], &second["revision"]), (&first["id"], &json!(2)));
    assert_ne!(second["etag"], first["etag"], "it is another one after every change");
    assert_eq!(second["backup"], first["backup"], "it is computed once");
    workspace.destroy().are(&["delete a"]);
}

fn a_types_file_says_what_is_updated_and_what_is_replaced(engine: &Engine) {
    let workspace = with_types(engine, &disk("size = 8\n  mount {\n    path = \"/\"\n  }"));
    workspace.apply();
    workspace.write(&disk("size = 8\n  mount {\n    path = \"/\"\n    options = [\"ro\"]\n  }"));
    workspace.apply().are(&["update a"]);
    workspace.write(&disk("size = 8\n  mount {\n    path = \"/srv\"\n    options = [\"ro\"]\n  }"));
    workspace.apply().are(&["create a", "delete a"]);
    workspace.write(&disk("size = 8\n  zone = \"zone-b\"\n  mount {\n    path = \"/srv\"\n  }"));
    workspace.apply().are(&["create a", "delete a"]);
}

fn values_that_a_types_file_does_not_allow_are_refused_by_name(engine: &Engine) {
    let workspace = with_types(engine, "");
    for (arguments, sentence) in [
        ("size = 100", "It must be between 1 and 64."),
        ("size = 1\n  kind = \"slow\"", "It must be one of \"plain\", \"fast\"."),
        ("size = 1\n  name = \"A\"", "It must match ^[a-z-]+$."),
        (
            "size = 1\n  name = \"a\"\n  name_prefix = \"b\"",
            "It cannot be set together with \"name_prefix\".",
        ),
    ] {
        workspace.write(&disk(arguments));
        workspace.run(&["plan", "-input=false"]).ended_with(1).says(sentence);
    }
    let named = |ty: &str, key: &str| format!("resource \"{ty}\" \"{key}\" {{\n  key = \"{key}\"\n}}\n");
    let server = format!("{}{}", named("mock_server", "s"), named("mock_node", "n"));
    workspace.write(&server);
    workspace.apply();
    workspace.write(&format!("{server}{}", disk("size = 1\n  server = mock_node.n.id")));
    workspace.run(&["plan", "-input=false"]).ended_with(1).says("this has to be the id of mock_server");
    workspace.write(&format!("{server}{}", disk("size = 1\n  server = mock_server.s.id")));
    workspace.apply().are(&["create a"]);
    assert_eq!(workspace.graph().edges.len(), 1, "the reference is an edge");
}

fn a_state_in_transition_goes_on_with_every_read(engine: &Engine) {
    let workspace = with_types(engine, &disk("size = 8"));
    workspace.apply();
    let status = |workspace: &Workspace| {
        workspace.run(&["apply", "-refresh-only", "-auto-approve", "-input=false"]).succeeded();
        stored(workspace)["status"].clone()
    };
    assert_eq!(
        [status(&workspace), status(&workspace), status(&workspace)],
        ["booting", "booting", "started"]
    );
    workspace.plan_is_empty();
}

fn a_data_source_answers_what_the_types_file_says(engine: &Engine) {
    let image = |family: &str| format!("data \"mock_image\" \"{family}\" {{\n  family = \"{family}\"\n}}\n");
    let outputs =
        "output \"told\" {\n  value = [data.mock_image.linux.id, data.mock_image.other.architecture]\n}\n";
    let workspace = with_types(engine, &format!("{}{}{outputs}", image("linux"), image("other")));
    workspace.apply();
    let told = workspace.run(&["output", "-json", "told"]);
    let told: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    assert_eq!(told, json!(["image-linux-7", "arm64"]));
}

fn a_bad_types_file_is_told_with_file_line_and_path(engine: &Engine) {
    let workspace = with_types(engine, "");
    workspace.write(&disk("size = 8"));
    let wrong = [
        ("\"range\": {\"min\": 1, \"max\": 64}", "\"range\": {\"least\": 1}", "line 9"),
        ("\"type\": \"number\", \"required\"", "\"type\": \"numbre\", \"required\"", "attributes.size.type"),
        ("\"copy_of\": \"labels\"", "\"copy_of\": \"lables\"", "resources.mock_disk"),
        ("\"mock_server\": {", "\"../server\": {", "is not a name of a type"),
    ];
    for (right, wrong, place) in wrong {
        let text = example();
        assert!(text.contains(right));
        workspace.write_file("equiform.types.json", &text.replacen(right, wrong, 1));
        let output = workspace.run(&["plan", "-input=false"]);
        output.ended_with(1).says("The types file cannot be read").says("equiform.types.json").says(place);
    }
}

fn the_types_in_the_provider_block_have_to_be_those_that_were_shown(engine: &Engine) {
    let workspace = with_types(engine, "");
    let block = |name: &str| format!("provider \"mock\" {{\n  types = \"{name}\"\n}}\n{}", disk("size = 8"));
    workspace.write(&block("equiform.types.json"));
    workspace.apply().are(&["create a"]);
    workspace.write(&block("other.json"));
    workspace.run(&["plan", "-input=false"]).ended_with(1).says("Set EQUIFORM_TYPES=other.json");
}
