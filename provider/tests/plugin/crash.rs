//! A panic in the provider: it says so and ends, whoever started it.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use serde_json::Value as Json;
use tokio::net::UnixStream;

use crate::support::*;

const PANIC: &str = "panic: at provider/src/testing.rs:";
const MESSAGE: &str = ": a test asked for a panic in apply 2\n";

/// Creates two objects, of which the second makes the provider panic.
async fn create_two(mut engine: Engine) {
    engine.create("a").await;
    let plan = engine.plan(None, node("b", None)).await;
    let request = equiform_proto::tfplugin6::apply_resource_change::Request {
        type_name: "mock_node".to_owned(),
        prior_state: Some(null()),
        planned_state: plan.planned_state,
        planned_private: plan.planned_private,
        ..Default::default()
    };
    engine.provider.apply_resource_change(request).await.expect_err("the connection is lost");
}

#[track_caller]
fn told(status: ExitStatus, said: &str) {
    assert_eq!(status.signal(), Some(libc::SIGABRT), "{said}");
    let line = said.split_inclusive('\n').next().unwrap();
    assert!(line.starts_with(PANIC) && line.ends_with(MESSAGE), "{said}");
    assert!(said.contains("This is a bug in the mock provider."), "{said}");
}

#[test]
fn a_panic_ends_a_plugin_and_is_told_on_stderr_and_in_the_crash_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("crashes.log");
    let mut plugin = Plugin::start_with(|command| {
        command.env("EQUIFORM_TEST_PANIC", "2").env("EQUIFORM_CRASH_LOG", &log);
    });
    run(async { create_two(plugin.engine().await).await });
    let status = plugin.child.wait().unwrap();
    told(status, &plugin.stderr());
    told(status, &std::fs::read_to_string(log).unwrap());
    let (entries, world) = crate::processes::verified(&plugin.ledger());
    // It was configured, the first was planned and created, the second planned.
    assert_eq!((entries.len(), world.len()), (5, 1));
}

#[test]
fn a_panic_ends_a_provider_that_engines_attach_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path()).arg("reattach").env("EQUIFORM_TEST_PANIC", "2").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let value =
        line.trim().strip_prefix("export TF_REATTACH_PROVIDERS='").unwrap().strip_suffix('\'').unwrap();
    let providers: Json = serde_json::from_str(value).unwrap();
    let socket = providers["equiform.test/equiform/mock"]["Addr"]["String"].as_str().unwrap().to_owned();
    run(async {
        let stream = UnixStream::connect(&socket).await.unwrap();
        let mut engine = Engine::new(channel_over(stream).await.unwrap());
        assert_eq!(engine.configure(&folder.path().join("ledger.jsonl")).await, []);
        create_two(engine).await;
    });
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    told(status, &said);
    assert!(std::os::unix::net::UnixStream::connect(socket).is_err());
}
