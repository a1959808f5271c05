//! Managed resources, from planning to destruction.

use std::sync::Arc;

use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{
    RawState, ResourceIdentityData, apply_resource_change, import_resource_state, move_resource_state,
    plan_resource_change, read_resource, upgrade_resource_identity, upgrade_resource_state,
};

use super::convert::{diagnostics, identity_to, object_from, object_to, optional_object_from, path_to};
use super::note::noted;
use super::{Host, MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger, Sent};
use crate::plugin::{Level, log};
use crate::resource::apply::{Caller, Failed};
use crate::resource::plan::{Plan, plan};
use crate::resource::{apply, find, node, private, stored, text};
use crate::value::{Object, PathStep, Value, json};

impl MockProvider {
    /// Refuses a type that the provider does not have.
    pub(super) fn known_type(&self, type_name: &str) -> Result<(), Problem> {
        if type_name == self.resource.name {
            return Ok(());
        }
        Err(Problem::engine(format!("It asked for {type_name:?}, which is not in the provider's schema.")))
    }

    pub(super) fn upgrade_state(
        &self,
        request: upgrade_resource_state::Request,
    ) -> upgrade_resource_state::Response {
        let result = self.known_type(&request.type_name).and_then(|()| {
            stored::upgrade(&self.resource, request.version, &raw_json(request.raw_state.as_ref())?)
        });
        match result {
            Ok(object) => upgrade_resource_state::Response {
                upgraded_state: object_to(Some(object), &self.resource.object_type),
                diagnostics: Vec::new(),
            },
            Err(problem) => {
                upgrade_resource_state::Response { upgraded_state: None, diagnostics: diagnostics([problem]) }
            }
        }
    }

    pub(super) fn upgrade_identity(
        &self,
        request: upgrade_resource_identity::Request,
    ) -> upgrade_resource_identity::Response {
        let result = self.known_type(&request.type_name).and_then(|()| {
            let raw = raw_json(request.raw_identity.as_ref())?;
            let raw = json::parse(&raw).map_err(|error| {
                Problem::engine(format!("It sent an identity that cannot be read: {error}."))
            })?;
            match json::decode(&raw, &self.resource.identity_type)? {
                Value::Object(identity) => Ok(identity),
                _ => Err(Problem::engine("It sent an identity that is no object.")),
            }
        });
        match result {
            Ok(identity) => upgrade_resource_identity::Response {
                upgraded_identity: identity_to(identity, &self.resource.identity_type),
                diagnostics: Vec::new(),
            },
            Err(problem) => upgrade_resource_identity::Response {
                upgraded_identity: None,
                diagnostics: diagnostics([problem]),
            },
        }
    }

    pub(super) async fn read(
        &self,
        session: &Session,
        request: read_resource::Request,
    ) -> read_resource::Response {
        match self.read_object(session, &request).await {
            Ok(Some(object)) => read_resource::Response {
                private: private::of(&object),
                new_identity: identity_to(self.resource.identity_of(&object), &self.resource.identity_type),
                new_state: object_to(Some(object), &self.resource.object_type),
                ..read_resource::Response::default()
            },
            Ok(None) => read_resource::Response {
                new_state: object_to(None, &self.resource.object_type),
                ..read_resource::Response::default()
            },
            Err(problem) => read_resource::Response {
                new_state: request.current_state,
                private: request.private,
                new_identity: request.current_identity,
                diagnostics: diagnostics([problem]),
                ..read_resource::Response::default()
            },
        }
    }

    async fn read_object(
        &self,
        session: &Session,
        request: &read_resource::Request,
    ) -> Result<Option<Object>, Problem> {
        self.known_type(&request.type_name)?;
        let stored = object_from(request.current_state.as_ref(), &self.resource.object_type)?;
        let (ledger, caller) = self.configured(session)?;
        let found = match private::check(&request.private, &stored) {
            Ok(()) => find::current(&ledger, &self.resource, &stored).await,
            Err(problem) => Err(problem),
        };
        let mut body = caller.body(&self.resource, &stored);
        body.sent.prior = Some(json::digest(&stored));
        noted(&ledger, &caller, Operation::Read, body, found, |found| found.as_ref().map(json::digest)).await
    }

    pub(super) async fn plan(
        &self,
        session: &Session,
        request: plan_resource_change::Request,
    ) -> plan_resource_change::Response {
        match self.plan_object(session, &request).await {
            Ok(None) => plan_resource_change::Response {
                planned_state: object_to(None, &self.resource.object_type),
                planned_private: request.prior_private,
                planned_identity: request.prior_identity,
                ..plan_resource_change::Response::default()
            },
            Ok(Some(Plan { planned, replaced_by })) => {
                let path = |name: &str| path_to(vec![PathStep::Attribute(name.to_owned())]);
                plan_resource_change::Response {
                    requires_replace: replaced_by.into_iter().map(path).collect(),
                    planned_private: private::of_plan(&self.resource, &planned, &request.prior_private),
                    planned_identity: self.planned_identity(&planned),
                    planned_state: object_to(Some(planned), &self.resource.object_type),
                    ..plan_resource_change::Response::default()
                }
            }
            Err(problem) => plan_resource_change::Response {
                diagnostics: diagnostics([problem]),
                ..plan_resource_change::Response::default()
            },
        }
    }

    /// The identity of a planned object; none before it is created. The protocol would allow one with unknown
    /// parts, but Terraform fails to show such a plan (fixtures/findings/unknown-planned-identity).
    fn planned_identity(&self, planned: &Object) -> Option<ResourceIdentityData> {
        let identity = self.resource.identity_of(planned);
        let known = identity.values().all(Value::is_wholly_known);
        known.then(|| identity_to(identity, &self.resource.identity_type)).flatten()
    }

    /// The plan; `None` for a destruction.
    async fn plan_object(
        &self,
        session: &Session,
        request: &plan_resource_change::Request,
    ) -> Result<Option<Plan>, Problem> {
        self.known_type(&request.type_name)?;
        let ty = &self.resource.object_type;
        let prior = optional_object_from(request.prior_state.as_ref(), ty)?;
        let proposed = optional_object_from(request.proposed_new_state.as_ref(), ty)?;
        let config = optional_object_from(request.config.as_ref(), ty)?;
        let checked = prior.as_ref().map_or(Ok(()), |prior| private::check(&request.prior_private, prior));
        let planned = checked.map(|()| {
            proposed.as_ref().map(|proposed| plan(&self.resource.schema, prior.as_ref(), proposed))
        });
        // A plan is possible before the ledger's name is known; there is nothing to write it into then.
        let Ok((ledger, caller)) = self.configured(session) else { return planned };
        let object = prior.as_ref().or(proposed.as_ref());
        let mut body =
            object.map_or_else(|| caller.signature(), |object| caller.body(&self.resource, object));
        body.sent.prior = prior.as_ref().map(json::digest);
        body.sent.config = config.as_ref().map(json::digest);
        if let Ok(Some(plan)) = &planned {
            body.sent.planned = Some(json::digest(&plan.planned));
        }
        noted(&ledger, &caller, Operation::Plan, body, planned, |_| None).await
    }

    pub(super) async fn apply(
        &self,
        session: &Session,
        request: apply_resource_change::Request,
    ) -> apply_resource_change::Response {
        // Whoever reads the engine's log sees from here on that a stop reaches the operation. A server that engines
        // attach to has a person at its stderr instead.
        if matches!(session.host, Host::Parent { .. }) {
            log(Level::Debug, "a change has arrived");
        }
        let changed = |object: Object, problem: Option<Problem>| apply_resource_change::Response {
            private: private::of(&object),
            new_identity: identity_to(self.resource.identity_of(&object), &self.resource.identity_type),
            new_state: object_to(Some(object), &self.resource.object_type),
            diagnostics: diagnostics(problem),
            ..apply_resource_change::Response::default()
        };
        match self.apply_change(session, &request).await {
            Ok(Some(object)) => changed(object, None),
            Err(Failed { problem, partial: Some(object) }) => changed(object, Some(problem)),
            Ok(None) => apply_resource_change::Response {
                new_state: object_to(None, &self.resource.object_type),
                ..apply_resource_change::Response::default()
            },
            // The object is as it was before, and so is what the engine keeps beside it: what was planned for an object
            // that takes its place is not its own.
            Err(Failed { problem, partial: None }) => {
                let prior = optional_object_from(request.prior_state.as_ref(), &self.resource.object_type);
                let prior = prior.ok().flatten();
                apply_resource_change::Response {
                    private: prior.as_ref().map(private::of).unwrap_or_default(),
                    new_identity: prior.and_then(|prior| self.planned_identity(&prior)),
                    new_state: request.prior_state,
                    diagnostics: diagnostics([problem]),
                    ..apply_resource_change::Response::default()
                }
            }
        }
    }

    async fn apply_change(
        &self,
        session: &Session,
        request: &apply_resource_change::Request,
    ) -> Result<Option<Object>, Failed> {
        self.known_type(&request.type_name)?;
        let (resource, ty) = (Arc::clone(&self.resource), &self.resource.object_type);
        let prior = optional_object_from(request.prior_state.as_ref(), ty)?;
        let planned = optional_object_from(request.planned_state.as_ref(), ty)?;
        let config = optional_object_from(request.config.as_ref(), ty)?;
        let (ledger, caller) = self.configured(session)?;
        let digest = |object: &Option<Object>| object.as_ref().map(json::digest);
        let sent = Sent { prior: digest(&prior), config: digest(&config), planned: digest(&planned) };
        let caller = Caller { sent, ..caller };
        let private = &request.planned_private;
        match (&prior, &planned) {
            (None, Some(planned)) => private::check_on_create(&resource, private, planned)?,
            (Some(prior), Some(planned)) => private::check_on_update(&resource, private, prior, planned)?,
            (Some(prior), None) => private::check_on_delete(private, prior)?,
            (None, None) => return Err(Problem::engine("It asked to turn nothing into nothing.").into()),
        }
        // A task of its own: an operation that has begun goes on to its end, also if the engine hangs up meanwhile.
        let change = tokio::spawn(async move {
            match (prior, planned) {
                (None, Some(planned)) => apply::create(&ledger, &resource, &caller, &planned).await.map(Some),
                (Some(prior), Some(planned)) => {
                    apply::update(&ledger, &resource, &caller, &prior, &planned).await.map(Some)
                }
                (Some(prior), None) => {
                    apply::delete(&ledger, &resource, &caller, &prior).await.map(|()| None)
                }
                (None, None) => Ok(None),
            }
        });
        change.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    pub(super) async fn import(
        &self,
        session: &Session,
        request: import_resource_state::Request,
    ) -> import_resource_state::Response {
        match self.import_object(session, &request).await {
            Ok(object) => import_resource_state::Response {
                imported_resources: vec![import_resource_state::ImportedResource {
                    type_name: self.resource.name.to_owned(),
                    private: private::of(&object),
                    identity: identity_to(self.resource.identity_of(&object), &self.resource.identity_type),
                    state: object_to(Some(object), &self.resource.object_type),
                }],
                ..import_resource_state::Response::default()
            },
            Err(problem) => import_resource_state::Response {
                diagnostics: diagnostics([problem]),
                ..import_resource_state::Response::default()
            },
        }
    }

    async fn import_object(
        &self,
        session: &Session,
        request: &import_resource_state::Request,
    ) -> Result<Object, Problem> {
        self.known_type(&request.type_name)?;
        let (ledger, caller) = self.configured(session)?;
        let found = self.object_to_import(&ledger, request).await;
        let body = match &found {
            Ok(object) => caller.body(&self.resource, object),
            Err(_) => Body { type_name: Some(self.resource.name.to_owned()), ..caller.signature() },
        };
        noted(&ledger, &caller, Operation::Import, body, found, |object| Some(json::digest(object))).await
    }

    async fn object_to_import(
        &self,
        ledger: &Ledger,
        request: &import_resource_state::Request,
    ) -> Result<Object, Problem> {
        let identity = request.identity.as_ref().and_then(|identity| identity.identity_data.as_ref());
        let Some(identity) = optional_object_from(identity, &self.resource.identity_type)? else {
            return find::by_id_or_key(ledger, &self.resource, &request.id).await;
        };
        let (id, key) = (text(&identity, node::ID), text(&identity, node::KEY));
        let Some(name) = id.or(key) else {
            return Err(Problem::new(
                "The identity names no node",
                "Give the identity's `id`, or its `key`, or both.",
            ));
        };
        let object = find::by_id_or_key(ledger, &self.resource, name).await?;
        if key.is_some_and(|key| text(&object, node::KEY) != Some(key)) {
            return Err(Problem::new(
                "The identity's id and key belong to different nodes",
                format!("The node {name} has the key {:?}.", text(&object, node::KEY).unwrap_or_default()),
            ));
        }
        Ok(object)
    }

    pub(super) fn move_state(&self, request: move_resource_state::Request) -> move_resource_state::Response {
        match self.moved_object(&request) {
            Ok(object) => move_resource_state::Response {
                target_private: private::of(&object),
                target_identity: identity_to(
                    self.resource.identity_of(&object),
                    &self.resource.identity_type,
                ),
                target_state: object_to(Some(object), &self.resource.object_type),
                diagnostics: Vec::new(),
            },
            Err(problem) => move_resource_state::Response {
                diagnostics: diagnostics([problem]),
                ..move_resource_state::Response::default()
            },
        }
    }

    /// A node may come from a provider with another address: that is how one changes the address.
    fn moved_object(&self, request: &move_resource_state::Request) -> Result<Object, Problem> {
        self.known_type(&request.target_type_name)?;
        if request.source_type_name != self.resource.name {
            return Err(Problem::new(
                format!("A {} cannot become a {}", request.source_type_name, self.resource.name),
                format!(
                    "Only a {0} can be moved to a {0}, also from a provider with another address. Remove the \
                     `moved` block, or use a `removed` block and create the node anew.",
                    self.resource.name
                ),
            ));
        }
        let raw = raw_json(request.source_state.as_ref())?;
        let object = stored::upgrade(&self.resource, request.source_schema_version, &raw)?;
        private::check(&request.source_private, &object)?;
        Ok(object)
    }
}

/// The JSON of stored state. The other form, from engines before 0.12, is older than this provider.
fn raw_json(raw: Option<&RawState>) -> Result<Vec<u8>, Problem> {
    match raw {
        Some(raw) if !raw.json.is_empty() => Ok(raw.json.clone()),
        _ => Err(Problem::engine("It sent stored state that is not in the JSON form.")),
    }
}
