//! What the provider is: its metadata and schemas.

use std::collections::HashMap;

use equiform_proto::tfplugin6 as tf;
use equiform_proto::tfplugin6::resource_identity_schema::IdentityAttribute;
use equiform_proto::tfplugin6::{get_metadata, get_provider_schema, get_resource_identity_schemas};

use super::convert::{schema_to, type_to};
use super::{MockProvider, state_stores};
use crate::resource::node;
use crate::value::Type;

impl MockProvider {
    pub(super) fn metadata(&self) -> get_metadata::Response {
        let type_name = || self.resource.name.to_owned();
        get_metadata::Response {
            server_capabilities: Some(capabilities()),
            resources: vec![get_metadata::ResourceMetadata { type_name: type_name() }],
            data_sources: vec![get_metadata::DataSourceMetadata { type_name: type_name() }],
            functions: named(self.own_functions(), |name| get_metadata::FunctionMetadata { name }),
            ephemeral_resources: named(self.ephemeral_schemas(), |type_name| {
                get_metadata::EphemeralMetadata { type_name }
            }),
            list_resources: named(self.list_schemas(), |type_name| get_metadata::ListResourceMetadata {
                type_name,
            }),
            actions: named(self.action_schemas(), |type_name| get_metadata::ActionMetadata { type_name }),
            state_stores: vec![get_metadata::StateStoreMetadata { type_name: state_stores::NAME.to_owned() }],
            ..get_metadata::Response::default()
        }
    }

    pub(super) fn schemas(&self) -> get_provider_schema::Response {
        let only = |schema| HashMap::from([(node::NAME.to_owned(), schema)]);
        get_provider_schema::Response {
            provider: Some(schema_to(&self.configuration)),
            resource_schemas: only(schema_to(&self.resource.schema)),
            data_source_schemas: only(schema_to(&self.data_source)),
            server_capabilities: Some(capabilities()),
            functions: self.own_functions(),
            ephemeral_resource_schemas: self.ephemeral_schemas(),
            list_resource_schemas: self.list_schemas(),
            action_schemas: self.action_schemas(),
            state_store_schemas: HashMap::from([(state_stores::NAME.to_owned(), state_stores::schema())]),
            ..get_provider_schema::Response::default()
        }
    }

    pub(super) fn identity_schemas(&self) -> get_resource_identity_schemas::Response {
        let attribute = |name: &str, description: &str| IdentityAttribute {
            name: name.to_owned(),
            r#type: type_to(&Type::String),
            required_for_import: false,
            optional_for_import: true,
            description: description.to_owned(),
        };
        let schema = tf::ResourceIdentitySchema {
            version: 0,
            identity_attributes: vec![
                attribute(node::ID, "The node's id. To import, give this or the key."),
                attribute(node::KEY, "The node's name in the graph. To import, give this or the id."),
            ],
        };
        get_resource_identity_schemas::Response {
            identity_schemas: HashMap::from([(node::NAME.to_owned(), schema)]),
            diagnostics: Vec::new(),
        }
    }
}

/// What has a name, by its name alone.
fn named<T, M>(schemas: HashMap<String, T>, metadata: fn(String) -> M) -> Vec<M> {
    let mut names: Vec<_> = schemas.into_keys().collect();
    names.sort_unstable();
    names.into_iter().map(metadata).collect()
}

fn capabilities() -> tf::ServerCapabilities {
    tf::ServerCapabilities {
        plan_destroy: true,
        get_provider_schema_optional: true,
        move_resource_state: true,
        generate_resource_config: true,
    }
}
