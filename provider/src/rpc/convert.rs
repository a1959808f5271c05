//! Between the protocol's messages and plain data. Nothing else knows both.

use equiform_proto::tfplugin6 as tf;
use equiform_proto::tfplugin6::attribute_path::step::Selector;

use crate::diagnostic::Problem;
use crate::schema::{Attribute, Block, NestedBlock, Nesting, Origin, Schema, Shape};
use crate::value::{Object, PathStep, Type, Value, json, msgpack};

/// Reads a value of the given type. An absent one is null.
pub fn value_from(message: Option<&tf::DynamicValue>, ty: &Type) -> Result<Value, Problem> {
    let Some(message) = message else { return Ok(Value::Null) };
    if !message.msgpack.is_empty() {
        return Ok(msgpack::decode(&message.msgpack, ty)?);
    }
    if !message.json.is_empty() {
        return Ok(json::decode(&json::parse(&message.json)?, ty)?);
    }
    Ok(Value::Null)
}

/// Reads an object that must be there.
pub fn object_from(message: Option<&tf::DynamicValue>, ty: &Type) -> Result<Object, Problem> {
    optional_object_from(message, ty)?
        .ok_or_else(|| Problem::engine("It sent nothing where an object is expected."))
}

/// Reads an object that may be null.
pub fn optional_object_from(
    message: Option<&tf::DynamicValue>,
    ty: &Type,
) -> Result<Option<Object>, Problem> {
    match value_from(message, ty)? {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        _ => Err(Problem::engine("It sent an unknown value where an object is expected.")),
    }
}

/// An object as a message; `None` is null.
pub fn object_to(object: Option<Object>, ty: &Type) -> Option<tf::DynamicValue> {
    let value = object.map_or(Value::Null, Value::Object);
    Some(tf::DynamicValue { msgpack: msgpack::encode(&value, ty), json: Vec::new() })
}

/// A value as a message.
pub fn value_to(value: &Value, ty: &Type) -> tf::DynamicValue {
    tf::DynamicValue { msgpack: msgpack::encode(value, ty), json: Vec::new() }
}

/// An identity as a message.
pub fn identity_to(identity: Object, ty: &Type) -> Option<tf::ResourceIdentityData> {
    Some(tf::ResourceIdentityData { identity_data: object_to(Some(identity), ty) })
}

/// Problems as messages.
pub fn diagnostics(problems: impl IntoIterator<Item = Problem>) -> Vec<tf::Diagnostic> {
    let message = |problem: Problem| tf::Diagnostic {
        severity: tf::diagnostic::Severity::Error.into(),
        summary: problem.summary,
        detail: problem.detail,
        attribute: (!problem.path.is_empty()).then(|| path_to(problem.path)),
    };
    problems.into_iter().map(message).collect()
}

/// A path as a message.
pub fn path_to(path: Vec<PathStep>) -> tf::AttributePath {
    let step = |step| match step {
        PathStep::Attribute(name) => Selector::AttributeName(name),
        PathStep::Key(key) => Selector::ElementKeyString(key),
        PathStep::Index(index) => Selector::ElementKeyInt(i64::try_from(index).unwrap_or(i64::MAX)),
    };
    let steps = path.into_iter().map(|s| tf::attribute_path::Step { selector: Some(step(s)) });
    tf::AttributePath { steps: steps.collect() }
}

/// A schema as a message.
pub fn schema_to(schema: &Schema) -> tf::Schema {
    let block = tf::schema::Block { version: schema.version, ..block_to(&schema.block) };
    tf::Schema { version: schema.version, block: Some(block) }
}

fn block_to(block: &Block) -> tf::schema::Block {
    tf::schema::Block {
        attributes: block.attributes.iter().map(attribute_to).collect(),
        block_types: block.blocks.iter().map(nested_block_to).collect(),
        description: block.description.clone(),
        deprecated: block.deprecated,
        ..tf::schema::Block::default()
    }
}

fn nested_block_to(nested: &NestedBlock) -> tf::schema::NestedBlock {
    use tf::schema::nested_block::NestingMode;
    let nesting = match nested.nesting {
        Nesting::Single => NestingMode::Single,
        Nesting::Group => NestingMode::Group,
        Nesting::List => NestingMode::List,
        Nesting::Set => NestingMode::Set,
        Nesting::Map => NestingMode::Map,
    };
    tf::schema::NestedBlock {
        type_name: nested.name.clone(),
        block: Some(block_to(&nested.block)),
        nesting: nesting.into(),
        min_items: nested.min_items,
        max_items: nested.max_items,
    }
}

fn attribute_to(attribute: &Attribute) -> tf::schema::Attribute {
    use tf::schema::object::NestingMode;
    let (ty, nested) = match &attribute.shape {
        Shape::Plain(ty) => (type_to(ty), None),
        Shape::Nested(nesting, attributes) => {
            let nesting = match nesting {
                Nesting::Single | Nesting::Group => NestingMode::Single,
                Nesting::List => NestingMode::List,
                Nesting::Set => NestingMode::Set,
                Nesting::Map => NestingMode::Map,
            };
            let attributes = attributes.iter().map(attribute_to).collect();
            let object =
                tf::schema::Object { attributes, nesting: nesting.into(), ..tf::schema::Object::default() };
            (Vec::new(), Some(object))
        }
    };
    tf::schema::Attribute {
        name: attribute.name.clone(),
        r#type: ty,
        nested_type: nested,
        description: attribute.description.clone(),
        required: attribute.origin == Origin::Required,
        optional: attribute.origin.is_optional(),
        computed: attribute.origin.is_computed(),
        sensitive: attribute.sensitive,
        write_only: attribute.write_only,
        deprecated: attribute.deprecated,
        ..tf::schema::Attribute::default()
    }
}

/// A type as bytes.
pub fn type_to(ty: &Type) -> Vec<u8> {
    ty.to_json().to_string().into_bytes()
}
