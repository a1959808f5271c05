//! `mock_node`, the resource for generated graphs.

use super::{Identity, IdentityAttribute, ResourceType};
use crate::schema::{Attribute, Block, OnChange, Origin, Rule, Schema, Shape};
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
    let description =
        "A node of a graph: an object without side effects that depends on others by their ids.";
    let block = Block { attributes: attributes(), description: description.to_owned(), ..Block::default() };
    let identity_attribute = |name: &str, description: &str| IdentityAttribute {
        name: name.to_owned(),
        ty: Type::String,
        required_for_import: false,
        description: description.to_owned(),
    };
    let identity = Identity {
        version: 0,
        attributes: vec![
            identity_attribute(ID, "The node's id. To import, give this or the key."),
            identity_attribute(KEY, "The node's name in the graph. To import, give this or the id."),
        ],
    };
    // Version 0 kept `refs` as a list and had no `pinned_refs`.
    let schema = Schema { version: 1, block };
    ResourceType { identity: Some(identity), key: Some(KEY), ..ResourceType::new(NAME, schema) }
}

/// `mock_node` as a data source: all but the key is read from the world.
pub fn data_source() -> Schema {
    let mut attributes = attributes();
    for attribute in &mut attributes {
        if attribute.name != KEY {
            attribute.origin = Origin::Computed;
        }
    }
    let description = "The node that has this key.".to_owned();
    Schema { version: 0, block: Block { attributes, description, ..Block::default() } }
}

fn attributes() -> Vec<Attribute> {
    let attribute = |name: &str, ty, origin, on_change, description: &str| Attribute {
        on_change,
        description: description.to_owned(),
        ..Attribute::new(name, Shape::Plain(ty), origin)
    };
    let by = |rule, attribute| Attribute { rule, ..attribute };
    let refers = |attribute| Attribute { refers: true, ..attribute };
    let (replace, update) = (OnChange::Replace, OnChange::Update);
    vec![
        attribute(
            KEY,
            Type::String,
            Origin::Required,
            replace,
            "The node's name in the graph. A change replaces the node.",
        ),
        refers(attribute(
            "refs",
            Type::set_of(Type::String),
            Origin::Optional,
            update,
            "Ids of the nodes this one depends on. A change updates the node in place.",
        )),
        refers(attribute(
            "pinned_refs",
            Type::set_of(Type::String),
            Origin::Optional,
            replace,
            "Ids of the nodes this one depends on. A change replaces the node.",
        )),
        attribute(
            LABEL,
            Type::String,
            Origin::Optional,
            update,
            "Any text. A change updates the node in place.",
        ),
        attribute(PIN, Type::String, Origin::Optional, replace, "Any text. A change replaces the node."),
        by(
            Rule::Id,
            attribute(
                ID,
                Type::String,
                Origin::Computed,
                update,
                "The node's id: minted when it is created, never guessable, never reused.",
            ),
        ),
        by(
            Rule::Revision,
            attribute(
                REVISION,
                Type::Number,
                Origin::Computed,
                update,
                "1 when the node is created, one more with every update.",
            ),
        ),
    ]
}
