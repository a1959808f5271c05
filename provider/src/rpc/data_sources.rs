//! Data sources: validating and reading them.

use std::path::Path;

use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{read_data_source, validate_data_resource_config};

use super::convert::{diagnostics, object_from, object_to};
use super::deferral::open;
use super::note::noted;
use super::validation::checked;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger};
use crate::resource::apply::Changed;
use crate::resource::{find, node, secrets, text};
use crate::types::{DEFAULT_OVERRIDES, DataType, Types, tfcoremock};
use crate::value::{Object, Value, json};

impl MockProvider {
    pub(super) fn validate_data_source(
        &self,
        session: &Session,
        request: validate_data_resource_config::Request,
    ) -> validate_data_resource_config::Response {
        let result = self.types(session).and_then(|types| {
            let data = types.data(&request.type_name)?;
            let config = object_from(request.config.as_ref(), &data.object_type)?;
            Ok(checked(&data.schema.block, &config))
        });
        let problems = result.unwrap_or_else(|problem| vec![problem]);
        validate_data_resource_config::Response { diagnostics: diagnostics(problems) }
    }

    pub(super) async fn read_data_source(
        &self,
        session: &Session,
        request: read_data_source::Request,
    ) -> read_data_source::Response {
        if let Some(deferred) = self.put_off(session, request.client_capabilities.as_ref()) {
            let state = self.types(session).and_then(|types| {
                let data = types.data(&request.type_name)?;
                let config = object_from(request.config.as_ref(), &data.object_type)?;
                Ok(object_to(Some(open(&data.schema.block, &config)), &data.object_type))
            });
            return match state {
                Ok(state) => {
                    read_data_source::Response { state, deferred: Some(deferred), diagnostics: Vec::new() }
                }
                Err(problem) => read_data_source::Response {
                    diagnostics: diagnostics([problem]),
                    ..read_data_source::Response::default()
                },
            };
        }
        match self.data_source_state(session, &request).await {
            Ok(state) => read_data_source::Response { state, ..read_data_source::Response::default() },
            Err(problem) => read_data_source::Response {
                diagnostics: diagnostics([problem]),
                ..read_data_source::Response::default()
            },
        }
    }

    async fn data_source_state(
        &self,
        session: &Session,
        request: &read_data_source::Request,
    ) -> Result<Option<equiform_proto::tfplugin6::DynamicValue>, Problem> {
        let types = self.types(session)?;
        let data = types.data(&request.type_name)?;
        let config = object_from(request.config.as_ref(), &data.object_type)?;
        let (ledger, caller) = self.configured(session)?;
        let mut body = Body {
            type_name: Some(data.name.clone()),
            mode: Some("data".to_owned()),
            provider: types.standin().map(|standin| standin.address.clone()),
            ..caller.signature()
        };
        let digest = |object: &Object| data.digest(object);
        body.sent.config = Some(digest(&config));
        let found = if types.standin().is_none() && data.name == node::NAME {
            let Some(key) = text(&config, node::KEY) else {
                return Err(Problem::engine("It read a data source whose key is not known.").at(node::KEY));
            };
            let found = find::by_key(&ledger, &*types.resource(node::NAME)?, key).await;
            body.key = Some(key.to_owned());
            body.id = found.as_ref().ok().map(|found| found.id.clone());
            found.map(|found| found.object)
        } else if types.is_tfcoremock() {
            let folder = text(&caller.settings, "data_directory").unwrap_or(tfcoremock::DATA_DIRECTORY);
            let folder = session.host.working_directory()?.join(folder);
            tfcoremock_data(&data, &config, &folder)
        } else {
            match in_the_world(&ledger, &types, &data, &config).await {
                Ok(Some(Changed { id, object })) => {
                    body.id = Some(id);
                    Ok(object)
                }
                Ok(None) => types
                    .answer(&data, &config)
                    .and_then(|answer| answer.ok_or_else(|| no_answer(&data, &config))),
                Err(problem) => Err(problem),
            }
        };
        let found =
            noted(&ledger, &caller, Operation::Read, body, found, |object| Some(digest(object))).await?;
        Ok(object_to(Some(found), &data.object_type))
    }
}

/// The object that a data source of tfcoremock reads from a file, by its id.
fn tfcoremock_data(data: &DataType, config: &Object, folder: &Path) -> Result<Object, Problem> {
    let id = text(config, node::ID).unwrap_or_default();
    if id.is_empty() || id.contains(['/', '\\']) || id.starts_with('.') {
        return Err(Problem::new("This id cannot name a file", format!("It is {id:?}.")).at(node::ID));
    }
    let path = folder.join(format!("{id}.json"));
    let read =
        tfcoremock::read_data(&path, &data.object_type).map_err(|defect| defect.problem("data source"))?;
    let Value::Object(mut object) = read else {
        return Err(Problem::engine("It asked for a data source that is no object."));
    };
    object.insert(node::ID.to_owned(), id.into());
    secrets::complete(&data.schema.block, &mut object);
    Ok(object)
}

/// An object in the world that a data source of the same name asks for, by its id.
async fn in_the_world(
    ledger: &Ledger,
    types: &Types,
    data: &DataType,
    config: &Object,
) -> Result<Option<Changed>, Problem> {
    let asked = ["id", "arn"]
        .into_iter()
        .chain(config.keys().map(String::as_str).filter(|name| name.ends_with("_id")));
    let ids: Vec<_> = asked.filter_map(|name| text(config, name)).flat_map(crate::mint::ids_in).collect();
    for id in ids {
        let Some(entry) = ledger.by_id(id).await? else { continue };
        if entry.type_name.as_ref() != Some(&data.name) {
            continue;
        }
        let Changed { id, object } = find::found(&*types.resource(&data.name)?, &entry)?;
        let fits = |(name, value): (&String, Value)| {
            let shape = data.schema.block.attribute(name)?;
            // Only what both know as the same thing can be taken over.
            (shape.ty() == types.resource_attribute_type(&data.name, name)?).then(|| (name.clone(), value))
        };
        let told = object.iter().map(|(name, value)| (name, value.clone())).filter_map(fits).collect();
        return Ok(Some(Changed { id, object: types.completed(data, config, told) }));
    }
    Ok(None)
}

/// What to say where nobody knows what a data source answers.
fn no_answer(data: &DataType, config: &Object) -> Problem {
    let computed = data.schema.block.attributes.iter().filter(|attribute| attribute.origin.is_computed());
    let computed: Vec<_> =
        computed.map(|attribute| attribute.name.as_str()).filter(|name| *name != "id").collect();
    let example = computed.first().copied().unwrap_or("id");
    let when = config.iter().find(|(name, value)| {
        matches!(value, Value::String(_)) && data.schema.block.attribute(name).is_some_and(|a| !a.sensitive)
    });
    let when = when.map(|(name, value)| format!("\"when\": {{{:?}: {}}}, ", name, json::encode(value)));
    let lines = format!(
        "  \"data\": {{\n    \"{}\": [{{{}\"answer\": {{\"{example}\": …}}}}]\n  }}",
        data.name,
        when.unwrap_or_default()
    );
    Problem::new(
        format!("No answer is configured for {}", data.name),
        format!(
            "A stand-in has no cloud to ask. Add the answer to {DEFAULT_OVERRIDES} in the working directory (or to the \
             file that EQUIFORM_OVERRIDES names), beside \"equiform_overrides\": 1:\n\n{lines}\n\nWith an empty \
             \"answer\", or for attributes that it leaves out, values are made up. What it computes: {}.",
            computed.join(", ")
        ),
    )
}
