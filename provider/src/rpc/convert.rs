//! Between the protocol's messages and plain data. Nothing else knows both.

use equiform_proto::tfplugin6 as tf;
use equiform_proto::tfplugin6::attribute_path::step::Selector;

use crate::diagnostic::Problem;
use crate::schema::{AttributeOrigin, Schema};
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
        .ok_or_else(|| Problem::engine("It sent nothing where an object is due."))
}

/// Reads an object that may be null.
pub fn optional_object_from(
    message: Option<&tf::DynamicValue>,
    ty: &Type,
) -> Result<Option<Object>, Problem> {
    match value_from(message, ty)? {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        _ => Err(Problem::engine("It sent an unknown value where an object is due.")),
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
    let attribute = |attribute: &crate::schema::Attribute| tf::schema::Attribute {
        name: attribute.name.to_owned(),
        r#type: type_to(&attribute.ty),
        description: attribute.description.to_owned(),
        required: attribute.origin == AttributeOrigin::Required,
        optional: attribute.origin == AttributeOrigin::Optional,
        computed: attribute.origin.is_computed(),
        ..tf::schema::Attribute::default()
    };
    tf::Schema {
        version: schema.version,
        block: Some(tf::schema::Block {
            version: schema.version,
            attributes: schema.attributes.iter().map(attribute).collect(),
            description: schema.description.to_owned(),
            ..tf::schema::Block::default()
        }),
    }
}

/// A type as bytes.
pub fn type_to(ty: &Type) -> Vec<u8> {
    ty.to_json().to_string().into_bytes()
}
