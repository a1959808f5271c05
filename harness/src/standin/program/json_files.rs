//! Files of a program in the JSON syntax. What may stand several times may be a list there.

use serde_json::{Map, Value as Json};

use super::module::{InFile, Requirement, TYPED};

/// Reads a file's text.
pub fn read(text: &str, file: &mut InFile<'_>) -> Result<(), String> {
    let document: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
    for body in objects(&document) {
        for (kind, value) in body {
            match kind.as_str() {
                "terraform" => terraform(value, file),
                "provider" => objects(value).flat_map(Map::keys).for_each(|name| file.configures(name)),
                "module" => {
                    for (name, call) in objects(value).flatten() {
                        for source in objects(call).filter_map(|call| call.get("source")?.as_str()) {
                            file.calls(name, source);
                        }
                    }
                }
                "check" => {
                    for check in objects(value).flat_map(Map::values).flat_map(objects) {
                        check.get("data").into_iter().for_each(|data| typed(data, file));
                    }
                }
                kind if TYPED.contains(&kind) => typed(value, file),
                _ => {}
            }
        }
    }
    Ok(())
}

/// An object, or those of a list.
fn objects(value: &Json) -> impl Iterator<Item = &Map<String, Json>> {
    let many = value.as_array().into_iter().flatten();
    value.as_object().into_iter().chain(many.filter_map(Json::as_object))
}

fn terraform(value: &Json, file: &mut InFile<'_>) {
    let meta = objects(value).filter_map(|body| body.get("provider_meta"));
    for (provider, said) in meta.flat_map(objects).flatten() {
        file.has_meta(provider, objects(said).flat_map(Map::keys).cloned().collect());
    }
    let required = objects(value).filter_map(|body| body.get("required_providers"));
    for (local, said) in required.flat_map(objects).flatten() {
        let text = |name: &str| said.get(name).and_then(Json::as_str).map(str::to_owned);
        let version = said.as_str().map(str::to_owned).or_else(|| text("version"));
        file.requires(Requirement { local: local.clone(), source: text("source"), version });
    }
}

fn typed(value: &Json, file: &mut InFile<'_>) {
    for (type_name, named) in objects(value).flatten() {
        for block in objects(named).flat_map(Map::values).flat_map(objects) {
            file.has_type(type_name, block.get("provider").and_then(Json::as_str));
            if block.contains_key("provisioner") {
                file.provisions();
            }
        }
    }
}
