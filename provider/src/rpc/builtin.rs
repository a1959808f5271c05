//! The schemas of the mock's own types beside its resources, as messages: they are few, and nothing else needs them.

use equiform_proto::tfplugin6::{Schema, schema};

use super::convert::type_to;
use crate::value::Type;

/// Who sets an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// The program must.
    Required,
    /// The program may.
    Optional,
    /// The provider does.
    Computed,
}

/// An attribute of a block.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) ty: Type,
    pub(super) set: Set,
    pub(super) sensitive: bool,
    pub(super) description: &'static str,
}

/// An attribute that is no secret.
pub(super) fn part(name: &'static str, ty: Type, set: Set, description: &'static str) -> Part {
    Part { name, ty, set, sensitive: false, description }
}

/// A block of attributes.
pub(super) fn block(description: &str, parts: &[Part]) -> Schema {
    let attribute = |part: &Part| schema::Attribute {
        name: part.name.to_owned(),
        r#type: type_to(&part.ty),
        description: part.description.to_owned(),
        required: part.set == Set::Required,
        optional: part.set == Set::Optional,
        computed: part.set == Set::Computed,
        sensitive: part.sensitive,
        ..schema::Attribute::default()
    };
    let block = schema::Block {
        attributes: parts.iter().map(attribute).collect(),
        description: description.to_owned(),
        ..schema::Block::default()
    };
    Schema { version: 0, block: Some(block) }
}

/// The type of such a block.
pub(super) fn type_of(parts: &[Part]) -> Type {
    Type::Object(parts.iter().map(|part| (part.name.to_owned(), part.ty.clone())).collect())
}
