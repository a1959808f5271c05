//! Lists: the objects of a type that are in the world.

use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{list_resource, validate_list_resource_config};
use tonic::Status;

use super::convert::{diagnostics, object_from, object_to};
use super::identity::identity_of;
use super::note::noted;
use super::state_stores::Events;
use super::validation::checked;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::Body;
use crate::resource::apply::Changed;
use crate::resource::{ResourceType, find, text};
use crate::types::own;
use crate::types::schema_json::Family;

impl MockProvider {
    pub(super) fn validate_list(
        &self,
        session: &Session,
        request: &validate_list_resource_config::Request,
    ) -> validate_list_resource_config::Response {
        let problems = self.types(session).and_then(|types| {
            let list = types.other(Family::List, &request.type_name)?;
            let config = object_from(request.config.as_ref(), &list.object_type)?;
            Ok(checked(&list.schema.block, &config))
        });
        let problems = problems.unwrap_or_else(|problem| vec![problem]);
        validate_list_resource_config::Response { diagnostics: diagnostics(problems) }
    }

    pub(super) async fn list(
        &self,
        session: &Session,
        request: list_resource::Request,
    ) -> Events<list_resource::Event> {
        let events = match self.listed(session, &request).await {
            Ok(events) => events,
            Err(problem) => {
                let diagnostic = diagnostics([problem]);
                vec![list_resource::Event { diagnostic, ..list_resource::Event::default() }]
            }
        };
        Box::pin(tokio_stream::iter(events.into_iter().map(Ok::<_, Status>)))
    }

    async fn listed(
        &self,
        session: &Session,
        request: &list_resource::Request,
    ) -> Result<Vec<list_resource::Event>, Problem> {
        let types = self.types(session)?;
        let list = types.other(Family::List, &request.type_name)?;
        let resource = types.resource(&request.type_name)?;
        let config = object_from(request.config.as_ref(), &list.object_type)?;
        // A stand-in cannot know what another provider's settings would leave out.
        let prefix = text(&config, own::PREFIX).filter(|_| types.standin().is_none()).unwrap_or_default();
        let (ledger, caller) = self.configured(session)?;
        let limit = usize::try_from(request.limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let mut there = ledger.all_of(&request.type_name).await?;
        there.retain(|entry| entry.key.as_deref().unwrap_or_default().starts_with(prefix));
        there.sort_by(|one, other| (&one.key, &one.id).cmp(&(&other.key, &other.id)));
        let found: Result<Vec<_>, _> =
            there.iter().take(limit).map(|entry| find::found(&resource, entry)).collect();
        let body = Body {
            type_name: Some(request.type_name.clone()),
            mode: Some("list".to_owned()),
            note: found.as_ref().ok().map(|found| format!("{} found", found.len())),
            provider: resource.provider.as_deref().map(str::to_owned),
            ..caller.signature()
        };
        let found = noted(&ledger, &caller, Operation::List, body, found, |_| None).await?;
        Ok(found.into_iter().map(|found| event(&resource, found, request)).collect())
    }
}

fn event(resource: &ResourceType, found: Changed, request: &list_resource::Request) -> list_resource::Event {
    let Changed { id, object } = found;
    let name = resource.key_of(&object).or_else(|| text(&object, "name"));
    list_resource::Event {
        identity: identity_of(resource, &object),
        display_name: name.map_or(id, str::to_owned),
        resource_object: match request.include_resource_object {
            true => object_to(Some(object), &resource.object_type),
            false => None,
        },
        diagnostic: Vec::new(),
    }
}
