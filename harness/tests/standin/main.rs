//! `equiform standin` as people use it, on real engines.

mod cloud;
mod install;
mod names;
mod package;
mod run;
mod tfcoremock;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use equiform::engines::Engines;
use serde_json::{Value as Json, json};

/// The engines that programs are deployed on.
const ENGINES: [&str; 2] = ["terraform@1.15.5", "tofu@1.12.6"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn engine(name: &str) -> PathBuf {
    let engines = Engines::from_env().unwrap();
    engines.find(&name.parse().unwrap()).unwrap_or_else(|error| panic!("{error}")).path
}

fn equiform(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_equiform"));
    // Nobody's own schemas: there are none in this cache, but the engines.
    command.current_dir(folder).args(arguments).env_remove("EQUIFORM_OVERRIDES").env_remove("EQUIFORM_SEED");
    command.output().unwrap()
}

/// What a command printed, which must end with this exit code.
#[track_caller]
fn printed(output: &Output, code: i32) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{stdout}\n{stderr}");
    (stdout, stderr)
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// A schema file of one provider with some types, each of which has an `id` and the attributes that are named.
fn schema(address: &str, types: &[(&str, &[&str])]) -> String {
    let string = |flag: &str| json!({ "type": "string", "description_kind": "plain", flag: true });
    let types: serde_json::Map<String, Json> = types
        .iter()
        .map(|(name, attributes)| {
            let mut all = json!({ "id": string("computed") });
            for attribute in *attributes {
                all[attribute] = string("optional");
            }
            ((*name).to_owned(), json!({ "version": 0, "block": { "attributes": all } }))
        })
        .collect();
    let provider = json!({ "provider": { "version": 0, "block": {} }, "resource_schemas": types });
    json!({ "format_version": "1.0", "provider_schemas": { address: provider } }).to_string()
}
