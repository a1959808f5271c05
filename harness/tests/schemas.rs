//! What commands print as JSON is what the schemas in `docs/schema/` say: real campaigns on real engines are held to
//! them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn equiform(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_equiform")).current_dir(folder).args(arguments).output().unwrap()
}

/// The schema of a kind of document.
struct Schema(Schemas, SchemaIndex);

impl Schema {
    fn of(name: &str) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let path = root().join("docs/schema").join(format!("{name}.json"));
        let index = compiler.compile(path.to_str().unwrap(), &mut schemas);
        Self(schemas, index.unwrap_or_else(|error| panic!("{error:#}")))
    }

    fn refuses(&self, document: &Value) -> Option<String> {
        self.0.validate(document, self.1).err().map(|error| format!("{error:#}"))
    }

    /// The document that a command printed, which must end with this exit code and be what the schema says.
    #[track_caller]
    fn holds(&self, output: &Output, code: i32) -> Value {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        let document =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        assert_eq!(self.refuses(&document), None, "{document:#}");
        document
    }
}

/// A case in which an engine bug shows that is known, and new without the list of those.
const CYCLE: &str = concat!(
    r#"{"version":5,"number":3,"seed":0,
    "engine":{"family":"terraform","name":"tofu","version":"1.12.6"},"source":{"nodes":["a","p"],"edges":[]},
    "variants":[{"workflow":"plain","stages":[
        {"name":"batch-1","action":{"apply":{}},"program":{"batch":1},"judged_as":"batch"},
        {"name":"batch-2","action":{"apply":{}},"program":{"batch":2},"judged_as":"source"},
        {"name":"destroy","action":{"destroy":{}},"program":{"batch":2},"judged_as":"destroy"}],
    "program":"(rem b (disc a b (disc p a (cut (con a b pinned_refs (con p a pinned_refs "#,
    r#"(set b create_before_destroy true (add b (add a (add p empty))))))))))"}]}"#
);

#[test]
fn reports_of_run_judge_merge_and_replay_are_what_their_schema_says() {
    let (place, schema) = (tempfile::tempdir().unwrap(), Schema::of("report"));
    let place = place.path();
    let small =
        ["--sources=2", "--variants=2", "--batches=2", "--resources=3..4", "--edges=1..2", "--seed=5"];
    let run = |more: &[&str]| {
        let fixed = ["run", "--engine=terraform@1.15.5", "--format=json"];
        equiform(place, &[&fixed[..], &small, more].concat())
    };
    let whole = schema.holds(&run(&["--out=whole"]), 0);
    assert!(whole["spent"].is_object() && whole["stages"].is_object(), "{whole:#}");
    schema.holds(&run(&["--out=first", "--shard=1/2"]), 0);
    schema.holds(&run(&["--out=second", "--shard=2/2", "--case=1", "--leave-out-rules=6"]), 0);
    schema.holds(&run(&["--out=other", "--shard=2/2"]), 0);
    schema.holds(&equiform(place, &["merge", "first", "other", "--out=joint", "--format=json"]), 0);
    schema.holds(&equiform(place, &["judge", "joint", "--format=json"]), 0);
    let graph = r#"--source={"nodes":["a","b"],"edges":[["a","b"]],"attributes":{"a":{"label":"a"}}}"#;
    let given =
        ["run", "--engine=tofu@1.12.6", "--format=json", "--sources=1", "--variants=1", "--out=given", graph];
    schema.holds(&equiform(place, &given), 0);

    fs::create_dir(place.join("cycle")).unwrap();
    fs::write(place.join("cycle/case.json"), CYCLE).unwrap();
    let replayed = equiform(place, &["replay", "cycle", "--out=again", "--format=json"]);
    assert_eq!(schema.holds(&replayed, 0)["counts"]["known"], 1);
    let failed = schema.holds(&equiform(place, &["judge", "again", "--no-known", "--format=json"]), 1);
    assert_eq!(failed["cases"][0]["case"], 3);
    fs::remove_file(place.join("again/variant-0000/ledger.jsonl")).unwrap();
    let unjudged = schema.holds(&equiform(place, &["judge", "again", "--format=json"]), 2);
    assert_eq!(unjudged["counts"]["inconclusive"], 1);

    // A schema that takes anything would hold anything.
    for (field, value) in [("version", 99.into()), ("surprise", 1.into()), ("counts", Value::Null)] {
        let mut other = failed.clone();
        other[field] = value;
        assert!(schema.refuses(&other).is_some(), "{field}");
    }
    let mut other = failed;
    other["cases"][0]["variants"][0]["result"]["verdict"] = "pass".into();
    assert!(schema.refuses(&other).is_some(), "what passed has no findings");
}

#[test]
fn what_show_prints_is_what_its_schema_says() {
    let (place, schema) = (tempfile::tempdir().unwrap(), Schema::of("show"));
    let place = place.path();
    fs::create_dir(place.join("cycle")).unwrap();
    fs::write(place.join("cycle/case.json"), CYCLE).unwrap();
    let replayed = equiform(place, &["replay", "cycle", "--out=again"]);
    assert_eq!(replayed.status.code(), Some(0), "{}", String::from_utf8_lossy(&replayed.stderr));
    let shown = schema.holds(&equiform(place, &["show", "again/variant-0000", "--format=json"]), 0);
    let cause = &shown["variants"][0]["cause"];
    assert_eq!(
        (&cause["finding"]["known"], &cause["change"]["from"]),
        (&"cycle-dependent-removed".into(), &"batch-1".into())
    );
    assert_eq!(shown["case"], 3);
    let new = schema.holds(&equiform(place, &["show", "again", "--no-known", "--format=json"]), 1);
    assert_eq!(new["variants"][0]["verdict"], "fail");
    let mut other = new;
    other["variants"][0]["cause"]["surprise"] = 1.into();
    assert!(schema.refuses(&other).is_some());
    let passed = [
        "run",
        "--engine=terraform@1.15.5",
        "--sources=1",
        "--variants=1",
        "--workflows=plain",
        "--out=passed",
    ];
    assert_eq!(equiform(place, &passed).status.code(), Some(0));
    let shown = schema.holds(&equiform(place, &["show", "passed/case-0000", "--format=json"]), 0);
    assert_eq!((&shown["passed"], &shown["variants"]), (&1.into(), &Value::Array(Vec::new())));
    schema.holds(&equiform(place, &["show", "passed/case-0000/variant-0000", "--format=json"]), 0);
}

#[test]
fn what_compare_prints_is_what_its_schema_says() {
    let (place, schema) = (tempfile::tempdir().unwrap(), Schema::of("compare"));
    let engines = ["compare", "--engine=terraform@1.15.5", "--engine=tofu@1.12.6", "--format=json"];
    let small = ["--sources=2", "--variants=2", "--batches=3", "--resources=3..6"];
    let compared = equiform(place.path(), &[&engines[..], &small].concat());
    let document = schema.holds(&compared, compared.status.code().unwrap_or(-1));
    assert_eq!(document["compared"], 4);
    let mut other = document;
    other["differences"] = serde_json::json!([{ "case": 0 }]);
    assert!(schema.refuses(&other).is_some());
}

/// The examples of a page, in order.
fn examples(page: &str) -> Vec<Value> {
    let page = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let blocks = page.split("\n```json\n").skip(1).map(|rest| rest.split("\n```").next().unwrap());
    blocks
        .map(|block| serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}")))
        .collect()
}

#[test]
fn types_files_and_overrides_in_the_project_are_what_their_schemas_say() {
    let read =
        |path: &str| -> Value { serde_json::from_slice(&fs::read(root().join(path)).unwrap()).unwrap() };
    let types = Schema::of("types");
    let mut documents = examples("types.md");
    assert_eq!(documents.len(), 2);
    documents.push(read("fixtures/types/equiform.types.json"));
    for document in documents {
        assert_eq!(types.refuses(&document), None, "{document:#}");
    }
    let overrides = Schema::of("overrides");
    let mut documents: Vec<_> = examples("standin.md");
    documents.retain(|document| document.get("equiform_overrides").is_some());
    assert!(!documents.is_empty());
    documents.push(read("provider/src/types/common.json"));
    for document in documents {
        assert_eq!(overrides.refuses(&document), None, "{document:#}");
    }
    let wrong = serde_json::json!({"equiform_types": 1, "resources": {"mock_a": {"attributes": {"a": {}}}}});
    assert!(types.refuses(&wrong).is_some(), "an attribute needs a type");
}
