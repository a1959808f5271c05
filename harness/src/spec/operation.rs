//! Operations on objects.

use std::fmt::{self, Display};

use equiform_proto::faults::{Breach, Faults};
use serde::{Deserialize, Serialize};

use super::meaning::NodeKey;

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

/// Which object of a node an operation is about, seen from the beginning of the step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObjectRole {
    /// One that the step itself creates.
    New,
    /// The newest one that was there when the step began.
    Current,
    /// An older one that an earlier step left behind, counted from 0, the oldest first.
    Old(u32),
}

/// An operation on an object. A replacement is a delete of the current object and a create of a new one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResourceOperation {
    /// The node.
    pub key: NodeKey,
    /// What is done to it.
    pub kind: OperationKind,
    /// To which of its objects.
    pub object: ObjectRole,
}

impl ResourceOperation {
    /// An operation on the usual object: a create makes a new one, all others concern the current one.
    pub fn new(key: &NodeKey, kind: OperationKind) -> Self {
        let object = match kind {
            OperationKind::Create => ObjectRole::New,
            OperationKind::Update | OperationKind::Delete => ObjectRole::Current,
        };
        Self { key: key.clone(), kind, object }
    }

    /// The delete of an object that an earlier step left behind.
    pub fn delete_old(key: &NodeKey, number: u32) -> Self {
        Self { key: key.clone(), kind: OperationKind::Delete, object: ObjectRole::Old(number) }
    }

    /// In a short form: `+a` creates, `~a` updates, `-a` deletes, `-a'0` deletes an old object.
    pub fn signed(&self) -> String {
        match self.object {
            ObjectRole::Old(number) => format!("{}{}'{number}", self.kind.sign(), self.key),
            ObjectRole::New | ObjectRole::Current => format!("{}{}", self.kind.sign(), self.key),
        }
    }
}

impl Display for ResourceOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.object {
            ObjectRole::Old(_) => write!(f, "{} the old object of {}", self.kind, self.key),
            ObjectRole::New | ObjectRole::Current => write!(f, "{} {}", self.kind, self.key),
        }
    }
}

/// What an operation did.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// The operation.
    pub operation: ResourceOperation,
    /// Whether only a part of it was done, and the provider reported that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// How the provider broke its contract in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breach: Option<Breach>,
}

impl Effect {
    /// Of an operation that was done as a whole.
    pub fn whole(operation: &ResourceOperation) -> Self {
        Self { operation: operation.clone(), partial: false, breach: None }
    }

    /// Of an operation that took effect although the provider was to do something wrong in it, by the faults of its
    /// stage: it was done in part, or not as planned.
    pub fn faulty(operation: &ResourceOperation, faults: &Faults) -> Self {
        let is_it = |key: Option<&str>, kind| key == Some(&*operation.key) && kind == Some(operation.kind);
        let fault =
            faults.iter().find(|fault| is_it(fault.call.key.as_deref(), OperationKind::met_by(fault)));
        let breach = fault.and_then(|fault| fault.action.breach());
        Self { operation: operation.clone(), partial: breach.is_none(), breach }
    }

    /// Whether it is a whole or partial operation of a kind on a node.
    pub fn is(&self, key: &str, kind: OperationKind) -> bool {
        *self.operation.key == *key && self.operation.kind == kind
    }
}
