//! Schemas: what attributes an object has and what becomes of it when they change.

use std::collections::BTreeMap;

use crate::value::Type;

/// Who sets an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributeOrigin {
    /// The program must.
    Required,
    /// The program may.
    Optional,
    /// The provider does, once: it keeps its value as long as the object lives.
    Minted,
    /// The provider does, anew with every change of the object.
    Recomputed,
}

impl AttributeOrigin {
    /// Whether the value comes from the provider.
    pub fn is_computed(self) -> bool {
        matches!(self, Self::Minted | Self::Recomputed)
    }
}

/// What a changed attribute means for its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnChange {
    /// The object is updated in place.
    Update,
    /// The object is replaced by a new one.
    Replace,
}

/// An attribute.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Type,
    /// Who sets it.
    pub origin: AttributeOrigin,
    /// What its change means.
    pub on_change: OnChange,
    /// Whether the texts in it are ids of objects that this one depends on.
    pub refers: bool,
    /// For people.
    pub description: &'static str,
}

/// The attributes of a resource, a data source, or the provider itself.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The version of the stored form.
    pub version: i64,
    /// For people.
    pub description: &'static str,
    /// The attributes.
    pub attributes: Vec<Attribute>,
}

impl Schema {
    /// The type of an object with these attributes.
    pub fn object_type(&self) -> Type {
        let types: BTreeMap<_, _> = self
            .attributes
            .iter()
            .map(|attribute| (attribute.name.to_owned(), attribute.ty.clone()))
            .collect();
        Type::Object(types)
    }
}
