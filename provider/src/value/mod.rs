//! Values of the engine's type system, free of any protocol type.
//!
//! [`types`] holds the types, [`msgpack`] and [`json`] read and write values of a known type. Bytes come from another
//! process, so reading never trusts a length, never recurses or takes memory without a bound ([`budget`]),
//! and reports where in the value it failed.

mod budget;
pub mod json;
pub mod msgpack;
pub mod number;
pub mod types;

use std::collections::BTreeMap;

#[cfg(test)]
mod tests;

pub use number::Number;
pub use types::Type;

/// How deep a value may nest. Engines' own limits are lower; hostile bytes must not overflow the stack.
pub const MAX_DEPTH: usize = 64;

/// An object's attributes by name.
pub type Object = BTreeMap<String, Value>;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// Known to be nothing.
    Null,
    /// Not known before apply.
    Unknown,
    /// A truth value.
    Bool(bool),
    /// A number of any size.
    Number(Number),
    /// A text.
    String(String),
    /// A list or tuple, in order.
    List(Vec<Value>),
    /// A set: sorted, and what is wholly known stands in it once.
    Set(Vec<Value>),
    /// A map.
    Map(BTreeMap<String, Value>),
    /// An object.
    Object(Object),
    /// A value whose type is part of it.
    Dynamic(Type, Box<Value>),
}

impl Value {
    /// A set of the given elements. Two that are not known yet may turn out to differ, so both stay.
    pub fn set(mut elements: Vec<Value>) -> Self {
        elements.sort();
        elements.dedup_by(|element, kept| element == kept && kept.is_wholly_known());
        Self::Set(elements)
    }

    /// The text, if this is a known text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this value and all within it is known.
    pub fn is_wholly_known(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => true,
            Self::List(elements) | Self::Set(elements) => elements.iter().all(Self::is_wholly_known),
            Self::Map(elements) | Self::Object(elements) => elements.values().all(Self::is_wholly_known),
            Self::Dynamic(_, value) => value.is_wholly_known(),
        }
    }

    /// Every known text within this value.
    pub fn strings(&self) -> Vec<&str> {
        match self {
            Self::String(text) => vec![text],
            Self::List(elements) | Self::Set(elements) => elements.iter().flat_map(Self::strings).collect(),
            Self::Map(elements) | Self::Object(elements) => {
                elements.values().flat_map(Self::strings).collect()
            }
            Self::Dynamic(_, value) => value.strings(),
            Self::Null | Self::Unknown | Self::Bool(_) | Self::Number(_) => Vec::new(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// An object's attribute.
    Attribute(String),
    /// A map's element.
    Key(String),
    /// A list's element.
    Index(usize),
}

/// Bytes that are not a value of the type they should have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ValueError {
    /// Where in the value, from the outside in.
    pub path: Vec<PathStep>,
    /// What is wrong there.
    pub message: String,
}

impl ValueError {
    /// An error at the place that is being read.
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: Vec::new(), message: message.into() }
    }

    /// The same error, seen from one step further out.
    #[must_use]
    pub fn within(mut self, step: PathStep) -> Self {
        self.path.insert(0, step);
        self
    }
}
