//! The control channel: a program says which run is served where, and engines that connect there belong to that run.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream as ControlStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use equiform_proto::control::{Announcement, CONTROL_VERSION, Client, ControlError, Run};
use equiform_proto::faults::{Fault, FaultAction, FaultOperation, Faults};
use equiform_proto::holds::Hold;
use equiform_proto::ledger::Operation;
use tokio::net::UnixStream;

use crate::processes::verified;
use crate::support::*;

const PATIENCE: Duration = Duration::from_secs(20);

/// A provider that serves what its control socket says; killed when dropped.
struct Served {
    child: Child,
    control: PathBuf,
    folder: tempfile::TempDir,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(folder.path())
            .arg("serve")
            // What its own environment says is of no account for the runs that it serves.
            .env("EQUIFORM_RUN", "of the provider")
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let announced: Announcement = serde_json::from_str(&line).unwrap();
        assert_eq!(announced.version, CONTROL_VERSION);
        Self { child, control: announced.socket, folder }
    }

    fn client(&self) -> Client {
        Client::connect(&self.control, PATIENCE).unwrap()
    }

    fn ledger(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, ledger: &str, label: &str) -> Run {
        Run {
            ledger: self.ledger(ledger),
            label: Some(label.to_owned()),
            working_directory: self.folder.path().to_owned(),
            hold: Hold::Off,
            faults: Faults::default(),
            locked: None,
            engine: None,
        }
    }
}

/// An engine that is connected to an endpoint, and has configured the provider as a program without settings does.
async fn engine(address: &str) -> Engine {
    let stream = UnixStream::connect(address).await.unwrap();
    let mut engine = Engine::new(channel_over(stream).await.unwrap());
    assert_eq!(configured(&mut engine).await, []);
    engine
}

async fn configured(engine: &mut Engine) -> Vec<equiform_proto::tfplugin6::Diagnostic> {
    let request = equiform_proto::tfplugin6::configure_provider::Request {
        config: Some(value(&serde_json::json!({}))),
        ..Default::default()
    };
    engine.provider.configure_provider(request).await.unwrap().into_inner().diagnostics
}

#[test]
fn engines_belong_to_the_run_of_the_endpoint_that_they_connect_to() {
    let served = Served::start();
    let (mut one, mut other) = (served.client(), served.client());
    let (here, there) = (one.listen().unwrap(), other.listen().unwrap());
    assert_eq!((here.protocol_version, here.pid), (6, served.child.id()));
    let fault = Fault::in_first_call(FaultOperation::Create, Some("a"), FaultAction::Error);
    let faults = Faults::new(vec![fault]).unwrap();
    one.begin_run(Run { faults, ..served.run("one.jsonl", "first") }).unwrap();
    other.begin_run(served.run("other.jsonl", "second")).unwrap();
    run(async {
        let (mut first, mut second) = (engine(&here.address).await, engine(&there.address).await);
        let plan = first.plan(None, node("a", None)).await;
        let failed = first.apply(None, plan).await.diagnostics;
        assert_eq!(failed.len(), 1, "the fault is of the first run alone");
        second.create("a").await;
    });
    for (ledger, label) in [("one.jsonl", "first"), ("other.jsonl", "second")] {
        let (entries, _) = verified(&served.ledger(ledger));
        assert!(!entries.is_empty() && entries.iter().all(|entry| entry.run.as_deref() == Some(label)));
    }
}

#[test]
fn the_next_run_of_an_endpoint_has_settings_of_its_own_and_closes_the_connections_of_the_one_before() {
    let served = Served::start();
    let mut client = served.client();
    let address = client.listen().unwrap().address;
    client.begin_run(served.run("one.jsonl", "first")).unwrap();
    run(async {
        let mut first = engine(&address).await;
        first.create("a").await;
        client.end_run().unwrap();
        let request = equiform_proto::tfplugin6::configure_provider::Request::default();
        assert!(first.provider.configure_provider(request).await.is_err(), "its connection is closed");
        client.begin_run(served.run("two.jsonl", "second")).unwrap();
        engine(&address).await.create("b").await;
    });
    let labels = |ledger| -> Vec<Option<String>> {
        let (entries, _) = verified(&served.ledger(ledger));
        entries.into_iter().map(|entry| entry.run).collect()
    };
    assert!(labels("one.jsonl").iter().all(|label| label.as_deref() == Some("first")));
    assert!(labels("two.jsonl").iter().all(|label| label.as_deref() == Some("second")));
}

#[test]
fn what_a_hold_decides_is_in_the_ledger() {
    let served = Served::start();
    let mut client = served.client();
    let address = client.listen().unwrap().address;
    let hold = Hold::UntilQuiet { after: Some(50), seed: 7 };
    let engine_process = Some(std::process::id());
    client.begin_run(Run { hold, engine: engine_process, ..served.run("ledger.jsonl", "held") }).unwrap();
    run(async {
        let mut engine = engine(&address).await;
        let plans = [engine.plan(None, node("a", None)).await, engine.plan(None, node("b", None)).await];
        let [one, other] = plans.map(|plan| {
            let mut engine = Engine { provider: engine.provider.clone() };
            async move { assert_eq!(engine.apply(None, plan).await.diagnostics, []) }
        });
        tokio::join!(one, other);
    });
    let (entries, _) = verified(&served.ledger("ledger.jsonl"));
    assert_eq!(entries[0].hold, Some(hold), "the configuration says how operations are held");
    let begins: Vec<u64> = entries
        .iter()
        .filter(|entry| entry.op == Operation::Create && entry.begin.is_none())
        .map(|entry| entry.seq)
        .collect();
    let releases: Vec<_> = entries.iter().filter(|entry| entry.op == Operation::Release).collect();
    assert_eq!(releases.len(), 2);
    let mut held = releases[0].held.clone();
    held.sort_unstable();
    assert_eq!(held, begins);
    assert_eq!(releases[0].released, releases[0].held[..1]);
    assert_eq!(releases[1].released, releases[0].held[1..]);
}

#[test]
fn nobody_is_served_before_a_run_has_begun() {
    let served = Served::start();
    let mut client = served.client();
    let refused = |answer: Result<(), ControlError>| matches!(answer, Err(ControlError::Refused(_)));
    assert!(refused(client.begin_run(served.run("ledger.jsonl", "early"))), "there is no endpoint yet");
    let address = client.listen().unwrap().address;
    assert!(matches!(client.listen(), Err(ControlError::Refused(_))), "a connection has one endpoint");
    assert!(matches!(client.end_run(), Err(ControlError::Refused(_))));
    let relative = Run { ledger: "ledger.jsonl".into(), ..served.run("ledger.jsonl", "relative") };
    assert!(refused(client.begin_run(relative)));
    run(async {
        let stream = UnixStream::connect(&address).await.unwrap();
        assert!(channel_over(stream).await.is_err() || !served.ledger("ledger.jsonl").exists());
    });
    client.ping().unwrap();
}

#[test]
fn an_endpoint_ends_with_the_connection_that_asked_for_it() {
    let served = Served::start();
    let mut client = served.client();
    let socket = PathBuf::from(client.listen().unwrap().address);
    assert!(socket.exists());
    drop(client);
    eventually("the endpoint is gone", || !socket.exists());
    served.client().ping().unwrap();
}

#[test]
fn whoever_speaks_something_else_is_refused_and_harms_nobody() {
    let served = Served::start();
    let mut stream = ControlStream::connect(&served.control).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut said = |line: &str| {
        stream.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        answers.read_line(&mut answer).unwrap();
        answer
    };
    assert!(said("{\"request\":\"ping\"}\n").contains("say hello first"));
    assert!(said("GET / HTTP/1.1\n").contains("it is no request"));
    assert!(said("{\"request\":\"hello\",\"version\":99}\n").contains("\"version\":1"));
    assert!(said("{\"request\":\"listen\"}\n").contains("say hello first"));
    served.client().ping().unwrap();
}

#[test]
fn it_ends_with_standard_input_and_removes_its_folder() {
    let mut served = Served::start();
    let folder = served.control.parent().unwrap().to_owned();
    assert!(folder.exists());
    drop(served.child.stdin.take());
    assert!(served.child.wait().unwrap().success());
    assert!(!folder.exists());
}
