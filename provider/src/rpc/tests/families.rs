//! The families beside plan and apply: whatever the bytes, an answer.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn whatever_the_bytes_every_other_rpc_answers(
        type_name in prop_oneof![
            Just("mock_node".to_owned()),
            Just("mock_ticket".to_owned()),
            Just("mock_touch".to_owned()),
            Just("mock_store".to_owned()),
            Just("graph_key".to_owned()),
            ".{0,9}",
        ],
        (first, second) in (dynamic(), dynamic()),
        private in option::of(bytes()),
        text in ".{0,9}",
        number in prop_oneof![Just(0), Just(1), any::<i64>()],
    ) {
        let subject = Subject::new();
        let provider = &subject.provider;
        run(async {
            let config = first.clone();
            answered(Provider::call_function(provider, subject.of(call_function::Request {
                name: type_name.clone(),
                arguments: [first.clone(), second].into_iter().flatten().collect(),
            })).await);
            answered(Provider::generate_resource_config(provider, subject.of(generate_resource_config::Request {
                type_name: type_name.clone(),
                state: first.clone(),
            })).await);
            answered(Provider::validate_ephemeral_resource_config(
                provider,
                subject.of(validate_ephemeral_resource_config::Request {
                    type_name: type_name.clone(),
                    config: config.clone(),
                }),
            ).await);
            let opened =
                answered(Provider::open_ephemeral_resource(provider, subject.of(open_ephemeral_resource::Request {
                    type_name: type_name.clone(),
                    config: config.clone(),
                    ..open_ephemeral_resource::Request::default()
                })).await);
            assert_eq!(opened.result.is_some(), opened.diagnostics.is_empty());
            answered(Provider::renew_ephemeral_resource(provider, subject.of(renew_ephemeral_resource::Request {
                type_name: type_name.clone(),
                private: private.clone(),
            })).await);
            answered(Provider::close_ephemeral_resource(provider, subject.of(close_ephemeral_resource::Request {
                type_name: type_name.clone(),
                private: private.clone(),
            })).await);
            answered(Provider::validate_list_resource_config(
                provider,
                subject.of(validate_list_resource_config::Request {
                    type_name: type_name.clone(),
                    config: config.clone(),
                    ..validate_list_resource_config::Request::default()
                }),
            ).await);
            drop(answered(Provider::list_resource(provider, subject.of(list_resource::Request {
                type_name: type_name.clone(),
                config: config.clone(),
                include_resource_object: true,
                limit: number,
            })).await));
            answered(Provider::validate_action_config(provider, subject.of(validate_action_config::Request {
                type_name: type_name.clone(),
                config: config.clone(),
            })).await);
            answered(Provider::plan_action(provider, subject.of(plan_action::Request {
                action_type: type_name.clone(),
                config: config.clone(),
                ..plan_action::Request::default()
            })).await);
            drop(answered(Provider::invoke_action(provider, subject.of(invoke_action::Request {
                action_type: type_name.clone(),
                config: config.clone(),
                ..invoke_action::Request::default()
            })).await));
            answered(Provider::validate_state_store_config(provider, subject.of(validate_state_store::Request {
                type_name: type_name.clone(),
                config: config.clone(),
            })).await);
            answered(Provider::configure_state_store(provider, subject.of(configure_state_store::Request {
                type_name: type_name.clone(),
                config,
                capabilities: Some(StateStoreClientCapabilities { chunk_size: number }),
            })).await);
            drop(answered(Provider::read_state_bytes(provider, subject.of(read_state_bytes::Request {
                type_name: type_name.clone(),
                state_id: text.clone(),
            })).await));
            answered(Provider::unlock_state(provider, subject.of(unlock_state::Request {
                type_name: type_name.clone(),
                state_id: text.clone(),
                lock_id: text.clone(),
            })).await);
            answered(Provider::get_states(provider, subject.of(get_states::Request {
                type_name: type_name.clone(),
            })).await);
            answered(Provider::delete_state(provider, subject.of(delete_state::Request {
                type_name: type_name.clone(),
                state_id: text.clone(),
            })).await);
        });
    }
}
