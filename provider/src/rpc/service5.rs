//! Protocol 5's door: its own names for the same RPCs, handed on to protocol 6's. Only the schemas and three answers
//! have another form; attributes with nested ones, which protocol 5 does not know, are sent as the object types that
//! they are.

use std::collections::HashMap;
use std::pin::Pin;

use equiform_proto::tfplugin5::provider_server::Provider as Provider5;
use equiform_proto::tfplugin5::{self as tf5, prepare_provider_config};
use equiform_proto::tfplugin6::provider_server::Provider as Provider6;
use equiform_proto::tfplugin6::schema::object::NestingMode;
use equiform_proto::tfplugin6::*;
use serde_json::{Map, Value as Json, json};
use tonic::{Request, Response, Status};

use super::MockProvider;

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<Response<T>, Status>> + Send + 'a>>;

/// RPCs whose request and answer are the same in both protocols: protocol 5's name, and protocol 6's.
macro_rules! same {
    ($($five:ident = $six:ident: $request:ty => $answer:ty;)*) => {$(
        fn $five<'life0, 'async_trait>(&'life0 self, request: Request<$request>) -> Answer<'async_trait, $answer>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            Provider6::$six(self, request)
        }
    )*};
}

/// RPCs whose request is the same, and whose answer takes another form.
macro_rules! translated {
    ($($five:ident = $six:ident: $request:ty => $answer:ty, $translate:expr;)*) => {$(
        fn $five<'life0, 'async_trait>(&'life0 self, request: Request<$request>) -> Answer<'async_trait, $answer>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            Box::pin(async move { Provider6::$six(self, request).await.map(|answer| answer.map($translate)) })
        }
    )*};
}

impl Provider5 for MockProvider {
    type ListResourceStream = <Self as Provider6>::ListResourceStream;
    type InvokeActionStream = <Self as Provider6>::InvokeActionStream;

    translated! {
        get_metadata = get_metadata: get_metadata::Request => tf5::get_metadata::Response, metadata;
        get_schema = get_provider_schema: get_provider_schema::Request
            => tf5::get_provider_schema::Response, schemas;
    }

    fn prepare_provider_config<'life0, 'async_trait>(
        &'life0 self,
        request: Request<validate_provider_config::Request>,
    ) -> Answer<'async_trait, prepare_provider_config::Response>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            // What protocol 5 lets a provider change in its configuration, this one leaves as it is.
            let prepared_config = request.get_ref().config.clone();
            let answer = Provider6::validate_provider_config(self, request).await?;
            let prepared = |answer: validate_provider_config::Response| prepare_provider_config::Response {
                prepared_config,
                diagnostics: answer.diagnostics,
            };
            Ok(answer.map(prepared))
        })
    }

    same! {
        get_resource_identity_schemas = get_resource_identity_schemas: get_resource_identity_schemas::Request
            => get_resource_identity_schemas::Response;
        get_functions = get_functions: get_functions::Request => get_functions::Response;
        configure = configure_provider: configure_provider::Request => configure_provider::Response;
        stop = stop_provider: stop_provider::Request => stop_provider::Response;
        validate_resource_type_config = validate_resource_config: validate_resource_config::Request
            => validate_resource_config::Response;
        upgrade_resource_state = upgrade_resource_state: upgrade_resource_state::Request
            => upgrade_resource_state::Response;
        upgrade_resource_identity = upgrade_resource_identity: upgrade_resource_identity::Request
            => upgrade_resource_identity::Response;
        read_resource = read_resource: read_resource::Request => read_resource::Response;
        plan_resource_change = plan_resource_change: plan_resource_change::Request
            => plan_resource_change::Response;
        apply_resource_change = apply_resource_change: apply_resource_change::Request
            => apply_resource_change::Response;
        import_resource_state = import_resource_state: import_resource_state::Request
            => import_resource_state::Response;
        move_resource_state = move_resource_state: move_resource_state::Request
            => move_resource_state::Response;
        generate_resource_config = generate_resource_config: generate_resource_config::Request
            => generate_resource_config::Response;
        validate_data_source_config = validate_data_resource_config: validate_data_resource_config::Request
            => validate_data_resource_config::Response;
        read_data_source = read_data_source: read_data_source::Request => read_data_source::Response;
        validate_ephemeral_resource_config = validate_ephemeral_resource_config:
            validate_ephemeral_resource_config::Request => validate_ephemeral_resource_config::Response;
        open_ephemeral_resource = open_ephemeral_resource: open_ephemeral_resource::Request
            => open_ephemeral_resource::Response;
        renew_ephemeral_resource = renew_ephemeral_resource: renew_ephemeral_resource::Request
            => renew_ephemeral_resource::Response;
        close_ephemeral_resource = close_ephemeral_resource: close_ephemeral_resource::Request
            => close_ephemeral_resource::Response;
        call_function = call_function: call_function::Request => call_function::Response;
        validate_list_resource_config = validate_list_resource_config: validate_list_resource_config::Request
            => validate_list_resource_config::Response;
        list_resource = list_resource: list_resource::Request => <Self as Provider6>::ListResourceStream;
        validate_action_config = validate_action_config: validate_action_config::Request
            => validate_action_config::Response;
        plan_action = plan_action: plan_action::Request => plan_action::Response;
        invoke_action = invoke_action: invoke_action::Request => <Self as Provider6>::InvokeActionStream;
    }
}

fn metadata(six: get_metadata::Response) -> tf5::get_metadata::Response {
    tf5::get_metadata::Response {
        server_capabilities: six.server_capabilities,
        diagnostics: six.diagnostics,
        data_sources: six.data_sources,
        resources: six.resources,
        functions: six.functions,
        ephemeral_resources: six.ephemeral_resources,
        list_resources: six.list_resources,
        actions: six.actions,
    }
}

fn schemas(six: get_provider_schema::Response) -> tf5::get_provider_schema::Response {
    let by_name = |schemas: HashMap<String, Schema>| {
        schemas.into_iter().map(|(name, six)| (name, schema(six))).collect()
    };
    let action =
        |(name, six): (String, ActionSchema)| (name, tf5::ActionSchema { schema: six.schema.map(schema) });
    tf5::get_provider_schema::Response {
        provider: six.provider.map(schema),
        resource_schemas: by_name(six.resource_schemas),
        data_source_schemas: by_name(six.data_source_schemas),
        diagnostics: six.diagnostics,
        provider_meta: six.provider_meta.map(schema),
        server_capabilities: six.server_capabilities,
        functions: six.functions,
        ephemeral_resource_schemas: by_name(six.ephemeral_resource_schemas),
        list_resource_schemas: by_name(six.list_resource_schemas),
        action_schemas: six.action_schemas.into_iter().map(action).collect(),
    }
}

fn schema(six: Schema) -> tf5::Schema {
    tf5::Schema { version: six.version, block: six.block.map(block) }
}

fn block(six: schema::Block) -> tf5::schema::Block {
    let nested = |six: schema::NestedBlock| tf5::schema::NestedBlock {
        type_name: six.type_name,
        block: six.block.map(block),
        nesting: six.nesting,
        min_items: six.min_items,
        max_items: six.max_items,
    };
    tf5::schema::Block {
        version: six.version,
        attributes: six.attributes.into_iter().map(attribute).collect(),
        block_types: six.block_types.into_iter().map(nested).collect(),
        description: six.description,
        description_kind: six.description_kind,
        deprecated: six.deprecated,
        deprecation_message: six.deprecation_message,
    }
}

fn attribute(six: schema::Attribute) -> tf5::schema::Attribute {
    let within = |is: fn(&schema::Attribute) -> bool| {
        is(&six) || six.nested_type.as_ref().is_some_and(|nested| any(nested, is))
    };
    let (sensitive, write_only) = (within(|part| part.sensitive), six.write_only);
    let r#type = match &six.nested_type {
        Some(nested) => type_of(nested).to_string().into_bytes(),
        None => six.r#type,
    };
    tf5::schema::Attribute {
        name: six.name,
        r#type,
        description: six.description,
        required: six.required,
        optional: six.optional,
        computed: six.computed,
        sensitive,
        description_kind: six.description_kind,
        deprecated: six.deprecated,
        write_only,
        deprecation_message: six.deprecation_message,
    }
}

/// Whether it is so of any attribute in here. A whole value is as secret as its most secret part.
fn any(nested: &schema::Object, is: fn(&schema::Attribute) -> bool) -> bool {
    let so = |part: &schema::Attribute| {
        is(part) || part.nested_type.as_ref().is_some_and(|nested| any(nested, is))
    };
    nested.attributes.iter().any(so)
}

/// The type of an attribute with nested ones.
fn type_of(nested: &schema::Object) -> Json {
    let part = |part: &schema::Attribute| {
        let ty = match &part.nested_type {
            Some(nested) => type_of(nested),
            None => serde_json::from_slice(&part.r#type).unwrap_or(Json::Null),
        };
        (part.name.clone(), ty)
    };
    let object = json!(["object", nested.attributes.iter().map(part).collect::<Map<_, _>>()]);
    match nested.nesting() {
        NestingMode::List => json!(["list", object]),
        NestingMode::Set => json!(["set", object]),
        NestingMode::Map => json!(["map", object]),
        NestingMode::Single | NestingMode::Invalid => object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(name: &str, ty: &str) -> schema::Attribute {
        schema::Attribute { name: name.to_owned(), r#type: ty.into(), ..schema::Attribute::default() }
    }

    #[test]
    fn nested_attributes_become_object_types_as_secret_as_their_most_secret_part() {
        let inner = schema::Object {
            attributes: vec![schema::Attribute { sensitive: true, ..plain("token", r#""string""#) }],
            nesting: NestingMode::Map.into(),
            ..schema::Object::default()
        };
        let outer = schema::Object {
            attributes: vec![
                plain("size", r#""number""#),
                schema::Attribute { nested_type: Some(inner), ..plain("users", "") },
            ],
            nesting: NestingMode::List.into(),
            ..schema::Object::default()
        };
        let five =
            attribute(schema::Attribute { nested_type: Some(outer), optional: true, ..plain("disks", "") });
        let ty: Json = serde_json::from_slice(&five.r#type).unwrap();
        let users = json!(["map", ["object", {"token": "string"}]]);
        assert_eq!(ty, json!(["list", ["object", {"size": "number", "users": users}]]));
        assert!(five.sensitive && five.optional && !five.write_only);
    }

    #[test]
    fn what_is_not_nested_stays_as_it_is() {
        let six = schema::Attribute { write_only: true, computed: true, ..plain("a", r#"["set","bool"]"#) };
        let five = attribute(six);
        assert_eq!(five.r#type, br#"["set","bool"]"#);
        assert!(five.write_only && five.computed && !five.sensitive);
    }
}
