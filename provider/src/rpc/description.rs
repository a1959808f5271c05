//! What the provider is: its metadata and schemas.

use std::collections::HashMap;

use equiform_proto::tfplugin6 as tf;
use equiform_proto::tfplugin6::resource_identity_schema::IdentityAttribute;
use equiform_proto::tfplugin6::{get_metadata, get_provider_schema, get_resource_identity_schemas};

use super::configuration;
use super::convert::{diagnostics, schema_to, type_to};
use super::functions::all_functions;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::resource::Identity;
use crate::types::Types;
use crate::types::schema_json::Family;

impl MockProvider {
    pub(super) fn metadata(&self, session: &Session) -> get_metadata::Response {
        let types = match self.types(session) {
            Ok(types) => types,
            Err(problem) => {
                return get_metadata::Response {
                    diagnostics: diagnostics([problem]),
                    ..get_metadata::Response::default()
                };
            }
        };
        let named = |family| types.names(family).into_iter();
        get_metadata::Response {
            server_capabilities: Some(capabilities()),
            resources: named(Family::Resource)
                .map(|type_name| get_metadata::ResourceMetadata { type_name })
                .collect(),
            data_sources: named(Family::Data)
                .map(|type_name| get_metadata::DataSourceMetadata { type_name })
                .collect(),
            functions: named(Family::Function).map(|name| get_metadata::FunctionMetadata { name }).collect(),
            ephemeral_resources: named(Family::Ephemeral)
                .map(|type_name| get_metadata::EphemeralMetadata { type_name })
                .collect(),
            list_resources: named(Family::List)
                .map(|type_name| get_metadata::ListResourceMetadata { type_name })
                .collect(),
            state_stores: named(Family::StateStore)
                .map(|type_name| get_metadata::StateStoreMetadata { type_name })
                .collect(),
            actions: named(Family::Action)
                .map(|type_name| get_metadata::ActionMetadata { type_name })
                .collect(),
            ..get_metadata::Response::default()
        }
    }

    pub(super) fn schemas(&self, session: &Session) -> get_provider_schema::Response {
        let all = self.types(session).and_then(|types| {
            Ok(get_provider_schema::Response {
                provider: Some(schema_to(&types.provider_schema()?.unwrap_or_else(configuration::schema))),
                resource_schemas: all_of(&types, Family::Resource)?,
                data_source_schemas: all_of(&types, Family::Data)?,
                functions: all_functions(&types)?,
                ephemeral_resource_schemas: all_of(&types, Family::Ephemeral)?,
                list_resource_schemas: all_of(&types, Family::List)?,
                state_store_schemas: all_of(&types, Family::StateStore)?,
                action_schemas: all_of(&types, Family::Action)?
                    .into_iter()
                    .map(|(name, schema)| (name, tf::ActionSchema { schema: Some(schema) }))
                    .collect(),
                provider_meta: types.standin().map(|standin| schema_to(&standin.meta_schema())),
                server_capabilities: Some(capabilities()),
                ..get_provider_schema::Response::default()
            })
        });
        all.unwrap_or_else(|problem| get_provider_schema::Response {
            diagnostics: diagnostics([problem]),
            ..get_provider_schema::Response::default()
        })
    }

    pub(super) fn identity_schemas(&self, session: &Session) -> get_resource_identity_schemas::Response {
        self.note_identities(session);
        let all = self.types(session).and_then(|types| {
            let mut schemas = HashMap::new();
            for name in types.names_with_identity() {
                if let Some(identity) = &types.resource(&name)?.identity {
                    schemas.insert(name, identity_schema(identity));
                }
            }
            Ok(schemas)
        });
        match all {
            Ok(identity_schemas) => {
                get_resource_identity_schemas::Response { identity_schemas, diagnostics: Vec::new() }
            }
            Err(problem) => get_resource_identity_schemas::Response {
                diagnostics: diagnostics([problem]),
                ..get_resource_identity_schemas::Response::default()
            },
        }
    }
}

/// The schemas of all types of a family, each let go as soon as it is written: only those that are used are kept.
fn all_of(types: &Types, family: Family) -> Result<HashMap<String, tf::Schema>, Problem> {
    let each = types.names(family).into_iter();
    each.map(|name| types.schema(family, &name).map(|schema| (name, schema_to(&schema)))).collect()
}

fn identity_schema(identity: &Identity) -> tf::ResourceIdentitySchema {
    let attributes = identity.attributes.iter().map(|attribute| IdentityAttribute {
        name: attribute.name.clone(),
        r#type: type_to(&attribute.ty),
        required_for_import: attribute.required_for_import,
        optional_for_import: !attribute.required_for_import,
        description: attribute.description.clone(),
    });
    tf::ResourceIdentitySchema { version: identity.version, identity_attributes: attributes.collect() }
}

fn capabilities() -> tf::ServerCapabilities {
    tf::ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
        generate_resource_config: true,
    }
}
