//! Deferral. Released engines do not allow it, so a client does.

use equiform_proto::tfplugin6::deferred::Reason;
use equiform_proto::tfplugin6::*;
use serde_json::json;

use crate::support::*;

fn allowed(deferral_allowed: bool) -> Option<ClientCapabilities> {
    Some(ClientCapabilities { deferral_allowed, ..ClientCapabilities::default() })
}

/// An object with one attribute whose value is not known, and others that are null.
fn unknown(name: &str, nulls: &[&str]) -> DynamicValue {
    let mut msgpack = vec![0x81 + u8::try_from(nulls.len()).unwrap()];
    let parts = [(name, &[0xd4, 0, 0][..])].into_iter().chain(nulls.iter().map(|name| (*name, &[0xc0][..])));
    for (name, value) in parts {
        msgpack.push(0xa0 | u8::try_from(name.len()).unwrap());
        msgpack.extend(name.as_bytes());
        msgpack.extend(value);
    }
    DynamicValue { msgpack, json: Vec::new() }
}

#[test]
fn a_provider_that_does_not_know_its_ledger_puts_off_what_it_may() {
    let plugin = Plugin::start();
    run(async {
        let mut provider = Engine::new(plugin.channel().await).provider;
        let request = configure_provider::Request {
            config: Some(unknown("ledger", &["run", "hold", "faults", "types"])),
            ..configure_provider::Request::default()
        };
        assert_eq!(provider.configure_provider(request).await.unwrap().into_inner().diagnostics, []);
        let type_name = || "mock_node".to_owned();
        let reason = |deferred: Option<Deferred>| deferred.map(|deferred| deferred.reason());
        for may in [true, false] {
            let expected = may.then_some(Reason::ProviderConfigUnknown);
            let request = plan_resource_change::Request {
                type_name: type_name(),
                prior_state: Some(null()),
                config: Some(node("a", None)),
                proposed_new_state: Some(node("a", None)),
                client_capabilities: allowed(may),
                ..plan_resource_change::Request::default()
            };
            let planned = provider.plan_resource_change(request).await.unwrap().into_inner();
            assert_eq!((reason(planned.deferred), planned.diagnostics), (expected, vec![]));
            let request = read_resource::Request {
                type_name: type_name(),
                current_state: Some(node("a", None)),
                client_capabilities: allowed(may),
                ..read_resource::Request::default()
            };
            let read = provider.read_resource(request).await.unwrap().into_inner();
            assert_eq!((reason(read.deferred), read.diagnostics.is_empty()), (expected, may));
            assert_eq!(read.new_state, Some(node("a", None)));
            let request = read_data_source::Request {
                type_name: type_name(),
                config: Some(value(&json!({"key": "a"}))),
                client_capabilities: allowed(may),
                ..read_data_source::Request::default()
            };
            let read = provider.read_data_source(request).await.unwrap().into_inner();
            assert_eq!((reason(read.deferred), read.diagnostics.is_empty()), (expected, may));
        }
    });
}

#[test]
fn a_type_that_waits_for_an_attribute_is_put_off_until_it_is_known() {
    let types = json!({
        "equiform_types": 1,
        "resources": {"mock_server": {
            "defers_on": "image",
            "attributes": {"image": {"type": "string", "required": true}},
        }},
    });
    let plugin = Plugin::start_with(|command| {
        let folder = command.get_current_dir().unwrap();
        std::fs::write(folder.join("equiform.types.json"), types.to_string()).unwrap();
    });
    run(async {
        let mut engine = plugin.engine().await;
        let mut plan = async |config: DynamicValue, may: bool| {
            let request = plan_resource_change::Request {
                type_name: "mock_server".to_owned(),
                prior_state: Some(null()),
                config: Some(config.clone()),
                proposed_new_state: Some(config),
                client_capabilities: allowed(may),
                ..plan_resource_change::Request::default()
            };
            let planned = engine.provider.plan_resource_change(request).await.unwrap().into_inner();
            assert_eq!(planned.diagnostics, []);
            planned.deferred.map(|deferred| deferred.reason())
        };
        assert_eq!(plan(unknown("image", &[]), true).await, Some(Reason::ResourceConfigUnknown));
        assert_eq!(plan(unknown("image", &[]), false).await, None);
        assert_eq!(plan(value(&json!({"image": "x"})), true).await, None);
    });
}
