//! What an engine had stored, of an older version or of another provider.

use equiform_proto::tfplugin6::{
    RawState, move_resource_state, upgrade_resource_identity, upgrade_resource_state,
};

use super::convert::{diagnostics, identity_to, object_to};
use super::identity::identity_of;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::resource::apply::Changed;
use crate::resource::{ResourceType, private, stored};
use crate::value::{Value, json};

impl MockProvider {
    pub(super) fn upgrade_state(
        &self,
        session: &Session,
        request: upgrade_resource_state::Request,
    ) -> upgrade_resource_state::Response {
        let result = self.resource_type(session, &request.type_name).and_then(|resource| {
            let object = stored::upgrade(&resource, request.version, &raw_json(request.raw_state.as_ref())?)?;
            Ok(object_to(Some(object), &resource.object_type))
        });
        match result {
            Ok(upgraded_state) => {
                upgrade_resource_state::Response { upgraded_state, diagnostics: Vec::new() }
            }
            Err(problem) => {
                upgrade_resource_state::Response { upgraded_state: None, diagnostics: diagnostics([problem]) }
            }
        }
    }

    pub(super) fn upgrade_identity(
        &self,
        session: &Session,
        request: upgrade_resource_identity::Request,
    ) -> upgrade_resource_identity::Response {
        let result = self.resource_type(session, &request.type_name).and_then(|resource| {
            let Some(identity) = &resource.identity else {
                return Err(Problem::engine(format!("A {} has no identity.", resource.name)));
            };
            let raw = raw_json(request.raw_identity.as_ref())?;
            let raw = json::parse(&raw).map_err(|error| {
                Problem::engine(format!("It sent an identity that cannot be read: {error}."))
            })?;
            match json::decode(&raw, &identity.ty())? {
                Value::Object(read) => Ok(identity_to(read, &identity.ty())),
                _ => Err(Problem::engine("It sent an identity that is no object.")),
            }
        });
        match result {
            Ok(upgraded_identity) => {
                upgrade_resource_identity::Response { upgraded_identity, diagnostics: Vec::new() }
            }
            Err(problem) => upgrade_resource_identity::Response {
                upgraded_identity: None,
                diagnostics: diagnostics([problem]),
            },
        }
    }

    pub(super) fn move_state(
        &self,
        session: &Session,
        request: move_resource_state::Request,
    ) -> move_resource_state::Response {
        let resource = self.resource_type(session, &request.target_type_name);
        let moved = resource.and_then(|resource| {
            let Changed { id, object } = moved_object(&resource, &request)?;
            Ok(move_resource_state::Response {
                target_private: private::of(&id, self.keeps_identity(session, &resource)),
                target_identity: identity_of(&resource, &object),
                target_state: object_to(Some(object), &resource.object_type),
                diagnostics: Vec::new(),
            })
        });
        moved.unwrap_or_else(|problem| move_resource_state::Response {
            diagnostics: diagnostics([problem]),
            ..move_resource_state::Response::default()
        })
    }
}

/// An object may come from a provider with another address: that is how one changes the address.
fn moved_object(resource: &ResourceType, request: &move_resource_state::Request) -> Result<Changed, Problem> {
    if request.source_type_name != resource.name {
        return Err(Problem::new(
            format!("A {} cannot become a {}", request.source_type_name, resource.name),
            format!(
                "Only a {0} can be moved to a {0}, also from a provider with another address. Remove the \
                 `moved` block, or use a `removed` block and create the object anew.",
                resource.name
            ),
        ));
    }
    let raw = raw_json(request.source_state.as_ref())?;
    let object = stored::upgrade(resource, request.source_schema_version, &raw)?;
    let id = private::check(resource, &request.source_private, &object)?;
    Ok(Changed { id, object })
}

/// The JSON of stored state. The other form, from engines before 0.12, is older than this provider.
fn raw_json(raw: Option<&RawState>) -> Result<Vec<u8>, Problem> {
    match raw {
        Some(raw) if !raw.json.is_empty() => Ok(raw.json.clone()),
        _ => Err(Problem::engine("It sent stored state that is not in the JSON form.")),
    }
}
