//! What Terraform keeps behind experiments: state stores and deferral. Only alpha builds have them, and builds from
//! source with `go build -ldflags "-X main.experimentsAllowed=yes"`. `EQUIFORM_EXPERIMENTAL_TERRAFORM` names such a
//! build; without one these rules are shown as ignored, and clients in the provider's own tests hold them.

use std::fs;
use std::path::PathBuf;

use equiform::engines::locate::EngineOrigin;
use equiform::engines::{Engine, EngineId, EngineName, EngineSpec};
use equiform_proto::ledger::{Operation, Phase};
use semver::Version;

use crate::lab::{Lab, Protocol, Rule, rules};
use crate::needs::everywhere;
use crate::support::graph;
use crate::support::process::{Running, TIMEOUT, wait_until};

pub const ALL: &[Rule] = rules! {
    everywhere => [
        a_state_store_keeps_the_state_of_a_life_and_of_workspaces,
        a_locked_state_is_refused_and_unlocked_by_its_id_alone,
        a_type_that_waits_is_created_in_the_second_apply,
        a_provider_whose_ledger_is_unknown_waits_for_the_second_apply,
    ]
};

/// Names a Terraform with experiments.
const VARIABLE: &str = "EQUIFORM_EXPERIMENTAL_TERRAFORM";

/// The Terraform with experiments, if there is one.
pub fn engine() -> Option<Engine> {
    let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from)?;
    assert!(path.is_absolute() && path.is_file(), "{VARIABLE} is not the absolute path of a program");
    let version = Version::new(0, 0, 0);
    Some(Engine { id: EngineId::new(EngineName::Terraform, version), path, origin: EngineOrigin::Given })
}

/// A lab for it. State stores are protocol 6's alone.
pub fn lab(engine: &Engine) -> Lab {
    let spec: EngineSpec = "terraform@0.0.0".parse().expect("this is a spec");
    let mut lab = Lab::new(engine, &spec, Protocol::Six);
    lab.set("TF_ENABLE_PLUGGABLE_STATE_STORAGE", "1");
    lab
}

const APPLY: &[&str] = &["apply", "-input=false", "-auto-approve"];
const DEFERRING: &[&str] = &["apply", "-input=false", "-auto-approve", "-allow-deferral"];

const STORED: &str = r#"
    terraform {
      required_providers {
        mock = {
          source = "equiform.test/equiform/mock"
        }
      }
      state_store "mock_store" {
        provider "mock" {}
        path = "states"
      }
    }
    resource "mock_node" "a" {
      key = "a"
    }
"#;

/// A program whose state is in a store. The engine trusts a provider with states only if a lock file names it.
fn start_stored(lab: &Lab) {
    lab.start("");
    lab.write_file("main.tf", STORED);
    let init = ["init", "-input=false", "-state-provider-lock-file=.terraform.lock.hcl"];
    lab.calls(|| {
        lab.run(&init).ended_with(0);
    });
}

fn a_state_store_keeps_the_state_of_a_life_and_of_workspaces(lab: &Lab) {
    start_stored(lab);
    let calls = lab.calls_of(APPLY);
    let stores =
        ["ValidateStateStoreConfig", "ConfigureStateStore", "LockState", "UnlockState", "WriteStateBytes"];
    calls.include(&stores).include(&["ReadStateBytes"]);
    assert!(lab.path("states/default.tfstate").is_file() && !lab.path("terraform.tfstate").exists());
    lab.calls_of(&["plan", "-input=false", "-detailed-exitcode"]);
    lab.calls_of(&["workspace", "new", "second"]).include(&["GetStates", "WriteStateBytes"]);
    lab.calls_of(&["workspace", "select", "default"]);
    lab.calls_of(&["workspace", "delete", "second"]).include(&["DeleteState"]);
    lab.calls_of(&["destroy", "-input=false", "-auto-approve"]);
    assert_eq!(lab.graph(), graph(&[], &[]));
    let ledger = lab.ledger();
    let of = |op| {
        ledger.entries().iter().filter(move |entry| entry.op == op && entry.phase == Phase::Commit).count()
    };
    assert_eq!(of(Operation::Lock), of(Operation::Unlock));
    assert!(of(Operation::Write) >= 3 && of(Operation::Erase) == 1);
}

fn a_locked_state_is_refused_and_unlocked_by_its_id_alone(lab: &Lab) {
    start_stored(lab);
    let mut command = lab.command(APPLY);
    // Not where the left-overs of other commands are looked for: one that is killed leaves its own.
    fs::create_dir(lab.path("killed-tmp")).unwrap();
    command.env("TMPDIR", lab.path("killed-tmp")).env("EQUIFORM_HOLD", "3600s");
    let running = Running::start(&mut command);
    let lock = lab.path("states/default.lock");
    let taken = || serde_json::from_slice::<serde_json::Value>(&fs::read(&lock).ok()?).ok();
    let id = wait_until(TIMEOUT, taken).expect("the state is locked")["id"].as_str().unwrap().to_owned();
    lab.calls(|| {
        lab.run(&["plan", "-input=false"]).ended_with(1).clean().says(&format!("The lock {id} was taken by"));
    });
    // An engine that is killed leaves its lock.
    running.signal(libc::SIGKILL);
    let _ = running.wait();
    lab.calls(|| {
        lab.run(&["force-unlock", "-force", "lock-0"]).ended_with(1).says("is locked under another id");
    });
    lab.calls_of(&["force-unlock", "-force", &id]).include(&["UnlockState"]);
    lab.calls_of(APPLY).include(&["LockState"]);
}

fn a_type_that_waits_is_created_in_the_second_apply(lab: &Lab) {
    let types = serde_json::json!({"equiform_types": 1, "resources": {"mock_server": {
        "defers_on": "image",
        "attributes": {"image": {"type": "string", "required": true}},
    }}});
    lab.write_file("equiform.types.json", &types.to_string());
    lab.start(
        r#"
        resource "mock_node" "a" {
          key = "a"
        }
        resource "mock_server" "s" {
          image = mock_node.a.id
        }
        "#,
    );
    for made in [1, 1, 0] {
        assert_eq!(lab.calls_of(DEFERRING).of("ApplyResourceChange"), made);
    }
}

fn a_provider_whose_ledger_is_unknown_waits_for_the_second_apply(lab: &Lab) {
    lab.start(
        r#"
        provider "mock" {}
        provider "mock" {
          alias  = "later"
          ledger = "${mock_node.a.id}.jsonl"
        }
        resource "mock_node" "a" {
          key = "a"
        }
        resource "mock_node" "b" {
          provider = mock.later
          key      = "b"
        }
        "#,
    );
    for made in [1, 1, 0] {
        assert_eq!(lab.calls_of(DEFERRING).of("ApplyResourceChange"), made);
    }
}
