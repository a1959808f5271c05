//! Resources: plain data in, plain data out. No protocol type enters here, and nothing here knows a server.
//!
//! [`node`] is the one type there is, [`plan`] decides what a change amounts to, [`apply`] carries it out in
//! the world, [`find`] looks objects up, [`stored`] reads what an engine had stored, [`private`] is what we
//! give an engine to keep.

pub mod apply;
pub mod find;
pub mod node;
pub mod plan;
pub mod private;
pub mod stored;

use equiform_proto::ledger::{Attributes, Entry};

use crate::diagnostic::Problem;
use crate::schema::Schema;
use crate::value::{Object, Type, Value, json};

/// A type of resource.
pub struct ResourceType {
    /// Its name in programs.
    pub name: &'static str,
    /// Its attributes.
    pub schema: Schema,
    /// The type of its objects.
    pub object_type: Type,
    /// The type of its identity.
    pub identity_type: Type,
}

impl ResourceType {
    /// The object that a committed entry describes.
    pub fn object_of(&self, entry: &Entry) -> Result<Object, Problem> {
        let attributes = entry.after.clone().unwrap_or_default();
        match json::decode(&attributes.into(), &self.object_type) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err(Problem::new(
                "The ledger holds an object of another shape",
                format!(
                    "Entry {} does not describe a {}. It was written by another version of the provider, or by \
                     hand. Begin a new ledger, or use the provider that wrote this one.",
                    entry.seq, self.name
                ),
            )),
        }
    }

    /// The identity of an object: what tells it from all others for as long as it lives. Unknown before it is created.
    pub fn identity_of(&self, object: &Object) -> Object {
        let Type::Object(types) = &self.identity_type else {
            unreachable!("an identity is an object");
        };
        types.keys().map(|name| (name.clone(), object.get(name).cloned().unwrap_or(Value::Null))).collect()
    }
}

/// An object's attributes as the ledger holds them.
pub fn attributes_of(object: &Object) -> Attributes {
    json::encode_object(object)
}

/// The text in an attribute.
pub fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}
