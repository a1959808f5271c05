//! The provider without a server: laws of planning and applying, and bytes that no engine would send.

mod families;
mod ledgers;

use equiform_proto::tfplugin6::provider_server::Provider;
use equiform_proto::tfplugin6::*;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;
use tempfile::TempDir;
use tonic::{Request, Response, Status};

use super::convert::{object_to, optional_object_from};
use super::*;
use crate::value::{Object, Value, msgpack};

fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(task)
}

/// A provider with a ledger of its own, and the connection that configured it.
struct Subject {
    provider: MockProvider,
    session: Arc<Session>,
    _folder: TempDir,
}

impl Subject {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let subject = Self {
            provider: MockProvider::new(None),
            session: Arc::new(Session::new(Host::Parent { pid: None })),
            _folder: folder,
        };
        let config = json!({"ledger": subject._folder.path().join("ledger.jsonl")}).to_string().into_bytes();
        let config = Some(DynamicValue { json: config, msgpack: Vec::new() });
        let request = configure_provider::Request { config, ..configure_provider::Request::default() };
        let answer = run(subject.provider.configure_provider(subject.of(request))).unwrap().into_inner();
        assert_eq!(answer.diagnostics, []);
        subject
    }

    /// The request, as if it had come in on the connection.
    fn of<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.extensions_mut().insert(self.session.clone());
        request
    }

    fn plan(&self, prior: Option<&Kept>, proposed: Option<&Object>) -> plan_resource_change::Response {
        let ty = &crate::resource::node::resource().object_type;
        let request = plan_resource_change::Request {
            type_name: "mock_node".to_owned(),
            prior_state: object_to(prior.map(|prior| prior.object.clone()), ty),
            prior_private: prior.map(|prior| prior.private.clone()).unwrap_or_default(),
            config: object_to(proposed.cloned(), ty),
            proposed_new_state: object_to(proposed.cloned(), ty),
            ..plan_resource_change::Request::default()
        };
        let answer = run(self.provider.plan_resource_change(self.of(request))).unwrap().into_inner();
        assert_eq!(answer.diagnostics, []);
        answer
    }

    fn apply(
        &self,
        prior: Option<&Kept>,
        planned: Option<&Object>,
        planned_private: Vec<u8>,
    ) -> Option<Kept> {
        let ty = &crate::resource::node::resource().object_type;
        let request = apply_resource_change::Request {
            type_name: "mock_node".to_owned(),
            prior_state: object_to(prior.map(|prior| prior.object.clone()), ty),
            planned_state: object_to(planned.cloned(), ty),
            planned_private,
            ..apply_resource_change::Request::default()
        };
        let answer = run(self.provider.apply_resource_change(self.of(request))).unwrap().into_inner();
        assert_eq!(answer.diagnostics, []);
        let object = self.object(answer.new_state.as_ref());
        object.map(|object| Kept { object, private: answer.private })
    }

    fn read(&self, kept: &Kept) -> Option<Object> {
        let request = read_resource::Request {
            type_name: "mock_node".to_owned(),
            current_state: object_to(
                Some(kept.object.clone()),
                &crate::resource::node::resource().object_type,
            ),
            private: kept.private.clone(),
            ..read_resource::Request::default()
        };
        let answer = run(self.provider.read_resource(self.of(request))).unwrap().into_inner();
        assert_eq!(answer.diagnostics, []);
        self.object(answer.new_state.as_ref())
    }

    fn object(&self, message: Option<&DynamicValue>) -> Option<Object> {
        optional_object_from(message, &crate::resource::node::resource().object_type).unwrap()
    }
}

/// An object as an engine keeps it.
#[derive(Debug, Clone)]
struct Kept {
    object: Object,
    private: Vec<u8>,
}

/// What a program says of a node. The known part comes at apply for whatever is unknown at plan.
fn configuration() -> impl Strategy<Value = Object> {
    let text = || option::of("[a-z]{0,3}").prop_map(|text| text.map_or(Value::Null, Value::String));
    let ids = || {
        option::of(vec("node-[a-z]", 0..3)).prop_map(|ids| {
            ids.map_or(Value::Null, |ids| Value::set(ids.into_iter().map(Value::String).collect()))
        })
    };
    ("[a-z]{1,2}", ids(), ids(), text(), text()).prop_map(|(key, refs, pinned_refs, label, pin)| {
        [
            ("key", Value::String(key)),
            ("refs", refs),
            ("pinned_refs", pinned_refs),
            ("label", label),
            ("pin", pin),
            ("id", Value::Null),
            ("revision", Value::Null),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    })
}

/// What the engine proposes: the configuration, with the computed parts of the object before.
fn proposed(prior: Option<&Kept>, configuration: &Object) -> Object {
    let mut proposed = configuration.clone();
    for computed in ["id", "revision"] {
        if let Some(value) = prior.and_then(|prior| prior.object.get(computed)) {
            proposed.insert(computed.to_owned(), value.clone());
        }
    }
    proposed
}

/// The same, with the attributes at these places not known yet.
fn veiled(object: &Object, veil: &[bool]) -> Object {
    let mut veiled = object.clone();
    for (name, hidden) in ["key", "refs", "pinned_refs", "label", "pin"].into_iter().zip(veil) {
        if *hidden {
            veiled.insert(name.to_owned(), Value::Unknown);
        }
    }
    veiled
}

fn assert_refines(known: &Object, vague: &Object) {
    for (name, value) in vague {
        assert!(
            !value.is_wholly_known() || known[name] == *value,
            "{name}: {value:?} became {:?}",
            known[name]
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn plans_hold_and_applies_keep_them(
        configurations in vec((configuration(), any::<[bool; 5]>()), 1..6),
    ) {
        let subject = Subject::new();
        let mut prior: Option<Kept> = None;
        for (configuration, veil) in &configurations {
            let wanted = proposed(prior.as_ref(), configuration);
            let early = subject.plan(prior.as_ref(), Some(&veiled(&wanted, veil)));
            let early_plan = subject.object(early.planned_state.as_ref()).unwrap();
            let late = subject.plan(prior.as_ref(), Some(&wanted));
            let plan = subject.object(late.planned_state.as_ref()).unwrap();
            // What was known when less was known still holds.
            assert_refines(&plan, &early_plan);
            // To plan what is planned plans the same.
            let again = subject.plan(prior.as_ref(), Some(&plan));
            prop_assert_eq!(subject.object(again.planned_state.as_ref()).unwrap(), plan.clone());
            prop_assert_eq!(&again.requires_replace, &late.requires_replace);

            if let Some(before) = &prior {
                if plan == before.object {
                    continue;
                }
                if !late.requires_replace.is_empty() {
                    prop_assert!(subject.apply(Some(before), None, before.private.clone()).is_none());
                    prop_assert!(subject.read(before).is_none());
                    prior = None;
                }
            }
            let wanted = proposed(prior.as_ref(), configuration);
            let late = subject.plan(prior.as_ref(), Some(&wanted));
            let plan = subject.object(late.planned_state.as_ref()).unwrap();
            let applied = subject.apply(prior.as_ref(), Some(&plan), late.planned_private).unwrap();
            prop_assert!(applied.object.values().all(Value::is_wholly_known));
            assert_refines(&applied.object, &plan);
            // The world agrees, and nothing is left to do.
            prop_assert_eq!(subject.read(&applied), Some(applied.object.clone()));
            let nothing = subject.plan(Some(&applied), Some(&proposed(Some(&applied), configuration)));
            prop_assert_eq!(subject.object(nothing.planned_state.as_ref()), Some(applied.object.clone()));
            prop_assert!(nothing.requires_replace.is_empty());
            prior = Some(applied);
        }
    }
}

/// Bytes for a message's field: random, or an object's own with a few of them changed.
fn bytes() -> BoxedStrategy<Vec<u8>> {
    let object = (configuration(), any::<[bool; 5]>()).prop_map(|(object, veil)| {
        msgpack::encode(
            &Value::Object(veiled(&object, &veil)),
            &crate::resource::node::resource().object_type,
        )
    });
    let json = prop::sample::select(vec![
        "{}",
        r#"{"key":"a","id":"node-1","revision":1}"#,
        r#"{"equiform":1,"id":"node-1"}"#,
        r#"{"equiform":1}"#,
        "[[[[null]]]]",
        "c0",
    ]);
    let valid =
        prop_oneof![3 => object, 2 => json.prop_map(|json| json.as_bytes().to_vec()), 1 => Just(vec![0xc0])];
    let changed = (valid.clone(), vec((any::<prop::sample::Index>(), any::<u8>()), 1..3)).prop_map(
        |(mut bytes, changes)| {
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            bytes
        },
    );
    prop_oneof![vec(any::<u8>(), 0..60), valid, changed].boxed()
}

fn dynamic() -> BoxedStrategy<Option<DynamicValue>> {
    option::of(prop_oneof![
        3 => bytes().prop_map(|msgpack| DynamicValue { msgpack, json: Vec::new() }),
        1 => bytes().prop_map(|json| DynamicValue { msgpack: Vec::new(), json }),
        1 => (bytes(), bytes()).prop_map(|(msgpack, json)| DynamicValue { msgpack, json }),
    ])
    .boxed()
}

fn raw() -> impl Strategy<Value = Option<RawState>> {
    let flatmap = prop::collection::hash_map("id|key", "node-1", 0..2);
    option::of((bytes(), flatmap).prop_map(|(json, flatmap)| RawState { json, flatmap }))
}

fn identity() -> impl Strategy<Value = Option<ResourceIdentityData>> {
    option::of(dynamic().prop_map(|identity_data| ResourceIdentityData { identity_data }))
}

/// The message of an answer; a status is never one.
fn answered<T>(answer: Result<Response<T>, Status>) -> T {
    answer.unwrap().into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn whatever_the_bytes_every_rpc_answers(
        type_name in prop_oneof![9 => Just("mock_node".to_owned()), 1 => ".{0,9}"],
        (first, second, third) in (dynamic(), dynamic(), dynamic()),
        private in bytes(),
        raw in raw(),
        identity in identity(),
        version in prop_oneof![Just(0), Just(1), any::<i64>()],
    ) {
        let subject = Subject::new();
        let provider = &subject.provider;
        run(async {
            let planned = answered(provider.plan_resource_change(subject.of(plan_resource_change::Request {
                type_name: type_name.clone(),
                prior_state: first.clone(),
                proposed_new_state: second.clone(),
                config: third.clone(),
                prior_private: private.clone(),
                prior_identity: identity.clone(),
                ..plan_resource_change::Request::default()
            })).await);
            assert_eq!(planned.planned_state.is_some(), planned.diagnostics.is_empty());
            answered(provider.apply_resource_change(subject.of(apply_resource_change::Request {
                type_name: type_name.clone(),
                prior_state: first.clone(),
                planned_state: second.clone(),
                config: third.clone(),
                planned_private: private.clone(),
                planned_identity: identity.clone(),
                ..apply_resource_change::Request::default()
            })).await);
            answered(provider.read_resource(subject.of(read_resource::Request {
                type_name: type_name.clone(),
                current_state: first.clone(),
                private: private.clone(),
                current_identity: identity.clone(),
                ..read_resource::Request::default()
            })).await);
            answered(provider.validate_resource_config(subject.of(validate_resource_config::Request {
                type_name: type_name.clone(),
                config: first.clone(),
                ..validate_resource_config::Request::default()
            })).await);
            let upgraded = answered(provider.upgrade_resource_state(subject.of(upgrade_resource_state::Request {
                type_name: type_name.clone(),
                version,
                raw_state: raw.clone(),
            })).await);
            assert_eq!(upgraded.upgraded_state.is_some(), upgraded.diagnostics.is_empty());
            answered(provider.upgrade_resource_identity(subject.of(upgrade_resource_identity::Request {
                type_name: type_name.clone(),
                version,
                raw_identity: raw.clone(),
            })).await);
            answered(provider.import_resource_state(subject.of(import_resource_state::Request {
                type_name: type_name.clone(),
                id: String::from_utf8_lossy(&private).into_owned(),
                identity: identity.clone(),
                ..import_resource_state::Request::default()
            })).await);
            answered(provider.move_resource_state(subject.of(move_resource_state::Request {
                source_type_name: type_name.clone(),
                target_type_name: type_name.clone(),
                source_schema_version: version,
                source_state: raw.clone(),
                source_private: private.clone(),
                ..move_resource_state::Request::default()
            })).await);
            answered(provider.validate_data_resource_config(subject.of(validate_data_resource_config::Request {
                type_name: type_name.clone(),
                config: first.clone(),
            })).await);
            answered(Provider::read_data_source(provider, subject.of(read_data_source::Request {
                type_name: type_name.clone(),
                config: first.clone(),
                ..read_data_source::Request::default()
            })).await);
            answered(provider.validate_provider_config(subject.of(validate_provider_config::Request {
                config: first.clone(),
            })).await);
        });
    }
}

#[test]
fn an_engine_whose_environment_cannot_be_read_is_refused_unless_its_block_says_everything() {
    // No process can have this id, so the system has nothing to say of it.
    for pid in [Some(u32::MAX), None] {
        let folder = tempfile::tempdir().unwrap();
        let (provider, session) = (MockProvider::new(None), Arc::new(Session::new(Host::Attached { pid })));
        let configure = |config: serde_json::Value| {
            let config = Some(DynamicValue { json: config.to_string().into_bytes(), msgpack: Vec::new() });
            let mut request = Request::new(configure_provider::Request {
                config,
                ..configure_provider::Request::default()
            });
            request.extensions_mut().insert(session.clone());
            run(provider.configure_provider(request)).unwrap().into_inner().diagnostics
        };
        let absolute = folder.path().join("ledger.jsonl");
        for config in [
            json!({}),
            json!({"ledger": absolute}),
            json!({"ledger": "ledger.jsonl", "run": "r", "hold": "off", "faults": ""}),
            // Nothing falls back in silence: the environment might say how operations are held, and which fail.
            json!({"ledger": absolute, "run": "r", "faults": ""}),
            json!({"ledger": absolute, "run": "r", "hold": "off"}),
        ] {
            let told = configure(config);
            assert_eq!(told[0].summary, "The engine's environment and working directory cannot be read");
            let reason = if pid.is_some() { "/proc/4294967295/" } else { "does not say which process it is" };
            assert!(told[0].detail.contains(reason), "{}", told[0].detail);
            assert!(told[0].detail.contains("unset TF_REATTACH_PROVIDERS"), "{}", told[0].detail);
        }
        assert!(!absolute.exists());
        let here = std::env::current_dir().unwrap();
        assert!(!here.join("ledger.jsonl").exists() && !here.join("equiform.ledger.jsonl").exists());
        // What the provider block says needs no look at the engine.
        assert_eq!(configure(json!({"ledger": absolute, "run": "r", "hold": "off", "faults": ""})), []);
        assert!(absolute.exists());
    }
}

#[test]
fn an_update_comes_with_the_identity_that_was_planned() {
    let subject = Subject::new();
    let node = crate::resource::node::resource();
    let (ty, identity_type) = (&node.object_type, node.identity.as_ref().unwrap().ty());
    let object = |label: &str| {
        let mut object: Object =
            node.schema.block.attributes.iter().map(|a| (a.name.clone(), Value::Null)).collect();
        object.insert("key".to_owned(), "a".into());
        object.insert("label".to_owned(), label.into());
        object
    };
    let created = subject.plan(None, Some(&object("one")));
    let planned = subject.object(created.planned_state.as_ref()).unwrap();
    let kept = subject.apply(None, Some(&planned), created.planned_private).unwrap();
    let identity = super::convert::identity_to(node.identity_of(&kept.object).unwrap(), &identity_type);
    let mut proposed = kept.object.clone();
    proposed.insert("label".to_owned(), "two".into());
    let plan = plan_resource_change::Request {
        type_name: "mock_node".to_owned(),
        prior_state: object_to(Some(kept.object.clone()), ty),
        prior_private: kept.private.clone(),
        prior_identity: identity.clone(),
        config: object_to(Some(object("two")), ty),
        proposed_new_state: object_to(Some(proposed), ty),
        ..plan_resource_change::Request::default()
    };
    let plan = run(subject.provider.plan_resource_change(subject.of(plan))).unwrap().into_inner();
    assert_eq!((plan.diagnostics, &plan.planned_identity), (Vec::new(), &identity));
    let mut other = node.identity_of(&kept.object).unwrap();
    other.insert("id".to_owned(), "node-of-somebody-else".into());
    let other = super::convert::identity_to(other, &identity_type);
    for (sent, said) in [(None, "no identity"), (other, "another identity"), (identity, "")] {
        let apply = apply_resource_change::Request {
            type_name: "mock_node".to_owned(),
            prior_state: object_to(Some(kept.object.clone()), ty),
            planned_state: plan.planned_state.clone(),
            planned_private: plan.planned_private.clone(),
            planned_identity: sent,
            ..apply_resource_change::Request::default()
        };
        let answer = run(subject.provider.apply_resource_change(subject.of(apply))).unwrap().into_inner();
        match said {
            "" => assert_eq!(answer.diagnostics, []),
            said => assert!(answer.diagnostics[0].detail.contains(said), "{:?}", answer.diagnostics),
        }
    }
}
