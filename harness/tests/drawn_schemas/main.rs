//! Any schema at all: schemas and programs for them are drawn at random, and a real engine plans, applies, changes and
//! destroys them on a stand-in. It must find nothing to complain of: no inconsistent result, no invalid plan, and a
//! second plan without a change.
//!
//! `EQUIFORM_DRAWN_SCHEMAS=500` draws more of them than usual.

#[path = "../engine_behaviour/support/engines.rs"]
#[expect(dead_code, reason = "not all of it is needed here")]
mod engines;

mod draw;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use draw::Drawn;
use equiform::engines::Engine;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value as Json, json};

const ADDRESS: &str = "equiform.test/equiform/drawn";

/// How many schemas are drawn, two types in each.
fn cases() -> u32 {
    let asked = std::env::var("EQUIFORM_DRAWN_SCHEMAS").ok();
    asked.map_or(6, |asked| asked.parse().expect("EQUIFORM_DRAWN_SCHEMAS is a number"))
}

/// A folder with a program, and one with the stand-in.
struct Place {
    folder: tempfile::TempDir,
    engine: Engine,
}

impl Place {
    fn new(engine: &Engine, types: &[&Drawn; 2]) -> Self {
        let schema = json!({"format_version": "1.0", "provider_schemas": {ADDRESS: {
            "provider": {"version": 0, "block": {}},
            "resource_schemas": {
                "drawn_one": {"version": 0, "block": types[0].block},
                "drawn_two": {"version": 0, "block": types[1].block},
            },
        }}});
        Self::with_schema(engine, &schema.to_string())
    }

    fn with_schema(engine: &Engine, schema: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = Self { folder, engine: engine.clone() };
        let plugin = place.path("plugin");
        fs::create_dir_all(plugin.join("standin")).unwrap();
        let built = Path::new(env!("CARGO_BIN_EXE_equiform")).with_file_name("terraform-provider-mock");
        fs::hard_link(&built, plugin.join("terraform-provider-drawn"))
            .or_else(|_| fs::copy(&built, plugin.join("terraform-provider-drawn")).map(drop))
            .expect("the provider is built: cargo build -p terraform-provider-mock");
        let write = |name: &str, json: Json| fs::write(place.path(name), json.to_string()).unwrap();
        write("plugin/standin/standin.json", json!({"standin": 1, "address": ADDRESS, "version": "1.0.0"}));
        fs::write(place.path("plugin/standin/schema.json"), schema).unwrap();
        let plugin = plugin.display();
        let settings = format!(
            "provider_installation {{\n  dev_overrides {{\n    \"{ADDRESS}\" = \"{plugin}\"\n  }}\n  direct {{}}\n}}\n"
        );
        fs::write(place.path("cli.tfrc"), settings).unwrap();
        fs::create_dir(place.path("program")).unwrap();
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write_program(&self, one: &Json, two: &Json) {
        let program = json!({
            "terraform": {"required_providers": {"drawn": {"source": ADDRESS}}},
            "resource": {"drawn_one": {"it": one}, "drawn_two": {"it": two}},
        });
        fs::write(self.path("program/main.tf.json"), program.to_string()).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(&self.engine.path)
            .args(arguments)
            .current_dir(self.path("program"))
            .env("TF_CLI_CONFIG_FILE", self.path("cli.tfrc"))
            .env("EQUIFORM_LEDGER", self.path("ledger.jsonl"))
            .env("CHECKPOINT_DISABLE", "1")
            .env("TF_IN_AUTOMATION", "1")
            .output()
            .unwrap()
    }

    /// Runs a command that must end with this exit code.
    fn succeed(&self, arguments: &[&str], exit: i32) -> Result<(), TestCaseError> {
        let output = self.run(arguments);
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let complaint = ["inconsistent", "invalid plan", "panic:", "bug in the provider"];
        let complaint = complaint.iter().find(|complaint| text.contains(**complaint));
        prop_assert!(
            output.status.code() == Some(exit) && complaint.is_none(),
            "{arguments:?} ended with {:?}:\n{text}",
            output.status.code()
        );
        Ok(())
    }
}

fn lives(engine: &Engine, one: &Drawn, two: &Drawn) -> Result<(), TestCaseError> {
    let place = Place::new(engine, &[one, two]);
    let apply = ["apply", "-auto-approve", "-no-color", "-input=false"];
    let plan = ["plan", "-detailed-exitcode", "-no-color", "-input=false"];
    place.write_program(&one.first, &two.first);
    place.succeed(&apply, 0)?;
    place.succeed(&plan, 0)?;
    place.write_program(&one.second, &two.second);
    place.succeed(&apply, 0)?;
    place.succeed(&plan, 0)?;
    place.succeed(&["destroy", "-auto-approve", "-no-color", "-input=false"], 0)?;
    let ledger = fs::read_to_string(place.path("ledger.jsonl")).unwrap();
    let count = |op: &str| {
        let (op, commit) = (format!("\"op\":\"{op}\""), "\"phase\":\"commit\"");
        ledger.lines().filter(|line| line.contains(&op) && line.contains(commit)).count()
    };
    prop_assert_eq!(count("create"), count("delete"), "what was created is deleted in the end");
    Ok(())
}

#[test]
fn an_engine_finds_nothing_to_complain_of_in_any_schema() {
    let specs = engines::asked_for(None);
    let engines: Vec<Engine> =
        specs.iter().map(|spec| engines::locate(spec).unwrap_or_else(|error| panic!("{error}"))).collect();
    let newest = |name: &str| {
        let named = engines.iter().filter(|engine| engine.id.name.as_str() == name);
        named.max_by(|a, b| a.id.version.cmp(&b.id.version))
    };
    for engine in ["terraform", "tofu"].into_iter().filter_map(newest) {
        let config =
            Config { cases: cases(), max_shrink_iters: 24, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new(config);
        let types = (draw::drawn(None), draw::drawn(Some("${drawn_one.it.id}")));
        let outcome = runner.run(&types, |(one, two)| lives(engine, &one, &two));
        outcome.unwrap_or_else(|failure| panic!("{engine}: {failure}"));
    }
}

/// The engines' own fault, which the drawn schemas leave out: `fixtures/findings/map-of-blocks-crash`.
#[test]
fn a_map_of_blocks_with_and_without_inner_blocks_still_crashes_engines() {
    let finding = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/findings/map-of-blocks-crash");
    for spec in engines::asked_for(None) {
        let engine = engines::locate(&spec).unwrap_or_else(|error| panic!("{error}"));
        let place = Place::with_schema(&engine, &fs::read_to_string(finding.join("schema.json")).unwrap());
        fs::copy(finding.join("main.tf"), place.path("program/main.tf")).unwrap();
        let output = place.run(&["plan", "-no-color", "-input=false"]);
        assert_eq!(output.status.code(), Some(11), "{engine}: it does not crash any more");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("inconsistent map element types"), "{engine}: {text}");
    }
}
