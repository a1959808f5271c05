//! Resources: plain data in, plain data out. No protocol type enters here, and nothing here knows a server.
//!
//! [`node`] is the mock's own type. [`plan`] decides what a change amounts to, [`compute`] and [`plausible`] say what
//! the provider computes, [`apply`] carries a change out in the world, [`references`] finds what an object refers to,
//! [`secrets`] keeps out of the ledger what nobody may see, [`find`] looks objects up, [`stored`] reads what an engine
//! had stored, [`private`] is what we give an engine to keep.

pub mod apply;
pub mod compute;
mod correlate;
pub mod find;
pub mod node;
pub mod plan;
pub mod plausible;
pub mod private;
pub mod references;
pub mod secrets;
pub mod stored;

use std::sync::Arc;

use equiform_proto::ledger::{Attributes, Digest, Entry};

use crate::diagnostic::Problem;
use crate::mint;
use crate::schema::{Rule, Schema};
use crate::value::{Object, Type, Value, json};

use plausible::{Context, Salt};

/// How the objects of a type get their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ids {
    /// At random: never guessable, never used twice.
    Random,
    /// By a seed, from what is planned.
    Seeded {
        /// What ids begin with.
        prefix: String,
        /// The seed.
        seed: Arc<str>,
    },
}

/// An attribute of an identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityAttribute {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether an import has to name it.
    pub required_for_import: bool,
    /// Documentation that engines show to their users.
    pub description: String,
}

/// What tells an object from all others for as long as it lives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// The version of the stored form.
    pub version: i64,
    /// What it consists of.
    pub attributes: Vec<IdentityAttribute>,
}

impl Identity {
    /// The type of an identity.
    pub fn ty(&self) -> Type {
        let types = self.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.ty.clone()));
        Type::Object(types.collect())
    }
}

/// A type of resource.
#[derive(Debug)]
pub struct ResourceType {
    /// Its name in programs.
    pub name: String,
    /// Its attributes and blocks.
    pub schema: Schema,
    /// The type of its objects.
    pub object_type: Type,
    /// What tells its objects apart, where it says so.
    pub identity: Option<Identity>,
    /// How its objects get their ids.
    pub ids: Ids,
    /// The attribute that names an object in the graph, where there is one.
    pub key: Option<&'static str>,
    /// The address of the provider that is stood in for.
    pub provider: Option<Arc<str>>,
    /// Whether it has values that nobody may see.
    pub has_secrets: bool,
}

impl ResourceType {
    /// A type with a schema; its objects have random ids and no identity.
    pub fn new(name: impl Into<String>, schema: Schema) -> Self {
        Self {
            name: name.into(),
            object_type: schema.object_type(),
            identity: None,
            ids: Ids::Random,
            key: None,
            provider: None,
            has_secrets: secrets::any_in(&schema.block),
            schema,
        }
    }

    /// The object that a committed entry describes, without what the ledger does not hold.
    pub fn object_of(&self, entry: &Entry) -> Result<Object, Problem> {
        let attributes = entry.after.clone().unwrap_or_default();
        match json::decode(&attributes.into(), &self.object_type) {
            Ok(Value::Object(object)) => Ok(object),
            _ => Err(Problem::new(
                "The ledger has an object of a different form",
                format!(
                    "Entry {} does not describe a {}. It was written by another version of the provider, or by \
                     hand. Begin a new ledger, or use the provider that wrote this one.",
                    entry.seq, self.name
                ),
            )),
        }
    }

    /// The identity of an object; `None` for a type without.
    pub fn identity_of(&self, object: &Object) -> Option<Object> {
        let identity = self.identity.as_ref()?;
        let value = |attribute: &IdentityAttribute| match object.get(&attribute.name) {
            Some(value) => value.clone(),
            // What is no attribute of the object is the same for all of them: an account, a region.
            None => {
                let context = Context { type_name: &self.name, id: "", salt: Salt::new(&["identity"]) };
                context.value(&attribute.ty, &attribute.name)
            }
        };
        Some(identity.attributes.iter().map(|attribute| (attribute.name.clone(), value(attribute))).collect())
    }

    /// The name of an object in the graph.
    pub fn key_of<'a>(&self, object: &'a Object) -> Option<&'a str> {
        self.key.and_then(|key| text(object, key))
    }

    /// An object's attributes as the ledger holds them.
    pub fn attributes_of(&self, object: &Object) -> Attributes {
        match self.has_secrets {
            false => json::encode_object(object),
            true => json::encode_object(&secrets::without(&self.schema.block, object)),
        }
    }

    /// What tells an object from another with other attributes, without what nobody may see.
    pub fn digest(&self, object: &Object) -> Digest {
        match self.has_secrets {
            false => json::digest(object),
            true => json::digest(&secrets::without(&self.schema.block, object)),
        }
    }

    /// The id for a new object, of which `nth` like it were created before.
    pub fn mint(&self, planned: Digest, nth: u64) -> String {
        match &self.ids {
            Ids::Random => mint::random(mint::NODE),
            Ids::Seeded { prefix, seed } => {
                let salt = Salt::new(&[seed, &self.name, &planned.to_string(), &nth.to_string()]);
                mint::seeded(prefix, salt.bytes())
            }
        }
    }

    /// Whether the object's id stands in its attribute `id`.
    pub fn shows_its_id(&self) -> bool {
        self.schema.block.attribute(node::ID).is_some_and(|attribute| attribute.rule == Rule::Id)
    }
}

/// The text in an attribute.
pub fn text<'a>(object: &'a Object, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str)
}
