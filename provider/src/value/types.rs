//! Types of the engine's type system, and their JSON form (`"string"`, `["set","string"]`, …).

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::MAX_DEPTH;

/// A type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Type {
    /// A text.
    String,
    /// A number.
    Number,
    /// A truth value.
    Bool,
    /// Any type; the value carries its own.
    Dynamic,
    /// A list of one type.
    List(Box<Type>),
    /// A set of one type.
    Set(Box<Type>),
    /// A map to one type.
    Map(Box<Type>),
    /// A list of fixed length, with a type for each element.
    Tuple(Vec<Type>),
    /// An object with a type for each attribute.
    Object(BTreeMap<String, Type>),
}

impl Type {
    /// A set of this type.
    pub fn set_of(element: Type) -> Self {
        Self::Set(Box::new(element))
    }

    /// The type's JSON form.
    pub fn to_json(&self) -> Json {
        match self {
            Self::String => json!("string"),
            Self::Number => json!("number"),
            Self::Bool => json!("bool"),
            Self::Dynamic => json!("dynamic"),
            Self::List(element) => json!(["list", element.to_json()]),
            Self::Set(element) => json!(["set", element.to_json()]),
            Self::Map(element) => json!(["map", element.to_json()]),
            Self::Tuple(elements) => {
                json!(["tuple", elements.iter().map(Self::to_json).collect::<Vec<_>>()])
            }
            Self::Object(attributes) => {
                let attributes: serde_json::Map<_, _> =
                    attributes.iter().map(|(name, ty)| (name.clone(), ty.to_json())).collect();
                json!(["object", attributes])
            }
        }
    }

    /// Reads a type's JSON form. `None` if it is not one, or nests deeper than [`MAX_DEPTH`].
    pub fn from_json(json: &Json) -> Option<Self> {
        Self::read(json, MAX_DEPTH)
    }

    fn read(json: &Json, depth: usize) -> Option<Self> {
        let depth = depth.checked_sub(1)?;
        match json {
            Json::String(name) => match name.as_str() {
                "string" => Some(Self::String),
                "number" => Some(Self::Number),
                "bool" => Some(Self::Bool),
                "dynamic" => Some(Self::Dynamic),
                _ => None,
            },
            Json::Array(parts) => {
                // An object type may carry a third part, the names of its optional attributes.
                let (kind, argument) = (parts.first()?.as_str()?, parts.get(1)?);
                match (kind, argument) {
                    ("list", element) => Some(Self::List(Box::new(Self::read(element, depth)?))),
                    ("set", element) => Some(Self::Set(Box::new(Self::read(element, depth)?))),
                    ("map", element) => Some(Self::Map(Box::new(Self::read(element, depth)?))),
                    ("tuple", Json::Array(elements)) => {
                        let elements: Option<Vec<_>> =
                            elements.iter().map(|element| Self::read(element, depth)).collect();
                        Some(Self::Tuple(elements?))
                    }
                    ("object", Json::Object(attributes)) => {
                        let attributes: Option<BTreeMap<_, _>> = attributes
                            .iter()
                            .map(|(name, ty)| Some((name.clone(), Self::read(ty, depth)?)))
                            .collect();
                        Some(Self::Object(attributes?))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Any type, dynamic ones included.
    pub(crate) fn any_type() -> impl Strategy<Value = Type> {
        let leaf = prop_oneof![Just(Type::String), Just(Type::Number), Just(Type::Bool), Just(Type::Dynamic)];
        leaf.prop_recursive(4, 16, 4, |inner| {
            prop_oneof![
                inner.clone().prop_map(|ty| Type::List(Box::new(ty))),
                inner.clone().prop_map(Type::set_of),
                inner.clone().prop_map(|ty| Type::Map(Box::new(ty))),
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Type::Tuple),
                proptest::collection::btree_map("[a-z]{1,4}", inner, 0..4).prop_map(Type::Object),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_type_survives_its_json_form(ty in any_type()) {
            prop_assert_eq!(Type::from_json(&ty.to_json()), Some(ty));
        }
    }

    #[test]
    fn a_type_that_nests_without_end_is_refused() {
        let mut json = json!("string");
        for _ in 0..=MAX_DEPTH {
            json = json!(["list", json]);
        }
        assert_eq!(Type::from_json(&json), None);
    }
}
