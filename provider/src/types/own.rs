//! The mock's own types beside its resource: one of each family, small and useful.

use crate::resource::{Identity, IdentityAttribute};
use crate::schema::{Attribute, Block, Origin, Schema, Shape};
use crate::value::Type;

/// An ephemeral resource.
pub const TICKET: &str = "mock_ticket";
/// An action.
pub const TOUCH: &str = "mock_touch";
/// A function.
pub const GRAPH_KEY: &str = "graph_key";
/// A state store.
pub const STORE: &str = "mock_store";

/// The name of a ticket, and of the node to touch.
pub const KEY: &str = "key";
/// After how many milliseconds a ticket is to be renewed.
pub const RENEW_AFTER: &str = "renew_after_ms";
/// The id of a ticket.
pub const ID: &str = "id";
/// The secret of a ticket.
pub const TOKEN: &str = "token";
/// How often a node is to be touched.
pub const TIMES: &str = "times";
/// What the keys of listed nodes begin with.
pub const PREFIX: &str = "key_prefix";
/// The folder of a state store.
pub const PATH: &str = "path";

fn schema(description: &str, attributes: Vec<Attribute>) -> Schema {
    let block = Block { attributes, description: description.to_owned(), ..Block::default() };
    Schema { version: 0, block }
}

fn attribute(name: &str, ty: Type, origin: Origin, description: &str) -> Attribute {
    Attribute { description: description.to_owned(), ..Attribute::new(name, Shape::Plain(ty), origin) }
}

/// `mock_ticket`.
pub fn ticket() -> Schema {
    let token = attribute(TOKEN, Type::String, Origin::Computed, "A secret that is never used twice.");
    schema(
        "A secret that lives as long as a command: opened, renewed and closed in the ledger.",
        vec![
            attribute(KEY, Type::String, Origin::Required, "The ticket's name in the ledger."),
            attribute(
                RENEW_AFTER,
                Type::Number,
                Origin::Optional,
                "The engine must renew the ticket after this many milliseconds. Without it the ticket does not expire.",
            ),
            attribute(ID, Type::String, Origin::Computed, "The ticket's id: minted when it is opened."),
            Attribute { sensitive: true, ..token },
        ],
    )
}

/// `mock_touch`.
pub fn touch() -> Schema {
    schema(
        "Touches a node behind the back of its resource.",
        vec![
            attribute(
                KEY,
                Type::String,
                Origin::Required,
                "The key of the node to touch: its revision rises by one.",
            ),
            attribute(
                TIMES,
                Type::Number,
                Origin::Optional,
                "How often to touch it, at most 1000. Without it, once.",
            ),
        ],
    )
}

/// The list of nodes.
pub fn node_list() -> Schema {
    schema(
        "The nodes that exist.",
        vec![attribute(PREFIX, Type::String, Origin::Optional, "Only nodes whose keys begin with this.")],
    )
}

/// The list of a type of the user's own.
pub fn list() -> Schema {
    schema("The objects of this type that exist.", Vec::new())
}

/// `mock_store`.
pub fn store() -> Schema {
    schema(
        "States in a folder: each is a file that is complete or absent, with a lock beside it that outlives processes. \
         What is done to them stands in the ledger.",
        vec![attribute(
            PATH,
            Type::String,
            Origin::Required,
            "The folder for the states, made when it is first needed; relative to the working directory.",
        )],
    )
}

/// What tells objects of a type of the user's own apart: their ids.
pub fn identity() -> Identity {
    let id = IdentityAttribute {
        name: ID.to_owned(),
        ty: Type::String,
        required_for_import: true,
        description: "The object's id.".to_owned(),
    };
    Identity { version: 0, attributes: vec![id] }
}
