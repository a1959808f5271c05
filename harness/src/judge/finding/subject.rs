//! What a finding is about.

use equiform_proto::ledger::Object;
use serde::{Deserialize, Serialize};

use crate::evidence::ObservedOperation;
use crate::spec::{ObjectRole, OperationKind, ResourceOperation};

/// Something that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Subject {
    /// A resource, by its key.
    Resource {
        /// The key.
        key: String,
    },
    /// An operation on a resource, as the ledger or the model has it.
    Operation {
        /// The key of the resource.
        key: String,
        /// What is done.
        operation: OperationKind,
        /// To which of its objects, if not to the usual one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<ObjectRole>,
        /// The object, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<String>,
    },
    /// An operation at an address, as the engine has it.
    OperationAt {
        /// The address.
        address: String,
        /// What is done.
        operation: OperationKind,
    },
    /// An instance in the engine's state or graph.
    Address {
        /// The address.
        address: String,
    },
    /// An object.
    Object {
        /// Its id.
        id: String,
    },
    /// An attribute or a setting.
    Attribute {
        /// Its name.
        name: String,
    },
    /// An output of the program.
    Output {
        /// Its name.
        name: String,
    },
    /// An entry of the ledger.
    Entry {
        /// Its sequence number.
        seq: u64,
    },
}

impl Subject {
    /// A resource.
    pub fn resource(key: &str) -> Self {
        Self::Resource { key: key.to_owned() }
    }

    /// An operation.
    pub fn operation(operation: &ResourceOperation) -> Self {
        let usual = ResourceOperation::new(&operation.key, operation.kind);
        Self::Operation {
            key: operation.key.to_string(),
            operation: operation.kind,
            role: (*operation != usual).then_some(operation.object),
            object: None,
        }
    }

    /// An instance.
    pub fn address(address: &str) -> Self {
        Self::Address { address: address.to_owned() }
    }

    /// An object.
    pub fn object(id: &str) -> Self {
        Self::Object { id: id.to_owned() }
    }

    /// An attribute.
    pub fn attribute(name: &str) -> Self {
        Self::Attribute { name: name.to_owned() }
    }

    /// An output.
    pub fn output(name: &str) -> Self {
        Self::Output { name: name.to_owned() }
    }

    /// Whether it is a resource, or an operation on one.
    pub fn is_a_resource(&self) -> bool {
        matches!(
            self,
            Self::Resource { .. } | Self::Operation { .. } | Self::OperationAt { .. } | Self::Address { .. }
        )
    }

    /// Whether it is this resource, or an operation on it. Names are compared as a whole.
    pub fn is_resource(&self, its_key: &str, its_address: &str) -> bool {
        match self {
            Self::Resource { key } | Self::Operation { key, .. } => key == its_key,
            Self::OperationAt { address, .. } | Self::Address { address } => address == its_address,
            Self::Object { .. } | Self::Attribute { .. } | Self::Output { .. } | Self::Entry { .. } => false,
        }
    }

    /// What is done, if it is an operation.
    pub fn operation_kind(&self) -> Option<OperationKind> {
        match self {
            Self::Operation { operation, .. } | Self::OperationAt { operation, .. } => Some(*operation),
            _ => None,
        }
    }

    /// The operation as the ledger and the model have it, if it is one.
    pub fn resource_operation(&self) -> Option<ResourceOperation> {
        match self {
            Self::Operation { key, operation, role, .. } => {
                let usual = ResourceOperation::new(&key.as_str().into(), *operation);
                Some(ResourceOperation { object: role.unwrap_or(usual.object), ..usual })
            }
            _ => None,
        }
    }
}

impl Subject {
    /// An operation that was observed.
    pub fn of_observed(observed: &ObservedOperation) -> Self {
        match Self::operation(&observed.operation) {
            Self::Operation { key, operation, role, .. } => {
                let object = observed.id.as_deref().map(str::to_owned);
                Self::Operation { key, operation, role, object }
            }
            other => other,
        }
    }

    /// An object, with the resource that it belongs to.
    pub fn of_object(object: &Object) -> Vec<Self> {
        let resource = object.key.as_deref().map(Self::resource);
        resource.into_iter().chain([Self::object(&object.id)]).collect()
    }
}
