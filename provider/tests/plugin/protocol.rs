//! RPCs: which are answered, how large a message may be, and what stopping means.

use std::fs::File;
use std::time::Duration;

use equiform_proto::tfplugin6::*;
use tonic::Status;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::support::*;

#[test]
fn every_rpc_is_answered() {
    let plugin = Plugin::start();
    run(async {
        let provider = plugin.engine().await.provider;
        let mut answered = 0;
        macro_rules! call {
            ($($rpc:ident($request:expr);)*) => {$(
                let answer = provider.clone().$rpc($request).await.map(drop);
                answer.unwrap_or_else(|status| panic!("{}: {status}", stringify!($rpc)));
                answered += 1;
            )*};
        }
        call! {
            get_metadata(get_metadata::Request::default());
            get_provider_schema(get_provider_schema::Request::default());
            get_resource_identity_schemas(get_resource_identity_schemas::Request::default());
            get_functions(get_functions::Request::default());
            validate_provider_config(validate_provider_config::Request::default());
            configure_provider(configure_provider::Request::default());
            stop_provider(stop_provider::Request::default());
            validate_resource_config(validate_resource_config::Request::default());
            upgrade_resource_state(upgrade_resource_state::Request::default());
            upgrade_resource_identity(upgrade_resource_identity::Request::default());
            read_resource(read_resource::Request::default());
            plan_resource_change(plan_resource_change::Request::default());
            apply_resource_change(apply_resource_change::Request::default());
            import_resource_state(import_resource_state::Request::default());
            move_resource_state(move_resource_state::Request::default());
            validate_data_resource_config(validate_data_resource_config::Request::default());
            read_data_source(read_data_source::Request::default());
            generate_resource_config(generate_resource_config::Request::default());
            validate_ephemeral_resource_config(validate_ephemeral_resource_config::Request::default());
            open_ephemeral_resource(open_ephemeral_resource::Request::default());
            renew_ephemeral_resource(renew_ephemeral_resource::Request::default());
            close_ephemeral_resource(close_ephemeral_resource::Request::default());
            call_function(call_function::Request::default());
            validate_list_resource_config(validate_list_resource_config::Request::default());
            list_resource(list_resource::Request::default());
            validate_action_config(validate_action_config::Request::default());
            plan_action(plan_action::Request::default());
            invoke_action(invoke_action::Request::default());
            validate_state_store_config(validate_state_store::Request::default());
            configure_state_store(configure_state_store::Request::default());
            read_state_bytes(read_state_bytes::Request::default());
            write_state_bytes(tokio_stream::empty::<write_state_bytes::RequestChunk>());
            lock_state(lock_state::Request::default());
            unlock_state(unlock_state::Request::default());
            get_states(get_states::Request::default());
            delete_state(delete_state::Request::default());
        }
        assert_eq!(answered, 36, "the service has 36 RPCs");
    });
}

#[test]
fn the_health_of_the_plugin_is_good() {
    let plugin = Plugin::start();
    let status: Result<_, Status> = run(async {
        let request = HealthCheckRequest { service: "plugin".to_owned() };
        HealthClient::new(plugin.channel().await).check(request).await
    });
    assert_eq!(status.unwrap().into_inner().status(), ServingStatus::Serving);
}

#[test]
fn a_label_of_twenty_mebibytes_passes_through_plan_apply_and_read() {
    let plugin = Plugin::start();
    let label = format!("begin-{}-end", "x".repeat(20 << 20));
    let has_label = |value: &Option<DynamicValue>| {
        let bytes = &value.as_ref().unwrap().msgpack;
        let start = bytes.windows(6).position(|window| window == b"begin-").unwrap();
        assert!(bytes[start..].starts_with(label.as_bytes()));
    };
    run(async {
        let mut engine = plugin.engine().await;
        let plan = engine.plan(None, node("a", Some(&label))).await;
        has_label(&plan.planned_state);
        let applied = engine.apply(None, plan).await;
        assert_eq!(applied.diagnostics, []);
        has_label(&applied.new_state);
        let kept = Kept { state: applied.new_state.unwrap(), private: applied.private };
        has_label(&engine.read(&kept).await.new_state);
    });
}

#[test]
fn stopping_cancels_what_waits_on_that_connection_and_no_other() {
    let plugin = Plugin::start();
    run(async {
        let (mut first, mut second) = (plugin.engine().await, plugin.engine().await);
        let (plan, other_plan) =
            (first.plan(None, node("a", None)).await, second.plan(None, node("b", None)).await);
        let holder = File::open(plugin.ledger()).unwrap();
        holder.lock().unwrap();
        let mut stopper = first.provider.clone();
        let first = tokio::spawn(async move { first.apply(None, plan).await });
        let second = tokio::spawn(async move { second.apply(None, other_plan).await });
        // Both requests wait now: nothing has come of them after a while.
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!first.is_finished() && !second.is_finished());

        let answer = stopper.stop_provider(stop_provider::Request {}).await.unwrap().into_inner();
        assert_eq!(answer.error, "");
        let stopped = tokio::time::timeout(Duration::from_secs(2), first).await.unwrap().unwrap();
        assert_eq!(stopped.diagnostics[0].summary, "The operation was stopped");
        assert!(!second.is_finished());

        holder.unlock().unwrap();
        let applied = tokio::time::timeout(Duration::from_secs(2), second).await.unwrap().unwrap();
        assert_eq!(applied.diagnostics, []);
        // What comes after a stop is served.
        let mut again = Engine { provider: stopper };
        again.create("c").await;
    });
}

#[test]
fn an_empty_ledger_that_another_process_holds_keeps_only_its_own_engine_waiting() {
    let plugin = Plugin::start();
    let held = plugin.folder.path().join("held.jsonl");
    let holder = File::create(&held).unwrap();
    holder.lock().unwrap();
    run(async {
        let mut waiting = Engine::new(plugin.channel().await);
        let mut stopper = waiting.provider.clone();
        let waiting = tokio::spawn(async move { waiting.configure(&held).await });
        // Another engine is served meanwhile.
        let other = async { plugin.engine().await.create("a").await };
        tokio::time::timeout(Duration::from_secs(2), other).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert!(!waiting.is_finished());
        stopper.stop_provider(stop_provider::Request {}).await.unwrap();
        let stopped = tokio::time::timeout(Duration::from_secs(2), waiting).await.unwrap().unwrap();
        assert_eq!(stopped[0].summary, "The operation was stopped");
    });
}

#[test]
fn a_failed_delete_leaves_the_engine_with_what_belongs_to_the_object() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        let kept = engine.create("a").await;
        // A replacement: what the engine holds by then is the private data of the object to come.
        let mut replacement = engine.plan_replacement(&kept, node("b", None)).await;
        replacement.planned_state = Some(null());
        std::fs::remove_file(plugin.ledger()).unwrap();
        let failed = engine.apply(Some(&kept), replacement).await;
        assert_eq!(failed.diagnostics[0].summary, "The ledger cannot be used");
        assert_eq!(failed.new_state, Some(kept.state));
        assert_eq!(failed.private, kept.private);
    });
}

#[test]
fn private_data_of_another_object_or_another_plan_is_refused() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        let (one, other) = (engine.create("a").await, engine.create("b").await);
        let (plan, mut swapped) =
            (engine.plan(None, node("c", None)).await, engine.plan(None, node("d", None)).await);
        swapped.planned_private = plan.planned_private;
        let mut altered = engine.plan(Some(&one), node("a", Some("new"))).await;
        altered.planned_private = engine.plan(Some(&one), node("a", Some("newer"))).await.planned_private;
        let mut replaces_other = engine.plan_replacement(&other, node("b", None)).await;
        replaces_other.planned_state = Some(null());
        let asked = [(None, swapped), (Some(&one), altered), (Some(&one), replaces_other)];
        for (prior, plan) in asked {
            let refused = engine.apply(prior, plan).await;
            assert_eq!(refused.diagnostics[0].summary, "The engine broke the plugin protocol");
        }
        let mut replaces_one = engine.plan_replacement(&one, node("a", None)).await;
        replaces_one.planned_state = Some(null());
        assert_eq!(engine.apply(Some(&one), replaces_one).await.diagnostics, []);
    });
}

#[test]
fn an_object_that_someone_deleted_reads_as_gone_and_cannot_be_updated() {
    let plugin = Plugin::start();
    run(async {
        let mut engine = plugin.engine().await;
        let kept = engine.create("a").await;
        let plan = engine.plan(Some(&kept), node("a", Some("new"))).await;
        let mut drift = command(plugin.folder.path());
        let drift = drift.args(["drift", "delete"]).arg(kept.id()).arg("--ledger").arg(plugin.ledger());
        assert!(drift.status().unwrap().success());
        assert_eq!(engine.read(&kept).await.new_state, Some(null()));
        let failed = engine.apply(Some(&kept), plan).await;
        assert!(failed.diagnostics[0].summary.ends_with("is gone"), "{failed:?}");
        // Deleting it is no failure: that it is gone is all that was asked for.
        let mut destroy = engine.plan(Some(&kept), null()).await;
        destroy.planned_state = Some(null());
        assert_eq!(engine.apply(Some(&kept), destroy).await.diagnostics, []);
        // And nobody can delete it a second time behind the engine's back.
        let mut drift = command(plugin.folder.path());
        let drift = drift.args(["drift", "delete"]).arg(kept.id()).arg("--ledger").arg(plugin.ledger());
        assert!(!drift.status().unwrap().success());
    });
    crate::processes::verified(&plugin.ledger());
}
