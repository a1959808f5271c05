//! `mock_node`, the resource for generated graphs.

use std::collections::BTreeMap;

use super::ResourceType;
use crate::schema::{Attribute, AttributeOrigin, OnChange, Schema};
use crate::value::Type;

/// The type's name, as a resource and as a data source.
pub const NAME: &str = "mock_node";
/// The attribute that names an object in the graph.
pub const KEY: &str = "key";
/// The attribute with the minted id.
pub const ID: &str = "id";
/// The attribute with any text, whose change is an update.
pub const LABEL: &str = "label";
/// The attribute with any text, whose change is a replacement.
pub const PIN: &str = "pin";
/// The attribute that counts an object's changes.
pub const REVISION: &str = "revision";

/// `mock_node` as a resource.
pub fn resource() -> ResourceType {
    let schema = Schema {
        // Version 0 kept `refs` as a list and had no `pinned_refs`.
        version: 1,
        description: "A node of a graph: an object without side effects that depends on others by their ids.",
        attributes: attributes(),
    };
    let object_type = schema.object_type();
    let identity = [(ID.to_owned(), Type::String), (KEY.to_owned(), Type::String)];
    let identity_type = Type::Object(BTreeMap::from(identity));
    ResourceType { name: NAME, schema, object_type, identity_type }
}

/// `mock_node` as a data source: all but the key is read from the world.
pub fn data_source() -> Schema {
    let mut attributes = attributes();
    for attribute in &mut attributes {
        if attribute.name != KEY {
            attribute.origin = AttributeOrigin::Recomputed;
        }
    }
    Schema { version: 0, description: "The node that has this key.", attributes }
}

fn attributes() -> Vec<Attribute> {
    let attribute = |name, ty, origin, on_change, description| Attribute {
        name,
        ty,
        origin,
        on_change,
        refers: false,
        description,
    };
    let refers = |attribute| Attribute { refers: true, ..attribute };
    let (replace, update) = (OnChange::Replace, OnChange::Update);
    vec![
        attribute(
            KEY,
            Type::String,
            AttributeOrigin::Required,
            replace,
            "The node's name in the graph. A change replaces the node.",
        ),
        refers(attribute(
            "refs",
            Type::set_of(Type::String),
            AttributeOrigin::Optional,
            update,
            "Ids of the nodes this one depends on. A change updates the node in place.",
        )),
        refers(attribute(
            "pinned_refs",
            Type::set_of(Type::String),
            AttributeOrigin::Optional,
            replace,
            "Ids of the nodes this one depends on. A change replaces the node.",
        )),
        attribute(
            LABEL,
            Type::String,
            AttributeOrigin::Optional,
            update,
            "Any text. A change updates the node in place.",
        ),
        attribute(
            PIN,
            Type::String,
            AttributeOrigin::Optional,
            replace,
            "Any text. A change replaces the node.",
        ),
        attribute(
            ID,
            Type::String,
            AttributeOrigin::Minted,
            update,
            "The node's id: minted when it is created, never guessable, never used again.",
        ),
        attribute(
            REVISION,
            Type::Number,
            AttributeOrigin::Recomputed,
            update,
            "1 when the node is created, one more with every update.",
        ),
    ]
}
