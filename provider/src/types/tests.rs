//! Files that no provider has written: each gets a sentence, and none brings the process down.

use std::path::PathBuf;

use super::document::Document;
use super::overrides::Overrides;
use super::schema_json::{Family, SchemaFile};
use super::{Types, tfcoremock};
use crate::resource::plan::plan;
use crate::value::Object;

const ADDRESS: &str = "registry.terraform.io/hashicorp/cloud";

fn document(text: impl Into<String>) -> Document {
    Document { path: PathBuf::from("schema.json"), text: text.into() }
}

/// A schema file with one type of resource.
fn with_resource(name: &str, block: &str) -> Document {
    document(format!(
        "{{\"format_version\": \"1.0\",\n\"provider_schemas\": {{\"{ADDRESS}\": {{\n\
         \"resource_schemas\": {{\"{name}\": {{\"version\": 0, \"block\": {block}}}}}}}}}}}"
    ))
}

/// What is said of a type of a file that cannot be used.
fn said_of(name: &str, block: &str) -> String {
    match SchemaFile::new(with_resource(name, block), ADDRESS) {
        Err(defect) => defect.to_string(),
        Ok(file) => file.schema(Family::Resource, name).expect_err("it is bad").to_string(),
    }
}

#[test]
fn a_schema_that_nests_without_end_is_refused() {
    let deep = |open: &str, close: &str| {
        let (open, close) = (open.repeat(10_000), close.repeat(10_000));
        format!("{open}{close}")
    };
    let types = deep("[\"list\",", "]").replace("[\"list\",]", "[\"list\",\"string\"]");
    let block = format!("{{\"attributes\": {{\"a\": {{\"optional\": true, \"type\": {types}}}}}}}");
    assert!(said_of("cloud_a", &block).contains("It nests too deep."));
    let block = format!(
        "{}{{}}{}",
        "{\"block_types\": {\"a\": {\"nesting_mode\": \"list\", \"block\": ".repeat(10_000),
        "}}}".repeat(10_000)
    );
    assert!(said_of("cloud_a", &block).contains("It nests too deep."));
    let nested = 70;
    let ty = format!("{}\"string\"{}", "[\"list\",".repeat(nested), "]".repeat(nested));
    let said =
        said_of("cloud_a", &format!("{{\"attributes\": {{\"a\": {{\"optional\": true, \"type\": {ty}}}}}}}"));
    assert!(said.contains("nests too deep") && said.contains("attributes.a"), "{said}");
}

#[test]
fn a_file_of_a_hundred_megabytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("schema.json");
    std::fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
    let said = Document::read(&path).unwrap_err().to_string();
    assert!(said.contains("more than 96 MiB"), "{said}");
}

#[test]
fn a_type_that_is_named_like_a_path_is_refused() {
    for name in ["../../etc/passwd", "a/b", "", "a b", "c:\\\\x"] {
        assert!(said_of(name, "{}").contains("is not a name of a type"), "{name}");
    }
}

#[test]
fn a_defect_of_a_schema_is_told_with_file_line_and_path() {
    let said = said_of("cloud_a", "{\n\"attributes\": {\n\"size\": {\"required\": true}}}");
    assert_eq!(
        said,
        "schema.json, line 5, at provider_schemas.registry.terraform.io/hashicorp/cloud.resource_schemas.cloud_a.\
         block.attributes.size: An attribute has either a `type` or a `nested_type`."
    );
    let old = document("{\"format_version\": \"2.3\"}");
    let said = SchemaFile::new(old, ADDRESS).unwrap_err().to_string();
    assert!(said.contains("Its format is 2.3") && said.contains("0.1, 0.2 and 1.0"), "{said}");
    let other = with_resource("cloud_a", "{}");
    let said = SchemaFile::new(other, "registry.terraform.io/hashicorp/aws").unwrap_err().to_string();
    assert!(said.contains("Those that it has: registry.terraform.io/hashicorp/cloud"), "{said}");
}

#[test]
fn the_same_provider_of_another_default_host_is_found() {
    let file =
        SchemaFile::new(with_resource("cloud_a", "{}"), "registry.opentofu.org/hashicorp/cloud").unwrap();
    assert_eq!(file.names(Family::Resource).collect::<Vec<_>>(), ["cloud_a"]);
}

#[test]
fn a_defect_of_overrides_is_told_with_line_and_path() {
    let bad = document("{\"equiform_overrides\": 1,\n\"resources\": {\"cloud_a\": {\"replcae\": []}}}");
    let said = Overrides::read(&bad).unwrap_err().to_string();
    assert!(said.contains("line 2") && said.contains("resources.cloud_a.replcae"), "{said}");
}

#[test]
fn a_bad_file_of_dynamic_resources_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dynamic_resources.json");
    for (text, place) in [
        (
            "{\"tfcoremock_a\": {\"attributes\": {\"b\": {\"type\": \"text\"}}}}",
            "tfcoremock_a.attributes.b.type",
        ),
        (
            "{\"tfcoremock_a\": {\"attributes\": {\"b\": {\"type\": \"string\"}}}}",
            "tfcoremock_a.attributes.b",
        ),
        (
            "{\"tfcoremock_a\": {\"attributes\": {\"id\": {\"type\": \"string\", \"optional\": true}}}}",
            "attributes.id",
        ),
        ("{\"a/b\": {}}", "is not a name of a type"),
        ("[", "line 1"),
    ] {
        std::fs::write(&path, text).unwrap();
        let said = tfcoremock::types(Some(&path)).expect_err("it is bad").to_string();
        assert!(said.contains(place), "{said}");
    }
}

#[test]
fn every_type_of_tfcoremock_can_be_planned() {
    let file = tfcoremock::types(None).unwrap();
    for declared in file.resources.values() {
        let planned = plan(&declared.schema.block, None, &Object::new(), &Object::new());
        assert_eq!(planned.planned.get("id"), Some(&crate::value::Value::Unknown));
    }
}

#[test]
fn the_mocks_own_types_need_no_file() {
    let types = Types::load(None, &super::Sources::default()).unwrap();
    assert_eq!(types.names(Family::Resource), ["mock_node"]);
}
