//! The families for the types of a provider that is stood in for: what its schema says is all that there is.

use std::fs;

use equiform_proto::ledger::{Operation, Phase};
use serde_json::{Value as Json, json};

use crate::lab::{Calls, Lab, Rule, rules};
use crate::needs::{actions_and_lists, ephemeral_resources, everywhere, functions, imports_by_identity};
use crate::support::output::Output;
use crate::support::provider;

pub const ALL: &[Rule] = rules! {
    everywhere => [a_stand_in_speaks_the_protocol_that_its_manifest_names],
    imports_by_identity => [an_identity_of_an_older_version_is_upgraded],
    functions => [a_function_of_a_stand_in_gives_the_same_for_the_same],
    ephemeral_resources => [an_ephemeral_resource_of_a_stand_in_is_made_up_and_kept_nowhere],
    actions_and_lists => [
        an_action_of_a_stand_in_is_invoked_and_stands_in_the_ledger,
        what_a_stand_in_has_made_is_listed_and_its_configuration_generated,
    ]
};

const ADDRESS: &str = "example.test/team/cirrus";
const HEADER: &str = r#"
    terraform {
      required_providers {
        cirrus = {
          source = "example.test/team/cirrus"
        }
      }
    }
"#;

fn schema() -> Json {
    let attribute = |ty: Json, flag: &str| json!({"type": ty, "description_kind": "plain", flag: true});
    let block = |attributes: Json| {
        let block = json!({"attributes": attributes, "description_kind": "plain"});
        json!({"version": 0, "block": block})
    };
    let mut password = attribute(json!("string"), "computed");
    password["sensitive"] = json!(true);
    let provider = json!({
        "provider": block(json!({})),
        "resource_schemas": {"cirrus_disk": block(json!({
            "id": attribute(json!("string"), "computed"),
            "name": attribute(json!("string"), "required"),
            "arn": attribute(json!("string"), "computed"),
        }))},
        "resource_identity_schemas": {"cirrus_disk": {"version": 0, "attributes": {
            "id": {"type": "string", "required_for_import": true},
        }}},
        "ephemeral_resource_schemas": {"cirrus_login": block(json!({
            "user": attribute(json!("string"), "required"),
            "password": password,
        }))},
        "list_resource_schemas": {"cirrus_disk": block(json!({
            "region": attribute(json!("string"), "optional"),
        }))},
        "functions": {"shape": {
            "return_type": ["object", {"name": "string", "sizes": ["list", "number"]}],
            "parameters": [{"name": "of", "type": "string"}],
            "variadic_parameter": {"name": "more", "type": ["list", "string"], "is_nullable": true},
        }},
        "action_schemas": {"cirrus_reboot": {"block": {"attributes": {
            "disk": attribute(json!("string"), "required"),
            "token": {"type": "string", "description_kind": "plain", "optional": true, "sensitive": true},
        }, "description_kind": "plain"}}},
    });
    json!({"format_version": "1.0", "provider_schemas": {ADDRESS: provider}})
}

/// Puts the stand-in into a mirror of the program's own, and has `init` see the program.
fn start(lab: &Lab, program: &str) {
    start_with(lab, &schema(), program);
}

/// The same for a schema.
fn start_with(lab: &Lab, schema: &Json, program: &str) {
    let platform = provider::platform();
    let package = format!("mirror/{ADDRESS}/1.0.0/{platform}");
    let protocol: u32 = lab.protocol().number().parse().unwrap();
    let manifest = json!({"standin": 1, "address": ADDRESS, "version": "1.0.0", "protocol": protocol});
    lab.write_file(&format!("{package}/standin/standin.json"), &manifest.to_string());
    lab.write_file(&format!("{package}/standin/schema.json"), &schema.to_string());
    fs::copy(provider::binary(), lab.path(&package).join("terraform-provider-cirrus_v1.0.0")).unwrap();
    let mirror = format!(
        "provider_installation {{\n  filesystem_mirror {{\n    path = {:?}\n  }}\n}}\n",
        lab.path("mirror")
    );
    fs::write(lab.cli_config(), mirror).unwrap();
    lab.write_file("main.tf", &format!("{HEADER}{program}"));
    lab.init();
}

/// A command, without a wish for a protocol: the stand-in's manifest has it.
fn run(lab: &Lab, arguments: &[&str]) -> Output {
    let mut command = lab.command(arguments);
    command.env_remove("EQUIFORM_PROTOCOL");
    lab.finish(command)
}

fn apply(lab: &Lab) -> Calls {
    lab.calls(|| {
        run(lab, &["apply", "-input=false", "-auto-approve"]).succeeded();
    })
}

const DISK: &str = "resource \"cirrus_disk\" \"d\" {\n  name = \"d\"\n}\n";

fn a_stand_in_speaks_the_protocol_that_its_manifest_names(lab: &Lab) {
    start(lab, DISK);
    // The log is held to the protocol of these rules.
    apply(lab).include(&[
        "GetProviderSchema",
        "ConfigureProvider",
        "PlanResourceChange",
        "ApplyResourceChange",
    ]);
    let ledger = lab.ledger();
    let made = ledger.entries().iter().filter(|entry| entry.op == Operation::Create);
    assert!(
        made.clone().count() == 2 && made.clone().all(|entry| entry.provider.as_deref() == Some(ADDRESS))
    );
    lab.calls(|| {
        run(lab, &["plan", "-input=false", "-detailed-exitcode"]).succeeded();
        run(lab, &["destroy", "-input=false", "-auto-approve"]).succeeded();
    });
}

fn an_identity_of_an_older_version_is_upgraded(lab: &Lab) {
    start(lab, DISK);
    apply(lab);
    let mut newer = schema();
    let identities = &mut newer["provider_schemas"][ADDRESS]["resource_identity_schemas"];
    identities["cirrus_disk"]["version"] = json!(1);
    // The lock file names the package by its contents.
    fs::remove_file(lab.path(".terraform.lock.hcl")).unwrap();
    fs::remove_dir_all(lab.path("mirror")).unwrap();
    start_with(lab, &newer, DISK);
    let calls = lab.calls(|| {
        run(lab, &["plan", "-input=false", "-detailed-exitcode"]).succeeded();
    });
    calls.include(&["UpgradeResourceIdentity"]);
}

fn a_function_of_a_stand_in_gives_the_same_for_the_same(lab: &Lab) {
    start(
        lab,
        r#"
        output "made_up" {
          value = {
            one   = provider::cirrus::shape("a")
            again = provider::cirrus::shape("a")
            other = provider::cirrus::shape("b", ["x"], null)
          }
        }
        "#,
    );
    apply(lab).include(&["CallFunction"]);
    let said = run(lab, &["output", "-json", "made_up"]);
    let made_up: Json = serde_json::from_str(&said.succeeded().stdout).unwrap();
    assert_eq!(made_up["one"], made_up["again"]);
    assert_ne!(made_up["one"], made_up["other"]);
    assert!(made_up["one"]["name"].is_string() && made_up["one"]["sizes"][0].is_number(), "{made_up}");
}

fn an_ephemeral_resource_of_a_stand_in_is_made_up_and_kept_nowhere(lab: &Lab) {
    start(
        lab,
        r#"
        ephemeral "cirrus_login" "l" {
          user = "someone"
          lifecycle {
            postcondition {
              condition     = length(self.password) > 0
              error_message = "There is no password."
            }
          }
        }
        "#,
    );
    apply(lab).include(&["OpenEphemeralResource", "CloseEphemeralResource"]);
    let ledger = lab.ledger();
    let logins = ledger.entries().iter().filter(|entry| entry.type_name.as_deref() == Some("cirrus_login"));
    assert!(
        logins.clone().count() >= 2 && logins.clone().all(|entry| entry.provider.as_deref() == Some(ADDRESS))
    );
    assert!(logins.clone().all(|entry| entry.after.is_none() && entry.key.is_none()));
}

fn an_action_of_a_stand_in_is_invoked_and_stands_in_the_ledger(lab: &Lab) {
    start(
        lab,
        r#"
        resource "cirrus_disk" "d" {
          name = "d"
          lifecycle {
            action_trigger {
              events  = [after_create]
              actions = [action.cirrus_reboot.r]
            }
          }
        }
        action "cirrus_reboot" "r" {
          config {
            disk  = cirrus_disk.d.id
            token = "hunter2"
          }
        }
        "#,
    );
    let mut said = String::new();
    let calls =
        lab.calls(|| said = run(lab, &["apply", "-input=false", "-auto-approve"]).succeeded().stdout.clone());
    calls.include(&["PlanAction", "InvokeAction"]);
    assert!(said.contains("cirrus_reboot was invoked"), "{said}");
    let ledger = lab.ledger();
    let invoked: Vec<_> = ledger.entries().iter().filter(|entry| entry.op == Operation::Invoke).collect();
    assert_eq!(
        (invoked.len(), invoked[1].phase, invoked[1].provider.as_deref()),
        (2, Phase::Commit, Some(ADDRESS))
    );
    assert!(!fs::read_to_string(lab.ledger_path()).unwrap().contains("hunter2"));
}

fn what_a_stand_in_has_made_is_listed_and_its_configuration_generated(lab: &Lab) {
    start(lab, DISK);
    apply(lab);
    let query = "list \"cirrus_disk\" \"all\" {\n  provider         = cirrus\n  include_resource = true\n}\n";
    lab.write_file("all.tfquery.hcl", query);
    let mut said = String::new();
    let calls = lab.calls(|| {
        said = run(lab, &["query", "-generate-config-out=found.tf.txt"]).ended_with(0).stdout.clone();
    });
    calls.include(&["ListResource", "GenerateResourceConfig"]);
    let found = fs::read_to_string(lab.path("found.tf.txt")).unwrap();
    assert!(
        said.contains("list.cirrus_disk.all") && found.contains("\"d\"") && !found.contains("arn:"),
        "{found}"
    );
}
