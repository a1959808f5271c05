//! Values as JSON: the form in which state is stored, and in which the ledger holds attributes.

use std::fmt;

use equiform_proto::ledger::Digest;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Value as Json, json};

use super::budget::check_json;
use super::{MAX_DEPTH, Number, Object, PathStep, Type, Value, ValueError};

/// A value as JSON. An unknown, which JSON cannot say, becomes null.
pub fn encode(value: &Value) -> Json {
    encode_with(value, &Json::Null)
}

/// What tells an object from another with other attributes. For one that is wholly known it is the digest of its
/// attributes in the ledger; what is unknown counts as a value of its own.
pub fn digest(object: &Object) -> Digest {
    let unknown = json!({"\0": "unknown"});
    let encoded = object.iter().map(|(name, value)| (name.clone(), encode_with(value, &unknown)));
    Digest::of(&encoded.collect())
}

fn encode_with(value: &Value, unknown: &Json) -> Json {
    let encode = |value: &Value| encode_with(value, unknown);
    let encode_object = |object: &Object| -> serde_json::Map<String, Json> {
        object.iter().map(|(name, value)| (name.clone(), encode(value))).collect()
    };
    match value {
        Value::Null => Json::Null,
        Value::Unknown => unknown.clone(),
        Value::Bool(bool) => Json::Bool(*bool),
        Value::Number(number) => number.to_json(),
        Value::String(text) => text.as_str().into(),
        Value::List(elements) | Value::Set(elements) => elements.iter().map(encode).collect(),
        Value::Map(elements) => encode_object(elements).into(),
        Value::Object(attributes) => encode_object(attributes).into(),
        Value::Dynamic(ty, inner) => json!({"type": ty.to_json(), "value": encode(inner)}),
    }
}

/// An object's attributes as JSON.
pub fn encode_object(object: &Object) -> serde_json::Map<String, Json> {
    object.iter().map(|(name, value)| (name.clone(), encode(value))).collect()
}

/// Parses JSON from another process: no more of it than there is memory for, and no key twice.
pub fn parse(text: &[u8]) -> Result<Json, ValueError> {
    check_json(text)?;
    let parsed: Result<Unique, _> = serde_json::from_slice(text);
    parsed.map(|unique| unique.0).map_err(|error| {
        ValueError::new(if error.is_data() { error.to_string() } else { format!("it is not JSON: {error}") })
    })
}

/// JSON in which no object has a key twice: which of the two the sender means is anybody's guess.
struct Unique(Json);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Json, E> {
        Ok(bool.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(Unique(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(array.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = serde_json::Map::new();
        while let Some((key, Unique(value))) = entries.next_entry::<String, _>()? {
            match object.entry(key) {
                Entry::Vacant(vacant) => vacant.insert(value),
                Entry::Occupied(there) => {
                    return Err(de::Error::custom(format_args!("the key {:?} occurs twice", there.key())));
                }
            };
        }
        Ok(object.into())
    }
}

/// Reads a value of the given type. Attributes that are missing are null: state may come from an older version.
pub fn decode(json: &Json, ty: &Type) -> Result<Value, ValueError> {
    read(json, ty, MAX_DEPTH)
}

fn read(json: &Json, ty: &Type, depth: usize) -> Result<Value, ValueError> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(ValueError::new(format!("the value nests deeper than {MAX_DEPTH} levels")));
    };
    let elements = |elements: &[Json], ty: &Type| {
        let each = elements.iter().enumerate();
        each.map(|(i, element)| read(element, ty, depth).map_err(|error| error.within(PathStep::Index(i))))
            .collect::<Result<Vec<_>, _>>()
    };
    Ok(match (ty, json) {
        (_, Json::Null) => Value::Null,
        (Type::Bool, Json::Bool(bool)) => Value::Bool(*bool),
        (Type::String, Json::String(text)) => Value::String(text.clone()),
        (Type::Number, Json::Number(number)) => number_from(&number.to_string())?,
        (Type::Number, Json::String(text)) => number_from(text)?,
        (Type::List(ty), Json::Array(array)) => Value::List(elements(array, ty)?),
        (Type::Set(ty), Json::Array(array)) => Value::set(elements(array, ty)?),
        (Type::Tuple(types), Json::Array(array)) if types.len() == array.len() => {
            let pairs = array.iter().zip(types).enumerate();
            let elements: Result<Vec<_>, _> = pairs
                .map(|(i, (element, ty))| {
                    read(element, ty, depth).map_err(|error| error.within(PathStep::Index(i)))
                })
                .collect();
            Value::List(elements?)
        }
        (Type::Map(ty), Json::Object(map)) => {
            let entries: Result<Object, _> = map
                .iter()
                .map(|(key, value)| match read(value, ty, depth) {
                    Ok(value) => Ok((key.clone(), value)),
                    Err(error) => Err(error.within(PathStep::Key(key.clone()))),
                })
                .collect();
            Value::Map(entries?)
        }
        (Type::Object(types), Json::Object(attributes)) => {
            let object: Result<Object, _> = types
                .iter()
                .map(|(name, ty)| {
                    let value = attributes.get(name).unwrap_or(&Json::Null);
                    match read(value, ty, depth) {
                        Ok(value) => Ok((name.clone(), value)),
                        Err(error) => Err(error.within(PathStep::Attribute(name.clone()))),
                    }
                })
                .collect();
            Value::Object(object?)
        }
        (Type::Dynamic, Json::Object(pair)) => {
            let ty = pair.get("type").and_then(Type::from_json);
            let (Some(ty), Some(value)) = (ty, pair.get("value")) else {
                return Err(ValueError::new("a value of any type that does not name its type"));
            };
            let value = read(value, &ty, depth)?;
            Value::Dynamic(ty, Box::new(value))
        }
        (ty, _) => return Err(ValueError::new(format!("this is not a value of type {}", ty.to_json()))),
    })
}

fn number_from(text: &str) -> Result<Value, ValueError> {
    Number::parse(text).map(Value::Number).ok_or_else(|| ValueError::new("this is not a number"))
}
