//! Lists: the objects of a type that are in the world.

use std::collections::HashMap;
use std::sync::LazyLock;

use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{Schema, list_resource, validate_list_resource_config};
use tonic::Status;

use super::builtin::{Part, Set, block, part, type_of};
use super::convert::{diagnostics, identity_to, object_from, object_to};
use super::note::noted;
use super::state_stores::Events;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::Body;
use crate::resource::node;
use crate::value::{Object, Type, Value};

const PREFIX: &str = "key_prefix";

static PARTS: LazyLock<[Part; 1]> =
    LazyLock::new(|| [part(PREFIX, Type::String, Set::Optional, "Only nodes whose keys begin with this.")]);

impl MockProvider {
    pub(super) fn list_schemas(&self) -> HashMap<String, Schema> {
        HashMap::from([(node::NAME.to_owned(), block("The nodes that are in the world.", &*PARTS))])
    }

    pub(super) fn validate_list(
        &self,
        request: &validate_list_resource_config::Request,
    ) -> validate_list_resource_config::Response {
        let result = self
            .known_type(&request.type_name)
            .and_then(|()| object_from(request.config.as_ref(), &type_of(&*PARTS)));
        validate_list_resource_config::Response { diagnostics: diagnostics(result.err()) }
    }

    pub(super) async fn list(
        &self,
        session: &Session,
        request: list_resource::Request,
    ) -> Events<list_resource::Event> {
        let events = match self.listed(session, &request).await {
            Ok(objects) => objects.into_iter().map(|object| self.event(object, &request)).collect(),
            Err(problem) => {
                let diagnostic = diagnostics([problem]);
                vec![list_resource::Event { diagnostic, ..list_resource::Event::default() }]
            }
        };
        Box::pin(tokio_stream::iter(events.into_iter().map(Ok::<_, Status>)))
    }

    fn event(&self, object: Object, request: &list_resource::Request) -> list_resource::Event {
        let resource = &self.resource;
        list_resource::Event {
            identity: identity_to(resource.identity_of(&object), &resource.identity_type),
            display_name: object.get(node::KEY).and_then(Value::as_str).unwrap_or_default().to_owned(),
            resource_object: request
                .include_resource_object
                .then(|| object_to(Some(object), &resource.object_type))
                .flatten(),
            diagnostic: Vec::new(),
        }
    }

    async fn listed(
        &self,
        session: &Session,
        request: &list_resource::Request,
    ) -> Result<Vec<Object>, Problem> {
        self.known_type(&request.type_name)?;
        let config = object_from(request.config.as_ref(), &type_of(&*PARTS))?;
        let prefix = config.get(PREFIX).and_then(Value::as_str).unwrap_or_default();
        let (ledger, caller) = self.configured(session)?;
        let limit = usize::try_from(request.limit).ok().filter(|limit| *limit > 0).unwrap_or(usize::MAX);
        let there = ledger.objects(&request.type_name).await?;
        let named = there.iter().filter(|entry| entry.key.as_deref().unwrap_or_default().starts_with(prefix));
        let found: Result<Vec<_>, _> =
            named.take(limit).map(|entry| self.resource.object_of(entry)).collect();
        let body = Body {
            type_name: Some(request.type_name.clone()),
            mode: Some("list".to_owned()),
            note: found.as_ref().ok().map(|found| format!("{} found", found.len())),
            ..caller.signature()
        };
        noted(&ledger, &caller, Operation::List, body, found, |_| None).await
    }
}
