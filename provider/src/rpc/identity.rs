//! Identities, which an engine has to keep beside an object and to return unchanged, as it does with private data.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use equiform_proto::tfplugin6::ResourceIdentityData;

use super::convert::{identity_to, optional_object_from};
use super::host::is_running;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::resource::ResourceType;
use crate::value::{Object, Value};

/// The processes of engines that know identities: they have asked for their schemas. One of a version that does not
/// returns none, by right.
#[derive(Default)]
pub struct IdentityHosts(Mutex<HashSet<u32>>);

impl MockProvider {
    /// An engine has asked for the schemas of identities.
    pub(super) fn note_identities(&self, session: &Session) {
        if let Some(run) = session.host.run() {
            if let Some(endpoint) = run.endpoint.upgrade() {
                endpoint.knows_identities.store(true, Ordering::Relaxed);
            }
            return;
        }
        let Some(pid) = session.host.pid() else { return };
        let mut hosts = self.identity_hosts.0.lock().expect("no holder panics");
        hosts.retain(|pid| is_running(*pid));
        hosts.insert(pid);
    }

    /// Whether the engine is known to keep identities of objects of this type.
    pub(super) fn keeps_identity(&self, session: &Session, resource: &ResourceType) -> bool {
        let known = |pid| self.identity_hosts.0.lock().expect("no holder panics").contains(&pid);
        let keeps = match session.host.run() {
            Some(run) => run.endpoint.upgrade().is_some_and(|it| it.knows_identities.load(Ordering::Relaxed)),
            None => session.host.pid().is_some_and(known),
        };
        resource.identity.is_some() && keeps
    }
}

/// Checks the identity that came with an object that was stored, if one came: Terraform 1.12 loses that of an old
/// object whose deletion failed.
pub(super) fn check_if_there(
    resource: &ResourceType,
    given: Option<&ResourceIdentityData>,
    object: &Object,
) -> Result<(), Problem> {
    if given.is_some_and(|given| given.identity_data.is_some()) {
        check(resource, given, object)
    } else {
        Ok(())
    }
}

/// Checks the identity that came with an object, where the engine was given one to keep.
pub(super) fn check(
    resource: &ResourceType,
    given: Option<&ResourceIdentityData>,
    object: &Object,
) -> Result<(), Problem> {
    let Some(identity) = &resource.identity else { return Ok(()) };
    let given = given.and_then(|given| given.identity_data.as_ref());
    let given = optional_object_from(given, &identity.ty())?;
    if given.is_some() && given == resource.identity_of(object) {
        return Ok(());
    }
    let what = if given.is_some() { "another identity than the provider gave it" } else { "no identity" };
    Err(Problem::engine(format!("It sent a {} with {what}.", resource.name)))
}

/// The identity of an object that is there.
pub(super) fn identity_of(resource: &ResourceType, object: &Object) -> Option<ResourceIdentityData> {
    let ty = resource.identity.as_ref()?.ty();
    identity_to(resource.identity_of(object)?, &ty)
}

/// The identity of a planned object; none before it is created. The protocol would allow one with unknown
/// parts, but Terraform fails to show such a plan (fixtures/findings/unknown-planned-identity).
pub(super) fn planned_identity(resource: &ResourceType, planned: &Object) -> Option<ResourceIdentityData> {
    let identity = resource.identity_of(planned)?;
    let known = identity.values().all(Value::is_wholly_known);
    known.then(|| identity_of(resource, planned)).flatten()
}
