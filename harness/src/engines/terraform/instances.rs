//! The instances in a state, and what tells which object of the world each of them is.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::state::{Document, Instance};

/// An instance of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateInstance {
    /// Its address; that of an old object that waits for its deletion says so.
    pub address: String,
    /// Its type.
    pub type_name: String,
    /// The id that our provider gave the engine to keep beside the object.
    pub kept_id: Option<String>,
    /// The attribute `id`.
    pub id_attribute: Option<String>,
}

/// A state that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{path}: this is not a state of Terraform or OpenTofu: {why}")]
pub struct InvalidState {
    path: String,
    why: String,
}

/// What is read of the attributes.
#[derive(Default, Deserialize)]
struct Attributes {
    #[serde(default)]
    id: Json,
}

/// What our provider gives engines to keep.
#[derive(Deserialize)]
struct Kept {
    #[serde(rename = "equiform")]
    _version: u64,
    id: String,
}

/// The instances of resources in a state file. Data sources are no objects.
pub fn read(path: &Path) -> Result<Vec<StateInstance>, InvalidState> {
    let invalid = |why: String| InvalidState { path: path.display().to_string(), why };
    let file = File::open(path).map_err(|error| invalid(error.to_string()))?;
    let document: Document<Attributes, IgnoredAny> =
        serde_json::from_reader(BufReader::with_capacity(1 << 20, file))
            .map_err(|error| invalid(error.to_string()))?;
    let objects = document.check().map_err(invalid)?.objects();
    let instance = |(type_name, address, instance): (String, String, Instance<Attributes, IgnoredAny>)| {
        let deposed = instance.deposed.map(|key| format!(" (deposed {key})")).unwrap_or_default();
        StateInstance {
            address: address + &deposed,
            type_name,
            kept_id: instance.private.as_deref().and_then(kept_id),
            id_attribute: instance.attributes.id.as_str().map(str::to_owned),
        }
    };
    Ok(objects.map(instance).collect())
}

fn kept_id(private: &str) -> Option<String> {
    let bytes = STANDARD.decode(private).ok()?;
    serde_json::from_slice::<Kept>(&bytes).ok().map(|kept| kept.id)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn instances_are_told_apart_by_module_key_and_mode() {
        let kept = STANDARD.encode(r#"{"equiform":1,"id":"vpc-1"}"#);
        let foreign = STANDARD.encode(r#"{"schema_version":"1"}"#);
        let instance = |more: Json| {
            let mut instance = json!({ "attributes": { "id": "x", "tags": {} }, "private": foreign });
            instance.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            instance
        };
        let state = json!({ "version": 4, "serial": 1, "lineage": "l", "resources": [
            { "mode": "managed", "type": "c_vpc", "name": "a", "module": "module.net[\"x\"]",
              "instances": [instance(json!({ "index_key": 0, "private": kept })),
                            instance(json!({ "index_key": "k" }))] },
            { "mode": "managed", "type": "c_vpc", "name": "b", "instances": [instance(json!({ "deposed": "00ff" }))] },
            { "mode": "data", "type": "c_vpc", "name": "c", "instances": [instance(json!({}))] },
            { "mode": "managed", "type": "c_key", "name": "d", "instances": [{ "attributes": { "id": null } }] },
        ]});
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("terraform.tfstate");
        std::fs::write(&path, state.to_string()).unwrap();
        let read = super::read(&path).unwrap();
        let shown: Vec<String> = read
            .iter()
            .map(|i| format!("{} {:?} {:?}", i.address, i.kept_id.as_deref(), i.id_attribute.as_deref()))
            .collect();
        assert_eq!(
            shown,
            [
                "module.net[\"x\"].c_vpc.a[0] Some(\"vpc-1\") Some(\"x\")",
                "module.net[\"x\"].c_vpc.a[\"k\"] None Some(\"x\")",
                "c_vpc.b (deposed 00ff) None Some(\"x\")",
                "c_key.d None None",
            ]
        );
        std::fs::write(&path, "{\"version\": 3}").unwrap();
        let error = super::read(&path).unwrap_err().to_string();
        assert!(error.ends_with(": it has version 3, but only version 4 is supported"), "{error}");
        std::fs::write(&path, "[]").unwrap();
        assert!(super::read(&path).is_err());
    }
}
