//! Deferral: what cannot be planned yet is put off, where the engine says that it may be.

use equiform_proto::tfplugin6::deferred::Reason;
use equiform_proto::tfplugin6::{ClientCapabilities, Deferred, plan_resource_change};

use super::convert::object_from;
use super::{MockProvider, Session};
use crate::resource::ResourceType;
use crate::schema::Block;
use crate::value::{Object, Value};

impl MockProvider {
    /// Whether a request is put off because the provider does not know its own ledger yet.
    pub(super) fn put_off(
        &self,
        session: &Session,
        capabilities: Option<&ClientCapabilities>,
    ) -> Option<Deferred> {
        let waits = is_allowed(capabilities) && self.ledger_is_unknown(session);
        waits.then(|| deferred(Reason::ProviderConfigUnknown))
    }

    /// Whether a plan is put off: for that reason, or because its type waits for an attribute.
    pub(super) fn plan_put_off(
        &self,
        session: &Session,
        resource: &ResourceType,
        request: &plan_resource_change::Request,
    ) -> Option<Deferred> {
        let capabilities = request.client_capabilities.as_ref();
        if !is_allowed(capabilities) {
            return None;
        }
        let types = self.types(session).ok()?;
        let config = object_from(request.config.as_ref(), &resource.object_type).ok()?;
        let value = types.defers_on(&resource.name).and_then(|name| config.get(name));
        let waits = value.is_some_and(|value| !value.is_wholly_known());
        self.put_off(session, capabilities).or(waits.then(|| deferred(Reason::ResourceConfigUnknown)))
    }
}

fn is_allowed(capabilities: Option<&ClientCapabilities>) -> bool {
    capabilities.is_some_and(|capabilities| capabilities.deferral_allowed)
}

fn deferred(reason: Reason) -> Deferred {
    Deferred { reason: reason.into() }
}

/// An object of which only what the program says is known yet.
pub(super) fn open(block: &Block, config: &Object) -> Object {
    let mut object = config.clone();
    for attribute in block.attributes.iter().filter(|attribute| attribute.origin.is_computed()) {
        let value = object.entry(attribute.name.clone()).or_insert(Value::Null);
        if *value == Value::Null {
            *value = Value::Unknown;
        }
    }
    object
}
