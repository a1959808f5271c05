//! A warm engine and fresh processes do the same: operations, states and outputs.
//!
//! Eight variants on each engine; `make test-warm` has 200 on every one that is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use equiform::campaign::Settings;
use equiform::case::Case;
use equiform::case::workflow::WORKFLOWS;
use equiform::deploy::{Runner, Start};
use equiform::evidence::{ERRORS, Evidence, LEDGER, OUTPUT, STATE};
use equiform::judge::finding::Detail;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantResult;
use serde_json::Value;

use super::support::{installed, number, runner};

/// What does not depend on when it was done, and which ids were minted.
#[derive(Debug, PartialEq)]
struct Left {
    verdict: VariantResult,
    stages: Vec<StageLeft>,
}

#[derive(Debug, PartialEq)]
struct StageLeft {
    name: String,
    exit: Option<i32>,
    operations: BTreeSet<String>,
    state: Option<Value>,
    output: Vec<String>,
    errors: String,
}

/// Names for minted ids: the key, and the how many-th object with this key it was.
fn names(ledger: &Path) -> BTreeMap<String, String> {
    let (mut names, mut counts) = (BTreeMap::new(), BTreeMap::<String, usize>::new());
    for line in fs::read_to_string(ledger).unwrap().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        if entry["op"] == "create" && entry["phase"] == "commit" {
            let [id, key] = ["id", "key"].map(|field| entry[field].as_str().unwrap().to_owned());
            let count = counts.entry(key.clone()).or_default();
            *count += 1;
            names.insert(id, format!("<{key} {count}>"));
        }
    }
    names
}

fn named(text: &str, names: &BTreeMap<String, String>) -> String {
    names.iter().fold(text.to_owned(), |text, (id, name)| text.replace(id, name))
}

/// The state without what is new in every one: its lineage, and the provider's private data, which hold ids. And
/// without its serial: what ends at the same time is written at once.
fn state(path: &Path, names: &BTreeMap<String, String>) -> Option<Value> {
    let mut state: Value = serde_json::from_str(&named(&fs::read_to_string(path).ok()?, names)).unwrap();
    for changing in ["lineage", "serial"] {
        state.as_object_mut().unwrap().remove(changing);
    }
    for resource in state["resources"].as_array_mut().unwrap() {
        for instance in resource["instances"].as_array_mut().unwrap() {
            instance.as_object_mut().unwrap().remove("private");
            // Old objects have names that are drawn.
            if let Some(name) = instance.get_mut("deposed") {
                *name = "old".into();
            }
            // Sets of ids stand in the order of the ids.
            for set in ["refs", "pinned_refs"] {
                if let Some(list) = instance["attributes"][set].as_array_mut() {
                    list.sort_by_key(Value::to_string);
                }
            }
        }
    }
    Some(state)
}

/// What was printed, in any order and without times: operations that may overlap are told as they come.
fn output(path: &Path, names: &BTreeMap<String, String>) -> Vec<String> {
    let text = named(&fs::read_to_string(path).unwrap(), names);
    // What a query is answered with has times and the lineage in it.
    if !text.lines().next().is_some_and(|line| line.contains("\"@level\"")) {
        return Vec::new();
    }
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut message: Value = serde_json::from_str(line).unwrap();
            let object = message.as_object_mut().unwrap();
            object.remove("@timestamp");
            if let Some(hook) = object.get_mut("hook").and_then(Value::as_object_mut) {
                // Whole seconds: "complete after 0s" may be 1s.
                if hook.remove("elapsed_seconds").is_some() {
                    object.remove("@message");
                }
            }
            message.to_string()
        })
        .collect();
    lines.sort();
    lines
}

fn left(runner: &Runner, case: &Case, variant: usize, folder: &Path, start: Start) -> Left {
    let records = runner.deploy(case, variant, folder, start).unwrap_or_else(|error| panic!("{error}"));
    // What happens behind the engine's back is no command of it.
    let mut of_engine = records.iter().filter(|record| record.directory.is_some());
    assert!(of_engine.all(|record| record.warm == (start == Start::Warm)));
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let mut verdict = judge::variant(case, variant, folder, &oracles);
    if let VariantResult::Fail { findings } = &mut verdict {
        // A cycle is reported in the order of a map.
        findings.iter_mut().for_each(|finding| finding.detail = Detail::None);
    }
    let names = names(&folder.join(LEDGER));
    let mut evidence =
        Evidence::open(folder, &case.variants[variant].stages, runner.engine.profile().reader).unwrap();
    let mut stages = Vec::new();
    while let Some((stage, _)) = evidence.next_stage().unwrap() {
        let place = folder.join(&stage.record.stage);
        // A cycle is told in the order of a map, and what follows an error in any order.
        let quiet = stage.record.exit != Some(1);
        stages.push(StageLeft {
            name: stage.record.stage.clone(),
            exit: stage.record.exit,
            operations: stage.operations.iter().map(|it| format!("{:?}", it.operation)).collect(),
            state: state(&place.join(STATE), &names),
            output: if quiet { output(&place.join(OUTPUT), &names) } else { Vec::new() },
            errors: fs::read_to_string(place.join(ERRORS)).unwrap_or_default(),
        });
    }
    Left { verdict, stages }
}

#[test]
fn a_warm_engine_does_what_fresh_processes_do() {
    let variants = number("EQUIFORM_WARM_VARIANTS", 8);
    // The ids of a repetition are in a ledger of its own.
    let workflows = WORKFLOWS.iter().map(|workflow| workflow.name).filter(|name| *name != "repeat");
    let workflows = workflows.collect::<Vec<_>>().join(",").parse().expect("they are the names");
    let settings = Settings {
        workflows,
        seed: 1010,
        sources: variants.div_ceil(4),
        variants: 4,
        batches: 4,
        resources: 3..=12,
        edges: 1..=16,
        ..Settings::default()
    };
    for engine in installed() {
        let (runner, _provider) = runner(&engine);
        assert!(runner.workers.is_some(), "{engine} can be kept warm");
        let (folder, mut compared) = (tempfile::tempdir().unwrap(), 0);
        for (number, variant) in (0..variants).map(|place| (place / 4, place % 4)) {
            let case = settings.case(number).on(engine.recorded());
            let place = |how: &str| folder.path().join(format!("{number}-{variant}-{how}"));
            let warm = left(&runner, &case, variant, &place("warm"), Start::Warm);
            let cold = left(&runner, &case, variant, &place("cold"), Start::Cold);
            let place = format!("{engine}: case {number}, variant {variant}");
            assert_eq!(warm.verdict, cold.verdict, "{place}");
            assert_eq!(warm.stages.len(), cold.stages.len(), "{place}");
            for (warm, cold) in warm.stages.iter().zip(&cold.stages) {
                let place = format!("{place}, {}", warm.name);
                assert_eq!(warm.operations, cold.operations, "{place}");
                for (warm, cold) in warm.output.iter().zip(&cold.output) {
                    assert_eq!(warm, cold, "{place}");
                }
                assert_eq!(warm, cold, "{place}");
            }
            compared += warm.stages.len();
        }
        let counts = runner.workers.as_ref().unwrap().counts();
        assert_eq!(counts.broken, 0);
        println!("{engine}: {variants} variants, {compared} commands: the same");
    }
}
