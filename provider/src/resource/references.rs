//! What an object refers to: the ids in it, each with where it stands.

use equiform_proto::ledger::Reference;

use super::ResourceType;
use crate::mint;
use crate::schema::{Attribute, Block, Shape};
use crate::value::{Object, Value};

/// The ids that an object refers to. Attributes that are made for it hold ids and nothing else; in a type without such
/// attributes, an id may stand anywhere in any text.
pub fn of(resource: &ResourceType, object: &Object, own: Option<&str>) -> Vec<Reference> {
    let refer = resource.schema.block.attributes.iter().filter(|attribute| attribute.refers);
    let mut found: Vec<_> = refer
        .flat_map(|attribute| {
            let ids = object.get(&attribute.name).map(Value::strings).unwrap_or_default();
            ids.into_iter().map(|id| Reference { path: attribute.name.clone(), id: id.to_owned() })
        })
        .collect();
    if resource.provider.is_some()
        || !resource.schema.block.attributes.iter().any(|attribute| attribute.refers)
    {
        search_block(&resource.schema.block, object, "", &mut |path, id| {
            if Some(id) != own {
                found.push(Reference { path: path.to_owned(), id: id.to_owned() });
            }
        });
        found.sort();
        found.dedup();
    }
    found
}

type Found<'a> = &'a mut dyn FnMut(&str, &str);

fn search_block(block: &Block, object: &Object, path: &str, found: Found<'_>) {
    for attribute in &block.attributes {
        if let Some(value) = object.get(&attribute.name) {
            search_attribute(attribute, value, &join(path, &attribute.name), found);
        }
    }
    for nested in &block.blocks {
        if let Some(value) = object.get(&nested.name) {
            let path = join(path, &nested.name);
            each(value, &path, &mut |object, path| search_block(&nested.block, object, path, found));
        }
    }
}

fn search_attribute(attribute: &Attribute, value: &Value, path: &str, found: Found<'_>) {
    // What nobody may see is not looked into: an id in it would stand in the ledger.
    if attribute.sensitive || attribute.write_only {
        return;
    }
    match &attribute.shape {
        Shape::Plain(_) => search_value(value, path, found),
        Shape::Nested(_, attributes) => each(value, path, &mut |object, path| {
            for inner in attributes {
                if let Some(value) = object.get(&inner.name) {
                    search_attribute(inner, value, &join(path, &inner.name), found);
                }
            }
        }),
    }
}

fn search_value(value: &Value, path: &str, found: Found<'_>) {
    match value {
        Value::String(text) => mint::ids_in(text).into_iter().for_each(|id| found(path, id)),
        Value::List(elements) | Value::Set(elements) => {
            for (index, element) in elements.iter().enumerate() {
                search_value(element, &format!("{path}[{index}]"), found);
            }
        }
        Value::Map(elements) => {
            for (key, element) in elements {
                // An id may be the key itself.
                mint::ids_in(key).into_iter().for_each(|id| found(path, id));
                search_value(element, &format!("{path}[{key:?}]"), found);
            }
        }
        Value::Object(attributes) => {
            for (name, value) in attributes {
                search_value(value, &join(path, name), found);
            }
        }
        Value::Dynamic(_, value) => search_value(value, path, found),
        Value::Null | Value::Unknown | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Each object of a nested attribute or of nested blocks, with where it stands.
fn each(value: &Value, path: &str, look: &mut dyn FnMut(&Object, &str)) {
    match value {
        Value::Object(object) => look(object, path),
        Value::List(elements) | Value::Set(elements) => {
            for (index, element) in elements.iter().enumerate() {
                each(element, &format!("{path}[{index}]"), look);
            }
        }
        Value::Map(elements) => {
            for (key, element) in elements {
                each(element, &format!("{path}[{key:?}]"), look);
            }
        }
        _ => {}
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
