//! What the provider computes: at plan, what follows from what is known; at apply, everything else.

use super::plan::{each_object, is_left_to_us, settle_attribute};
use super::plausible::{Context, Salt};
use crate::schema::{Attribute, Block, Nesting, Piece, Rule, Shape};
use crate::value::{Number, Object, Type, Value, json};

/// Gives attributes that follow from others their values, as far as those are known.
pub fn derive(block: &Block, object: &mut Object, config: &Object) {
    let ours = |attribute: &&Attribute| {
        matches!(attribute.rule, Rule::CopyOf(_) | Rule::Format(_)) && is_left_to_us(attribute, config)
    };
    let derived: Vec<_> = block.attributes.iter().filter(ours).collect();
    for attribute in &derived {
        object.insert(attribute.name.clone(), Value::Unknown);
    }
    // One may follow from another that does; what goes round in a circle stays unknown.
    for _ in 0..derived.len() {
        let mut settled = true;
        for attribute in &derived {
            if object.get(&attribute.name) == Some(&Value::Unknown)
                && let Some(value) = derived_value(attribute, object)
            {
                object.insert(attribute.name.clone(), value);
                settled = false;
            }
        }
        if settled {
            break;
        }
    }
}

/// The value of an attribute that follows from others; `None` while those are not known.
fn derived_value(attribute: &Attribute, object: &Object) -> Option<Value> {
    match &attribute.rule {
        Rule::CopyOf(name) => object.get(name).filter(|value| value.is_wholly_known()).cloned(),
        Rule::Format(pieces) => {
            let piece = |piece: &Piece| match piece {
                Piece::Text(text) => Some(text.clone()),
                Piece::Attribute(name) => shown(object.get(name)?),
            };
            let text: Option<String> = pieces.iter().map(piece).collect();
            text.map(Value::String)
        }
        _ => None,
    }
}

/// A value as a part of a text; `None` while it is not known.
fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        value if value.is_wholly_known() => Some(json::encode(value).to_string()),
        _ => None,
    }
}

/// Gives everything in a planned object that is still unknown its value.
pub fn finish(block: &Block, object: &mut Object, context: &Context<'_>) {
    for attribute in &block.attributes {
        let Some(value) = object.get_mut(&attribute.name) else { continue };
        if *value == Value::Unknown {
            let computed = match &attribute.rule {
                Rule::Id => Value::String(context.id.to_owned()),
                Rule::Revision => Value::Number(Number::from(1)),
                Rule::Constant(value) | Rule::Value(value) => value.clone(),
                Rule::States(states) => states.first().map_or(Value::Null, |(_, name)| name.as_str().into()),
                Rule::CopyOf(_) | Rule::Format(_) => continue,
                // A map that nobody has filled is empty, as tags are.
                Rule::Once | Rule::EachChange if matches!(attribute.ty(), Type::Map(_)) => {
                    Value::Map(Object::new())
                }
                Rule::Once | Rule::EachChange => made(attribute, context, &context.salt.at(&attribute.name)),
            };
            *value = computed;
        } else {
            finish_attribute(attribute, value, context, &context.salt.at(&attribute.name));
        }
    }
    for nested in &block.blocks {
        if let Some(value) = object.get_mut(&nested.name) {
            let salt = context.salt.at(&nested.name);
            finish_each(nested.nesting, value, &salt, &mut |object, salt| {
                finish_block(&nested.block, object, context, salt);
            });
        }
    }
    let config = Object::new();
    let unknown: Vec<_> = block
        .attributes
        .iter()
        .filter(|attribute| object.get(&attribute.name) == Some(&Value::Unknown))
        .cloned()
        .collect();
    derive(&Block { attributes: unknown.clone(), ..Block::default() }, object, &config);
    for attribute in unknown {
        if object.get(&attribute.name) == Some(&Value::Unknown) {
            let value = made(&attribute, context, &context.salt.at(&attribute.name));
            object.insert(attribute.name.clone(), value);
        }
    }
}

/// A value that is made up for an attribute. What is only ever written has no value.
fn made(attribute: &Attribute, context: &Context<'_>, salt: &Salt) -> Value {
    let mut value = context.inner_value(&attribute.ty(), &attribute.name, salt);
    settle_attribute(attribute, &mut value);
    value
}

fn finish_attribute(attribute: &Attribute, value: &mut Value, context: &Context<'_>, salt: &Salt) {
    match &attribute.shape {
        _ if *value == Value::Unknown => {
            *value = match &attribute.rule {
                Rule::Constant(value) | Rule::Value(value) => value.clone(),
                _ => made(attribute, context, salt),
            };
        }
        Shape::Nested(nesting, attributes) => {
            finish_each(*nesting, value, salt, &mut |object, salt| {
                finish_attributes(attributes, object, context, salt);
            });
        }
        // Only a program can leave a part of a plain value open, and by now it has said what it is.
        Shape::Plain(ty) => finish_plain(ty, value, &attribute.name, context, salt),
    }
}

fn finish_plain(ty: &Type, value: &mut Value, name: &str, context: &Context<'_>, salt: &Salt) {
    match (ty, &mut *value) {
        (_, Value::Unknown) => *value = context.inner_value(ty, name, salt),
        (Type::List(ty), Value::List(elements)) => {
            elements.iter_mut().for_each(|element| finish_plain(ty, element, name, context, salt));
        }
        (Type::Map(ty), Value::Map(elements)) => {
            elements.values_mut().for_each(|element| finish_plain(ty, element, name, context, salt));
        }
        _ => {}
    }
}

fn finish_attributes(attributes: &[Attribute], object: &mut Object, context: &Context<'_>, salt: &Salt) {
    for attribute in attributes {
        if let Some(value) = object.get_mut(&attribute.name) {
            finish_attribute(attribute, value, context, &salt.at(&attribute.name));
        }
    }
}

/// How often another value is made up for an element of a set that would be the same as one that is there.
const TRIES: usize = 16;

/// Finishes each object of a nested attribute or of nested blocks. Elements of a set stay as many as they are: two that
/// became the same would be one, and an engine would miss the other.
fn finish_each(nesting: Nesting, value: &mut Value, salt: &Salt, finish: &mut dyn FnMut(&mut Object, &Salt)) {
    let mut salt = salt.clone();
    let Value::Set(elements) = value else {
        each_object(nesting, value, &mut |object| {
            salt = salt.at("+");
            finish(object, &salt);
        });
        return;
    };
    let (known, open): (Vec<_>, Vec<_>) =
        std::mem::take(elements).into_iter().partition(Value::is_wholly_known);
    let mut finished = known;
    for element in open {
        let mut next = element.clone();
        for _ in 0..TRIES {
            salt = salt.at("+");
            next = element.clone();
            if let Value::Object(object) = &mut next {
                finish(object, &salt);
            }
            if !finished.contains(&next) {
                break;
            }
        }
        finished.push(next);
    }
    *value = Value::set(finished);
}

fn finish_block(block: &Block, object: &mut Object, context: &Context<'_>, salt: &Salt) {
    finish_attributes(&block.attributes, object, context, salt);
    for nested in &block.blocks {
        if let Some(value) = object.get_mut(&nested.name) {
            let salt = salt.at(&nested.name);
            finish_each(nested.nesting, value, &salt, &mut |object, salt| {
                finish_block(&nested.block, object, context, salt);
            });
        }
    }
}
