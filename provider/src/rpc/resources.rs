//! Managed resources, from planning to destruction.

use std::sync::Arc;

use equiform_proto::faults::Breach;
use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{
    apply_resource_change, import_resource_state, plan_resource_change, read_resource,
};

use super::breach;
use super::convert::{diagnostics, object_from, object_to, optional_object_from, path_to};
use super::identity::{self, identity_of, planned_identity};
use super::note::{noted, noted_with_breach};
use super::{Host, MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger, Sent};
use crate::plugin::{Level, log};
use crate::resource::apply::{Caller, Changed, Failed};
use crate::resource::plan::{Plan, plan};
use crate::resource::{ResourceType, apply, find, node, private, text};
use crate::schema::Check;
use crate::value::Object;

impl MockProvider {
    /// The type of a resource that an engine asks for.
    pub(super) fn resource_type(&self, session: &Session, name: &str) -> Result<Arc<ResourceType>, Problem> {
        self.types(session)?.resource(name)
    }

    pub(super) async fn read(
        &self,
        session: &Session,
        request: read_resource::Request,
    ) -> read_resource::Response {
        if let Some(deferred) = self.put_off(session, request.client_capabilities.as_ref()) {
            return read_resource::Response {
                new_state: request.current_state,
                private: request.private,
                new_identity: request.current_identity,
                deferred: Some(deferred),
                diagnostics: Vec::new(),
            };
        }
        let resource = self.resource_type(session, &request.type_name);
        let found = match &resource {
            Ok(resource) => self.read_object(session, resource, &request).await,
            Err(problem) => Err(problem.clone()),
        };
        match (resource, found) {
            (Ok(resource), Ok((Some(Changed { id, object }), breach))) => {
                let response = read_resource::Response {
                    private: private::of(&id, self.keeps_identity(session, &resource)),
                    new_identity: identity_of(&resource, &object),
                    new_state: object_to(Some(object.clone()), &resource.object_type),
                    ..read_resource::Response::default()
                };
                match breach {
                    Some(breach) => breach::read(breach, &resource, object, response),
                    None => response,
                }
            }
            (Ok(resource), Ok((None, _))) => read_resource::Response {
                new_state: object_to(None, &resource.object_type),
                ..read_resource::Response::default()
            },
            (Err(problem), _) | (_, Err(problem)) => read_resource::Response {
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
        resource: &ResourceType,
        request: &read_resource::Request,
    ) -> Result<(Option<Changed>, Option<Breach>), Problem> {
        if let Some(run) = session.host.run() {
            run.asks_about_object();
        }
        let stored = object_from(request.current_state.as_ref(), &resource.object_type)?;
        let (ledger, caller) = self.configured(session)?;
        let checked = private::check(resource, &request.private, &stored);
        let checked = checked.and_then(|id| {
            if self.keeps_identity(session, resource) && private::has_identity(&request.private) {
                identity::check_if_there(resource, request.current_identity.as_ref(), &stored)?;
            }
            Ok(id)
        });
        // What came with a wrong id is told of the object that the engine asked for.
        let shown = text(&stored, node::ID).filter(|_| resource.shows_its_id());
        let mut body = caller.body(resource, &stored, shown.or(checked.as_deref().ok()));
        let found = match checked {
            Ok(id) => {
                body.id = Some(id.clone());
                let object = find::current(&ledger, resource, &id, &stored).await;
                object.map(|object| object.map(|object| Changed { id, object }))
            }
            Err(problem) => Err(problem),
        };
        let found = match caller.fault_by_id(Operation::Read, text(&stored, node::ID)) {
            Some(failure) => {
                body.fault = Some(failure.text.clone());
                Err(failure.problem())
            }
            None => found,
        };
        body.sent.prior = Some(resource.digest(&stored));
        let returned = |found: &Option<Changed>| found.as_ref().map(|found| resource.digest(&found.object));
        noted_with_breach(&ledger, &caller, Operation::Read, body, found, returned).await
    }

    pub(super) async fn plan(
        &self,
        session: &Session,
        request: plan_resource_change::Request,
    ) -> plan_resource_change::Response {
        let failed = |problem: Problem| plan_resource_change::Response {
            diagnostics: diagnostics([problem]),
            ..plan_resource_change::Response::default()
        };
        let resource = match self.resource_type(session, &request.type_name) {
            Ok(resource) => resource,
            Err(problem) => return failed(problem),
        };
        match self.plan_object(session, &resource, &request).await {
            Ok((None, _)) => plan_resource_change::Response {
                planned_state: object_to(None, &resource.object_type),
                planned_private: request.prior_private,
                planned_identity: request.prior_identity,
                ..plan_resource_change::Response::default()
            },
            Ok((Some((Plan { planned, replaced_by }, exists)), breach)) => {
                let response = plan_resource_change::Response {
                    deferred: self.plan_put_off(session, &resource, &request),
                    requires_replace: replaced_by.into_iter().map(path_to).collect(),
                    planned_private: private::of_plan(
                        &resource,
                        &planned,
                        exists,
                        &request.prior_private,
                        request.prior_identity.is_some(),
                    ),
                    planned_identity: planned_identity(&resource, &planned),
                    planned_state: object_to(Some(planned.clone()), &resource.object_type),
                    ..plan_resource_change::Response::default()
                };
                match breach {
                    Some(breach) => breach::plan(breach, &resource, planned, response),
                    None => response,
                }
            }
            Err(problem) => failed(problem),
        }
    }

    /// The plan, and whether the object is there already; `None` for a destruction. Also how the answer has to break
    /// the contract.
    async fn plan_object(
        &self,
        session: &Session,
        resource: &ResourceType,
        request: &plan_resource_change::Request,
    ) -> Result<(Option<(Plan, bool)>, Option<Breach>), Problem> {
        if let Some(run) = session.host.run() {
            run.asks_about_object();
        }
        let ty = &resource.object_type;
        let prior = optional_object_from(request.prior_state.as_ref(), ty)?;
        let proposed = optional_object_from(request.proposed_new_state.as_ref(), ty)?;
        let config = optional_object_from(request.config.as_ref(), ty)?;
        let checked = match &prior {
            Some(prior) => private::check(resource, &request.prior_private, prior).and_then(|id| {
                if self.keeps_identity(session, resource) && private::has_identity(&request.prior_private) {
                    identity::check_if_there(resource, request.prior_identity.as_ref(), prior)?;
                }
                Ok(Some(id))
            }),
            None => Ok(None),
        };
        let id = checked.as_ref().ok().and_then(Option::clone);
        let planned = checked.map(|_| {
            proposed.as_ref().map(|proposed| {
                let nothing = Object::new();
                let config = config.as_ref().unwrap_or(&nothing);
                (plan(&resource.schema.block, prior.as_ref(), proposed, config), prior.is_some())
            })
        });
        // A plan is possible before the ledger's name is known; there is nothing to write it into then.
        let Ok((ledger, caller)) = self.configured(session) else { return Ok((planned?, None)) };
        let planned = match planned {
            Ok(Some((plan, exists))) => {
                check_references(&ledger, resource, &plan.planned).await.map(|()| Some((plan, exists)))
            }
            planned => planned,
        };
        let object = prior.as_ref().or(proposed.as_ref());
        let mut body = object.map_or_else(
            || caller.signature(),
            |object| {
                let shown = text(object, node::ID).filter(|_| resource.shows_its_id());
                caller.body(resource, object, shown.or(id.as_deref()))
            },
        );
        body.sent.prior = prior.as_ref().map(|prior| resource.digest(prior));
        body.sent.config = config.as_ref().map(|config| resource.digest(config));
        if let Ok(Some((plan, _))) = &planned {
            body.sent.planned = Some(resource.digest(&plan.planned));
        }
        noted_with_breach(&ledger, &caller, Operation::Plan, body, planned, |_| None).await
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
        if let Some(run) = session.host.run() {
            run.asks_about_object();
        }
        let resource = match self.resource_type(session, &request.type_name) {
            Ok(resource) => resource,
            Err(problem) => {
                return apply_resource_change::Response {
                    private: request.planned_private,
                    new_state: request.prior_state,
                    diagnostics: diagnostics([problem]),
                    ..apply_resource_change::Response::default()
                };
            }
        };
        let changed = |changed: Changed, problem: Option<Problem>| apply_resource_change::Response {
            private: private::of(&changed.id, self.keeps_identity(session, &resource)),
            new_identity: identity_of(&resource, &changed.object),
            new_state: object_to(Some(changed.object), &resource.object_type),
            diagnostics: diagnostics(problem),
            ..apply_resource_change::Response::default()
        };
        match self.apply_change(session, &resource, &request).await {
            Ok(Some(object)) => changed(object, None),
            Err(Failed { breach: Some(breach), partial: Some(object), .. }) => {
                let shown = object.object.clone();
                breach::change(breach, &resource, shown, changed(*object, None))
            }
            Err(Failed { problem, partial: Some(object), .. }) => changed(*object, Some(problem)),
            Ok(None) => apply_resource_change::Response {
                new_state: object_to(None, &resource.object_type),
                ..apply_resource_change::Response::default()
            },
            // The object is as it was before, and so is what the engine keeps beside it: what was planned for an object
            // that takes its place is not its own.
            Err(Failed { problem, partial: None, breach }) => {
                let prior = optional_object_from(request.prior_state.as_ref(), &resource.object_type);
                let prior = prior.ok().flatten();
                let keeps_identity = self.keeps_identity(session, &resource);
                let id = prior.as_ref().and_then(|prior| {
                    let shown = text(prior, node::ID).filter(|_| resource.shows_its_id()).map(str::to_owned);
                    shown.or_else(|| private::id_in(&request.planned_private))
                });
                let asked = prior.clone().unwrap_or_default();
                let response = apply_resource_change::Response {
                    private: id.map(|id| private::of(&id, keeps_identity)).unwrap_or_default(),
                    new_identity: prior.and_then(|prior| planned_identity(&resource, &prior)),
                    new_state: request.prior_state,
                    diagnostics: diagnostics([problem]),
                    ..apply_resource_change::Response::default()
                };
                match breach {
                    Some(breach) => breach::change(breach, &resource, asked, response),
                    None => response,
                }
            }
        }
    }

    async fn apply_change(
        &self,
        session: &Session,
        resource: &Arc<ResourceType>,
        request: &apply_resource_change::Request,
    ) -> Result<Option<Changed>, Failed> {
        let (resource, ty) = (Arc::clone(resource), &resource.object_type);
        let prior = optional_object_from(request.prior_state.as_ref(), ty)?;
        let planned = optional_object_from(request.planned_state.as_ref(), ty)?;
        let config = optional_object_from(request.config.as_ref(), ty)?;
        let (ledger, caller) = self.configured(session)?;
        let digest = |object: &Option<Object>| object.as_ref().map(|object| resource.digest(object));
        let sent = Sent { prior: digest(&prior), config: digest(&config), planned: digest(&planned) };
        let caller = Caller { sent, ..caller };
        let private = &request.planned_private;
        let id = match (&prior, &planned) {
            (None, Some(planned)) => {
                private::check_on_create(&resource, private, planned)?;
                String::new()
            }
            (Some(prior), Some(planned)) => {
                let id = private::check_on_update(&resource, private, prior, planned)?;
                if private::has_identity(private) {
                    identity::check(&resource, request.planned_identity.as_ref(), planned)?;
                }
                id
            }
            (Some(prior), None) => match private::check_on_delete(&resource, private, prior)? {
                Some(id) => id,
                None => find::like(&ledger, &resource, prior).await?,
            },
            (None, None) => return Err(Problem::engine("It asked to turn nothing into nothing.").into()),
        };
        // A task of its own: an operation that has begun goes on to its end, also if the engine hangs up meanwhile.
        let change = tokio::spawn(async move {
            match (prior, planned) {
                (None, Some(planned)) => apply::create(&ledger, &resource, &caller, &planned).await.map(Some),
                (Some(prior), Some(planned)) => {
                    apply::update(&ledger, &resource, &caller, id, &prior, &planned).await.map(Some)
                }
                (Some(prior), None) => {
                    apply::delete(&ledger, &resource, &caller, &id, &prior).await.map(|()| None)
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
        let resource = self.resource_type(session, &request.type_name);
        let found = match &resource {
            Ok(resource) => self.import_object(session, resource, &request).await,
            Err(problem) => Err(problem.clone()),
        };
        match (resource, found) {
            (Ok(resource), Ok(Changed { id, object })) => import_resource_state::Response {
                imported_resources: vec![import_resource_state::ImportedResource {
                    type_name: resource.name.clone(),
                    private: private::of(&id, self.keeps_identity(session, &resource)),
                    identity: identity_of(&resource, &object),
                    state: object_to(Some(object), &resource.object_type),
                }],
                ..import_resource_state::Response::default()
            },
            (Err(problem), _) | (_, Err(problem)) => import_resource_state::Response {
                diagnostics: diagnostics([problem]),
                ..import_resource_state::Response::default()
            },
        }
    }

    async fn import_object(
        &self,
        session: &Session,
        resource: &ResourceType,
        request: &import_resource_state::Request,
    ) -> Result<Changed, Problem> {
        let (ledger, caller) = self.configured(session)?;
        let found = object_to_import(&ledger, resource, request).await;
        let body = match &found {
            Ok(Changed { id, object }) => caller.body(resource, object, Some(id)),
            Err(_) => Body { type_name: Some(resource.name.clone()), ..caller.signature() },
        };
        let returned = |found: &Changed| Some(resource.digest(&found.object));
        noted(&ledger, &caller, Operation::Import, body, found, returned).await
    }
}

/// The object to import, by its identity or by its name.
async fn object_to_import(
    ledger: &Ledger,
    resource: &ResourceType,
    request: &import_resource_state::Request,
) -> Result<Changed, Problem> {
    let identity = request.identity.as_ref().and_then(|identity| identity.identity_data.as_ref());
    let given = match &resource.identity {
        Some(identity_schema) => optional_object_from(identity, &identity_schema.ty())?,
        None => None,
    };
    let Some(given) = given else {
        return find::by_id_or_key(ledger, resource, &request.id).await;
    };
    if resource.key.is_none() {
        return find::by_identity(ledger, resource, &given).await;
    }
    let (id, key) = (text(&given, node::ID), text(&given, node::KEY));
    let Some(name) = id.or(key) else {
        return Err(Problem::new(
            "The identity names no node",
            "Give the identity's `id`, or its `key`, or both.",
        ));
    };
    let found = find::by_id_or_key(ledger, resource, name).await?;
    if key.is_some_and(|key| text(&found.object, node::KEY) != Some(key)) {
        let key = text(&found.object, node::KEY).unwrap_or_default();
        return Err(Problem::new(
            "The identity's id and key belong to different nodes",
            format!("The node {name} has the key {key:?}."),
        ));
    }
    Ok(found)
}

/// Checks that ids are of objects of the types that an attribute is for. One that is not there is recorded, not
/// refused.
async fn check_references(ledger: &Ledger, resource: &ResourceType, object: &Object) -> Result<(), Problem> {
    for attribute in &resource.schema.block.attributes {
        let allowed = attribute.checks.iter().find_map(|check| match check {
            Check::RefersTo(types) => Some(types),
            _ => None,
        });
        let (Some(allowed), Some(value)) = (allowed, object.get(&attribute.name)) else { continue };
        for id in value.strings() {
            let Some(entry) = ledger.by_id(id).await? else { continue };
            let found = entry.type_name.as_deref().unwrap_or_default();
            if !allowed.iter().any(|allowed| allowed == found) {
                return Err(Problem::new(
                    format!("{:?} refers to an object of the wrong type", attribute.name),
                    format!(
                        "The object {id} is a {found}, and this has to be the id of {}.",
                        allowed.join(" or ")
                    ),
                )
                .at(&attribute.name));
            }
        }
    }
    Ok(())
}
