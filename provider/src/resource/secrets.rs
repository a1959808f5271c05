//! What nobody may see: values whose schema says sensitive or write-only. They stand in the engine's state at most, and
//! never in the ledger. When an object is read, they are taken from what the engine has stored.

use crate::schema::{Attribute, Block, Nesting, Shape};
use crate::value::{Object, Value};

/// Whether a schema has any.
pub fn any_in(block: &Block) -> bool {
    block.attributes.iter().any(any_in_attribute) || block.blocks.iter().any(|nested| any_in(&nested.block))
}

fn any_in_attribute(attribute: &Attribute) -> bool {
    attribute.sensitive
        || attribute.write_only
        || matches!(&attribute.shape, Shape::Nested(_, inner) if inner.iter().any(any_in_attribute))
}

/// The object without them. Elements of a set have no place of their own, so a set that holds any goes as a whole.
pub fn without(block: &Block, object: &Object) -> Object {
    let mut object = object.clone();
    copy(block, &mut object, &Object::new());
    object
}

/// Puts them into an object that is read from the ledger, as the engine has stored them.
pub fn restore(block: &Block, object: &mut Object, stored: &Object) {
    copy(block, object, stored);
}

/// Takes all that nobody may see from one object to the other; null where the one does not have it.
fn copy(block: &Block, object: &mut Object, from: &Object) {
    copy_attributes(&block.attributes, object, from);
    for nested in block.blocks.iter().filter(|nested| any_in(&nested.block)) {
        let (Some(value), from) = (object.get_mut(&nested.name), from.get(&nested.name)) else { continue };
        copy_nested(nested.nesting, value, from, &mut |object, from| copy(&nested.block, object, from));
    }
}

fn copy_attributes(attributes: &[Attribute], object: &mut Object, from: &Object) {
    for attribute in attributes.iter().filter(|attribute| any_in_attribute(attribute)) {
        let (Some(value), from) = (object.get_mut(&attribute.name), from.get(&attribute.name)) else {
            continue;
        };
        match &attribute.shape {
            Shape::Nested(nesting, inner) if !attribute.sensitive && !attribute.write_only => {
                copy_nested(*nesting, value, from, &mut |object, from| copy_attributes(inner, object, from));
            }
            _ => *value = from.cloned().unwrap_or(Value::Null),
        }
    }
}

fn copy_nested(
    nesting: Nesting,
    value: &mut Value,
    from: Option<&Value>,
    copy: &mut dyn FnMut(&mut Object, &Object),
) {
    let nothing = Object::new();
    let mut one = |value: &mut Value, from: Option<&Value>| {
        if let Value::Object(object) = value {
            match from {
                Some(Value::Object(from)) => copy(object, from),
                _ => copy(object, &nothing),
            }
        }
    };
    match (nesting, &mut *value) {
        (Nesting::Single | Nesting::Group, value) => one(value, from),
        (Nesting::List, Value::List(elements)) => {
            let stored = match from {
                Some(Value::List(stored)) => &stored[..],
                _ => &[],
            };
            elements.iter_mut().enumerate().for_each(|(i, element)| one(element, stored.get(i)));
        }
        (Nesting::Map, Value::Map(elements)) => {
            for (key, element) in elements {
                let stored = match from {
                    Some(Value::Map(stored)) => stored.get(key),
                    _ => None,
                };
                one(element, stored);
            }
        }
        (Nesting::Set, value) => *value = from.cloned().unwrap_or(Value::Null),
        _ => {}
    }
}

/// Puts empty collections where blocks are null: an object that is read back without its secrets may have such.
pub fn complete(block: &Block, object: &mut Object) {
    for nested in &block.blocks {
        let value = object.entry(nested.name.clone()).or_insert(Value::Null);
        if *value == Value::Null {
            *value = match nested.nesting {
                Nesting::Single => Value::Null,
                Nesting::Group => Value::Object(Object::new()),
                Nesting::List => Value::List(Vec::new()),
                Nesting::Set => Value::Set(Vec::new()),
                Nesting::Map => Value::Map(Object::new()),
            };
        }
        super::plan::each_object(nested.nesting, value, &mut |object| complete(&nested.block, object));
    }
}
