//! What is not plan and apply, by a client: what no engine does, and what none should.

use equiform_proto::ledger::{Entry, Operation, Phase, Reader, Record};
use equiform_proto::tfplugin6::invoke_action::event;
use equiform_proto::tfplugin6::*;
use serde_json::json;

use crate::support::*;

const BROKEN: &str = "The engine broke the plugin protocol";

fn entries(plugin: &Plugin) -> Vec<Entry> {
    let file = std::io::BufReader::new(std::fs::File::open(plugin.ledger()).unwrap());
    let entry = |line: Result<equiform_proto::ledger::Line, _>| match line.unwrap().record {
        Record::Entry(entry) => Some(*entry),
        _ => None,
    };
    Reader::new(file).filter_map(entry).collect()
}

#[test]
fn the_metadata_names_what_the_schema_describes() {
    let plugin = Plugin::start();
    run(async {
        let mut provider = Engine::new(plugin.channel().await).provider;
        let metadata = provider.get_metadata(get_metadata::Request {}).await.unwrap().into_inner();
        let schema =
            provider.get_provider_schema(get_provider_schema::Request {}).await.unwrap().into_inner();
        macro_rules! same {
            ($($names:ident.$name:ident in $schemas:ident;)*) => {$(
                let mut named: Vec<_> = metadata.$names.iter().map(|one| one.$name.as_str()).collect();
                let mut described: Vec<_> = schema.$schemas.keys().map(String::as_str).collect();
                named.sort_unstable();
                described.sort_unstable();
                assert_eq!(named, described, stringify!($names));
                assert!(!named.is_empty(), stringify!($names));
            )*};
        }
        same! {
            resources.type_name in resource_schemas;
            data_sources.type_name in data_source_schemas;
            functions.name in functions;
            ephemeral_resources.type_name in ephemeral_resource_schemas;
            list_resources.type_name in list_resource_schemas;
            actions.type_name in action_schemas;
            state_stores.type_name in state_store_schemas;
        }
        assert_eq!(metadata.server_capabilities, schema.server_capabilities);
        let functions = provider.get_functions(get_functions::Request {}).await.unwrap().into_inner();
        assert_eq!(functions.functions, schema.functions);
    });
}

#[test]
fn a_stored_identity_is_upgraded() {
    let plugin = Plugin::start();
    run(async {
        let mut provider = plugin.engine().await.provider;
        let mut upgrade = async |json: &str| {
            let raw_identity = Some(RawState { json: json.as_bytes().to_vec(), ..RawState::default() });
            let type_name = "mock_node".to_owned();
            let request = upgrade_resource_identity::Request { type_name, version: 0, raw_identity };
            provider.upgrade_resource_identity(request).await.unwrap().into_inner()
        };
        let upgraded = upgrade(r#"{"id": "node-1", "key": "a"}"#).await;
        assert_eq!(upgraded.diagnostics, []);
        let identity = upgraded.upgraded_identity.unwrap().identity_data.unwrap().msgpack;
        assert_eq!(identity, b"\x82\xa2id\xa6node-1\xa3key\xa1a");
        for bad in ["", "7", "{", r#"{"id": 7}"#] {
            assert_eq!(upgrade(bad).await.diagnostics.len(), 1, "{bad}");
        }
    });
}

#[test]
fn a_function_gives_a_value_or_blames_an_argument() {
    let plugin = Plugin::start();
    run(async {
        let mut provider = Engine::new(plugin.channel().await).provider;
        let mut call = async |name: &str, arguments: &[serde_json::Value]| {
            let arguments = arguments.iter().map(value).collect();
            let request = call_function::Request { name: name.to_owned(), arguments };
            provider.call_function(request).await.unwrap().into_inner()
        };
        let joined = call("graph_key", &[json!("a"), json!("b"), json!("c")]).await;
        assert_eq!((joined.result.unwrap().msgpack, joined.error), (b"\xa5a.b.c".to_vec(), None));
        for (arguments, blamed) in [
            (vec![json!("a"), json!("")], Some(1)),
            (vec![json!("a.b")], Some(0)),
            (vec![json!("a"), json!("b"), json!(null)], Some(2)),
            (vec![json!({"a": 1})], None),
            (vec![], None),
        ] {
            let refused = call("graph_key", &arguments).await;
            let error = refused.error.unwrap();
            assert_eq!((refused.result, error.function_argument), (None, blamed), "{arguments:?}");
            assert!(!error.text.is_empty());
        }
        assert!(call("no_such_function", &[]).await.error.unwrap().text.contains("no_such_function"));
    });
}

#[test]
fn an_ephemeral_resource_goes_by_what_it_gave_the_engine_to_keep() {
    let plugin = Plugin::start();
    run(async {
        let mut provider = plugin.engine().await.provider;
        let type_name = || "mock_ticket".to_owned();
        let mut open = async |config: serde_json::Value| {
            let config = Some(value(&config));
            let validate = validate_ephemeral_resource_config::Request {
                type_name: type_name(),
                config: config.clone(),
            };
            let valid = provider.validate_ephemeral_resource_config(validate).await.unwrap().into_inner();
            let request = open_ephemeral_resource::Request {
                type_name: type_name(),
                config,
                ..open_ephemeral_resource::Request::default()
            };
            let opened = provider.open_ephemeral_resource(request).await.unwrap().into_inner();
            assert_eq!(valid.diagnostics, opened.diagnostics);
            opened
        };
        let lasting = open(json!({"key": "t"})).await;
        assert_eq!((lasting.diagnostics.len(), lasting.renew_at), (0, None));
        let timed = open(json!({"key": "t", "renew_after_ms": 1000})).await;
        assert!(timed.renew_at.is_some() && timed.private != lasting.private);
        for bad in
            [json!({"key": "t", "renew_after_ms": 0}), json!({"key": "t", "renew_after_ms": 1.5}), json!(7)]
        {
            assert_eq!(open(bad.clone()).await.diagnostics.len(), 1, "{bad}");
        }
        let mut provider = provider.clone();
        for private in [None, Some(vec![]), Some(b"{}".to_vec()), Some(vec![0; 1 << 20])] {
            let request =
                renew_ephemeral_resource::Request { type_name: type_name(), private: private.clone() };
            let renewed = provider.renew_ephemeral_resource(request).await.unwrap().into_inner();
            assert_eq!(renewed.diagnostics[0].summary, BROKEN);
            let request = close_ephemeral_resource::Request { type_name: type_name(), private };
            let closed = provider.close_ephemeral_resource(request).await.unwrap().into_inner();
            assert_eq!(closed.diagnostics[0].summary, BROKEN);
        }
        let request =
            renew_ephemeral_resource::Request { type_name: type_name(), private: timed.private.clone() };
        let renewed = provider.renew_ephemeral_resource(request).await.unwrap().into_inner();
        assert!(renewed.renew_at.is_some() && renewed.renew_at != timed.renew_at);
        assert_eq!(renewed.diagnostics, []);
        let request = close_ephemeral_resource::Request { type_name: type_name(), private: renewed.private };
        assert_eq!(provider.close_ephemeral_resource(request).await.unwrap().into_inner().diagnostics, []);
        // What was opened stands in the ledger; the secret does not.
        let done: Vec<_> = entries(&plugin).iter().map(|entry| entry.op).collect();
        assert_eq!(done[1..], [Operation::Open, Operation::Open, Operation::Renew, Operation::Close]);
        assert!(!std::fs::read_to_string(plugin.ledger()).unwrap().contains("token-"));
    });
}

#[test]
fn a_list_has_what_is_there_and_no_more_than_was_asked_for() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        for key in ["a1", "a2", "b1"] {
            engine.create(key).await;
        }
        let mut list = async |config: serde_json::Value, limit: i64, include_resource_object: bool| {
            let request = list_resource::Request {
                type_name: "mock_node".to_owned(),
                config: Some(value(&config)),
                include_resource_object,
                limit,
            };
            let mut stream = engine.provider.list_resource(request).await.unwrap().into_inner();
            let mut events = Vec::new();
            while let Some(event) = stream.message().await.unwrap() {
                events.push(event);
            }
            events
        };
        let names = |events: &[list_resource::Event]| -> Vec<_> {
            events.iter().map(|event| event.display_name.clone()).collect()
        };
        let all = list(json!({}), 100, true).await;
        assert_eq!(names(&all), ["a1", "a2", "b1"]);
        assert!(all.iter().all(|event| event.resource_object.is_some() && event.identity.is_some()));
        let some = list(json!({"key_prefix": "a"}), 1, false).await;
        assert_eq!((names(&some), &some[0].resource_object), (vec!["a1".to_owned()], &None));
        assert_eq!(list(json!({"key_prefix": "x"}), 1, false).await, []);
        assert_eq!(list(json!(7), 1, false).await[0].diagnostic.len(), 1);
    });
}

#[test]
fn an_action_tells_its_progress_and_completes_once() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        engine.create("a").await;
        let mut invoke = async |config: serde_json::Value| {
            let (config, action_type) = (Some(value(&config)), "mock_touch".to_owned());
            let plan = plan_action::Request {
                action_type: action_type.clone(),
                config: config.clone(),
                ..plan_action::Request::default()
            };
            let planned = engine.provider.plan_action(plan).await.unwrap().into_inner().diagnostics;
            let request = invoke_action::Request { action_type, config, ..invoke_action::Request::default() };
            let mut stream = engine.provider.invoke_action(request).await.unwrap().into_inner();
            let (mut progress, mut completed) = (0, Vec::new());
            while let Some(event) = stream.message().await.unwrap() {
                match event.r#type.unwrap() {
                    event::Type::Progress(_) => progress += 1,
                    event::Type::Completed(end) => completed.push(end.diagnostics),
                }
            }
            assert_eq!(completed.len(), 1);
            (planned.len(), progress, completed.remove(0).len())
        };
        assert_eq!(invoke(json!({"key": "a", "times": 40})).await, (0, 40, 0));
        assert_eq!(invoke(json!({"key": "nobody"})).await, (0, 0, 1));
        assert_eq!(invoke(json!({"key": "a", "times": 0})).await, (1, 0, 1));
        assert_eq!(invoke(json!(7)).await, (1, 0, 1));
        let entries = entries(&plugin);
        let of = |op| entries.iter().filter(move |entry| entry.op == op);
        assert_eq!((of(Operation::Drift).count(), of(Operation::Invoke).count()), (40, 4));
        assert_eq!(of(Operation::Invoke).filter(|entry| entry.phase == Phase::Fail).count(), 1);
    });
    crate::processes::verified(&plugin.ledger());
}

#[test]
fn generated_configuration_has_nothing_that_only_the_provider_sets() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        let kept = engine.create("a").await;
        let mut generate = async |state: Option<DynamicValue>| {
            let request = generate_resource_config::Request { type_name: "mock_node".to_owned(), state };
            engine.provider.generate_resource_config(request).await.unwrap().into_inner()
        };
        let generated = generate(Some(kept.state.clone())).await;
        assert_eq!(generated.diagnostics, []);
        let config = generated.config.unwrap().msgpack;
        let has = |bytes: &[u8], text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(has(&kept.state.msgpack, b"node-") && !has(&config, b"node-"));
        assert!(has(&config, b"\xa3key\xa1a") && has(&config, b"\xa8revision\xc0"), "{config:x?}");
        assert_eq!(generate(Some(null())).await.diagnostics.len(), 1);
    });
}
