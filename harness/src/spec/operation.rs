//! Operations on resources.

use std::fmt::{self, Display};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What is done to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OperationKind {
    /// A new object.
    Create,
    /// A change in place.
    Update,
    /// The end of an object.
    Delete,
}

impl OperationKind {
    /// As one character: `+` creates, `~` updates, `-` deletes.
    pub fn sign(self) -> char {
        match self {
            Self::Create => '+',
            Self::Update => '~',
            Self::Delete => '-',
        }
    }
}

impl Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        })
    }
}

/// An operation on a resource, which goes by its key: that is what a ledger knows of it. A replacement is a
/// delete and a create of the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceOperation {
    /// The resource.
    pub key: Arc<str>,
    /// What is done to it.
    pub kind: OperationKind,
}

impl ResourceOperation {
    /// An operation on the resource with a key.
    pub fn new(key: &Arc<str>, kind: OperationKind) -> Self {
        Self { key: key.clone(), kind }
    }

    /// In a short form: `+a` creates, `~a` updates, `-a` deletes.
    pub fn signed(&self) -> String {
        format!("{}{}", self.kind.sign(), self.key)
    }
}

impl Display for ResourceOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key)
    }
}

/// What an operation did to a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// The resource.
    pub key: Arc<str>,
    /// What was done to it.
    pub kind: OperationKind,
    /// Whether only a part of it was done, and the engine told so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
}

impl Effect {
    /// Of an operation that was done as a whole.
    pub fn whole(operation: &ResourceOperation) -> Self {
        Self { key: operation.key.clone(), kind: operation.kind, partial: false }
    }
}
