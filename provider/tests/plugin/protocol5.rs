//! Protocol 5's door: the same provider under protocol 5's names.

use equiform_proto::tfplugin5::provider_client::ProviderClient as Client5;
use equiform_proto::tfplugin6::*;
use serde_json::json;
use tonic::Code;

use crate::support::*;

fn started() -> Plugin {
    Plugin::start_with(|command| {
        command.env("EQUIFORM_PROTOCOL", "5");
    })
}

#[test]
fn every_rpc_of_protocol_5_is_answered_as_its_namesake_of_protocol_6_is() {
    let plugin = started();
    run(async {
        let five = Client5::new(plugin.channel().await);
        let six = Engine::new(plugin.channel().await).provider;
        let mut rpcs = 0;
        macro_rules! both {
            ($($name5:ident = $name6:ident($request:expr);)*) => {$(
                let answer5 = five.clone().$name5($request).await.map(drop).map_err(|status| status.code());
                let answer6 = six.clone().$name6($request).await.map(drop).map_err(|status| status.code());
                assert_eq!(answer5, answer6, stringify!($name5));
                assert!(matches!(answer5, Ok(()) | Err(Code::Unimplemented)));
                rpcs += 1;
            )*};
        }
        both! {
            get_metadata = get_metadata(get_metadata::Request::default());
            get_schema = get_provider_schema(get_provider_schema::Request::default());
            get_resource_identity_schemas
                = get_resource_identity_schemas(get_resource_identity_schemas::Request::default());
            get_functions = get_functions(get_functions::Request::default());
            prepare_provider_config = validate_provider_config(validate_provider_config::Request::default());
            configure = configure_provider(configure_provider::Request::default());
            stop = stop_provider(stop_provider::Request::default());
            validate_resource_type_config = validate_resource_config(validate_resource_config::Request::default());
            upgrade_resource_state = upgrade_resource_state(upgrade_resource_state::Request::default());
            upgrade_resource_identity = upgrade_resource_identity(upgrade_resource_identity::Request::default());
            read_resource = read_resource(read_resource::Request::default());
            plan_resource_change = plan_resource_change(plan_resource_change::Request::default());
            apply_resource_change = apply_resource_change(apply_resource_change::Request::default());
            import_resource_state = import_resource_state(import_resource_state::Request::default());
            move_resource_state = move_resource_state(move_resource_state::Request::default());
            generate_resource_config = generate_resource_config(generate_resource_config::Request::default());
            validate_data_source_config
                = validate_data_resource_config(validate_data_resource_config::Request::default());
            read_data_source = read_data_source(read_data_source::Request::default());
            validate_ephemeral_resource_config
                = validate_ephemeral_resource_config(validate_ephemeral_resource_config::Request::default());
            open_ephemeral_resource = open_ephemeral_resource(open_ephemeral_resource::Request::default());
            renew_ephemeral_resource = renew_ephemeral_resource(renew_ephemeral_resource::Request::default());
            close_ephemeral_resource = close_ephemeral_resource(close_ephemeral_resource::Request::default());
            call_function = call_function(call_function::Request::default());
            validate_list_resource_config
                = validate_list_resource_config(validate_list_resource_config::Request::default());
            list_resource = list_resource(list_resource::Request::default());
            validate_action_config = validate_action_config(validate_action_config::Request::default());
            plan_action = plan_action(plan_action::Request::default());
            invoke_action = invoke_action(invoke_action::Request::default());
        }
        assert_eq!(rpcs, 28, "the service has 28 RPCs");
    });
}

#[test]
fn the_schema_says_the_same_in_both_protocols() {
    let plugin = started();
    run(async {
        let five = Client5::new(plugin.channel().await).get_schema(get_provider_schema::Request {}).await;
        let mut engine = Engine::new(plugin.channel().await);
        let six = engine.provider.get_provider_schema(get_provider_schema::Request {}).await;
        let (five, six) = (five.unwrap().into_inner(), six.unwrap().into_inner());
        assert_eq!(five.server_capabilities, six.server_capabilities);
        let (five, six) = (&five.resource_schemas["mock_node"], &six.resource_schemas["mock_node"]);
        let (five, six) = (five.block.as_ref().unwrap(), six.block.as_ref().unwrap());
        let parts5 =
            five.attributes.iter().map(|five| (&five.name, &five.r#type, five.required, five.computed));
        let parts6 = six.attributes.iter().map(|six| (&six.name, &six.r#type, six.required, six.computed));
        assert!(parts5.len() > 3 && parts5.eq(parts6));
    });
}

#[test]
fn the_provider_block_is_handed_back_as_it_came() {
    let plugin = started();
    run(async {
        let config = Some(value(&json!({"run": "five"})));
        let request = validate_provider_config::Request { config: config.clone() };
        let answer = Client5::new(plugin.channel().await).prepare_provider_config(request).await.unwrap();
        assert_eq!((answer.get_ref().diagnostics.len(), &answer.get_ref().prepared_config), (0, &config));
    });
}

#[test]
fn the_rpcs_that_came_in_are_written_by_name_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("rpcs");
    let plugin = Plugin::start_with(|command| {
        command.env("EQUIFORM_RPC_LOG", &log);
    });
    run(async {
        plugin.engine().await.create("a-secret-name").await;
        Client5::new(plugin.channel().await).get_functions(get_functions::Request {}).await.unwrap();
    });
    let text = std::fs::read_to_string(&log).unwrap();
    let expected = [
        "tfplugin6.Provider/ConfigureProvider",
        "tfplugin6.Provider/PlanResourceChange",
        "tfplugin6.Provider/ApplyResourceChange",
        "tfplugin5.Provider/GetFunctions",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
}
