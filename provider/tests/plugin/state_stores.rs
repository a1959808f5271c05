//! State stores. No released engine calls them yet (Terraform has them behind an experiment that only alpha builds
//! know), so a client does what such an engine does.

use std::path::Path;

use equiform_proto::ledger::{Entry, Operation, Reader, Record};
use equiform_proto::tfplugin6::*;
use serde_json::json;

use crate::support::*;

const TYPE: &str = "mock_store";

/// A connection that has configured the store.
struct Client(Engine);

impl Client {
    async fn new(plugin: &Plugin, chunk_size: i64) -> Self {
        let mut engine = plugin.engine().await;
        let config = Some(value(&json!({"path": "states"})));
        let request = validate_state_store::Request { type_name: TYPE.to_owned(), config: config.clone() };
        let valid = engine.provider.validate_state_store_config(request).await.unwrap().into_inner();
        assert_eq!(valid.diagnostics, []);
        let request = configure_state_store::Request {
            type_name: TYPE.to_owned(),
            config,
            capabilities: Some(StateStoreClientCapabilities { chunk_size }),
        };
        let answer = engine.provider.configure_state_store(request).await.unwrap().into_inner();
        assert_eq!(answer.diagnostics, []);
        assert_eq!(answer.capabilities, Some(StateStoreServerCapabilities { chunk_size }));
        Self(engine)
    }

    async fn send(&mut self, chunks: Vec<write_state_bytes::RequestChunk>) -> Vec<Diagnostic> {
        let answer = self.0.provider.write_state_bytes(tokio_stream::iter(chunks)).await;
        answer.unwrap().into_inner().diagnostics
    }

    async fn write(&mut self, state: &str, bytes: &[u8], chunk: usize) -> Vec<Diagnostic> {
        self.send(chunks(state, bytes, chunk)).await
    }

    async fn read(&mut self, state: &str) -> Vec<read_state_bytes::Response> {
        let request = read_state_bytes::Request { type_name: TYPE.to_owned(), state_id: state.to_owned() };
        let mut stream = self.0.provider.read_state_bytes(request).await.unwrap().into_inner();
        let mut chunks = Vec::new();
        while let Some(chunk) = stream.message().await.unwrap() {
            chunks.push(chunk);
        }
        chunks
    }

    async fn lock(&mut self, state: &str) -> lock_state::Response {
        let (type_name, state_id) = (TYPE.to_owned(), state.to_owned());
        let operation = "OperationTypeApply".to_owned();
        let request = lock_state::Request { type_name, state_id, operation };
        self.0.provider.lock_state(request).await.unwrap().into_inner()
    }

    async fn unlock(&mut self, state: &str, id: &str) -> Vec<Diagnostic> {
        let (type_name, state_id, lock_id) = (TYPE.to_owned(), state.to_owned(), id.to_owned());
        let request = unlock_state::Request { type_name, state_id, lock_id };
        self.0.provider.unlock_state(request).await.unwrap().into_inner().diagnostics
    }

    async fn states(&mut self) -> Vec<String> {
        let request = get_states::Request { type_name: TYPE.to_owned() };
        let answer = self.0.provider.get_states(request).await.unwrap().into_inner();
        assert_eq!(answer.diagnostics, []);
        answer.state_id
    }

    async fn delete(&mut self, state: &str) -> Vec<Diagnostic> {
        let request = delete_state::Request { type_name: TYPE.to_owned(), state_id: state.to_owned() };
        self.0.provider.delete_state(request).await.unwrap().into_inner().diagnostics
    }
}

fn chunks(state: &str, bytes: &[u8], size: usize) -> Vec<write_state_bytes::RequestChunk> {
    let total_length = bytes.len() as i64;
    let mut start = 0;
    let mut chunk = |bytes: &[u8]| {
        let meta = RequestChunkMeta { type_name: TYPE.to_owned(), state_id: state.to_owned() };
        let meta = (start == 0).then_some(meta);
        let range = Some(StateRange { start, end: start + bytes.len() as i64 - 1 });
        start += bytes.len() as i64;
        write_state_bytes::RequestChunk { meta, bytes: bytes.to_vec(), total_length, range }
    };
    bytes.chunks(size).map(&mut chunk).collect()
}

fn entries(ledger: &Path) -> Vec<Entry> {
    let file = std::io::BufReader::new(std::fs::File::open(ledger).unwrap());
    let entry = |line: Result<equiform_proto::ledger::Line, _>| match line.unwrap().record {
        Record::Entry(entry) => Some(*entry),
        _ => None,
    };
    Reader::new(file).filter_map(entry).collect()
}

#[test]
fn a_state_is_locked_written_read_unlocked_and_deleted_and_the_ledger_tells() {
    let plugin = Plugin::start();
    let text = br#"{"version": 4, "secret": "hunter2"}"#;
    run(async {
        let mut client = Client::new(&plugin, 16).await;
        assert!(client.states().await.is_empty() && client.read("default").await.is_empty());
        let lock = client.lock("default").await;
        assert_eq!((lock.diagnostics.len(), lock.lock_id.starts_with("lock-")), (0, true));
        assert_eq!(client.write("default", text, 16).await, []);
        let chunks = client.read("default").await;
        assert_eq!(chunks.iter().map(|chunk| chunk.bytes.len()).collect::<Vec<_>>(), [16, 16, 3]);
        assert_eq!(chunks[2].range, Some(StateRange { start: 32, end: 34 }));
        assert!(chunks.iter().all(|chunk| chunk.total_length == 35 && chunk.diagnostics.is_empty()));
        assert_eq!(chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect::<Vec<_>>(), text);
        assert_eq!(client.delete("default").await[0].summary, "The state \"default\" is locked");
        assert_eq!(client.unlock("default", &lock.lock_id).await, []);
        assert_eq!(client.states().await, ["default"]);
        assert_eq!(client.delete("default").await, []);
        assert!(client.states().await.is_empty());

        let done: Vec<_> = entries(&plugin.ledger())
            .into_iter()
            .filter(|entry| entry.mode.as_deref() == Some("state"))
            .map(|entry| (entry.op, entry.phase.name(), entry.key.unwrap(), entry.id))
            .collect();
        let (of, id) = (|| "default".to_owned(), || Some(lock.lock_id.clone()));
        let expected = [
            (Operation::Lock, "commit", of(), id()),
            (Operation::Write, "commit", of(), None),
            (Operation::Erase, "fail", of(), None),
            (Operation::Unlock, "commit", of(), id()),
            (Operation::Erase, "commit", of(), None),
        ];
        assert_eq!(done, expected);
    });
    assert!(!std::fs::read_to_string(plugin.ledger()).unwrap().contains("hunter2"));
    crate::processes::verified(&plugin.ledger());
}

#[test]
fn a_lock_outlives_its_process_and_goes_by_its_id_alone() {
    let mut first = Plugin::start();
    let folder = first.folder.path().to_owned();
    let id = run(async {
        let id = Client::new(&first, 16).await.lock("default").await.lock_id;
        first.shut_down().await;
        id
    });
    let second = Plugin::start_with(|command| {
        command.current_dir(&folder);
    });
    run(async {
        let mut client = Client::new(&second, 16).await;
        let refused = client.lock("default").await;
        assert_eq!((refused.lock_id.as_str(), refused.diagnostics.len()), ("", 1));
        let detail = &refused.diagnostics[0].detail;
        assert!(detail.contains(&id) && detail.contains("process "), "{detail}");
        assert_eq!(client.unlock("default", "lock-1").await.len(), 1);
        assert_eq!(client.unlock("default", &id).await, []);
        assert_eq!(client.lock("default").await.diagnostics, []);
    });
}

#[test]
fn many_mebibytes_pass_through_in_the_chunks_that_were_agreed_on() {
    let plugin = Plugin::start();
    let bytes: Vec<u8> = (0..20_000_000u32).map(|number| (number % 251) as u8).collect();
    run(async {
        let mut client = Client::new(&plugin, 8 << 20).await;
        assert_eq!(client.write("large", &bytes, 8 << 20).await, []);
        let back = client.read("large").await;
        assert_eq!(back.len(), 3);
        assert!(back.into_iter().flat_map(|chunk| chunk.bytes).eq(bytes.iter().copied()));
    });
}

#[test]
fn what_an_engine_must_not_send_gets_a_diagnostic() {
    let plugin = Plugin::start();
    run(async {
        let mut client = Client::new(&plugin, 4).await;
        let good = chunks("default", b"0123456789", 4);
        let vary = |change: &dyn Fn(&mut Vec<write_state_bytes::RequestChunk>)| {
            let mut chunks = good.clone();
            change(&mut chunks);
            chunks
        };
        let bad = [
            vec![],
            vary(&|chunks| chunks[0].meta = None),
            vary(&|chunks| chunks[1].meta = chunks[0].meta.clone()),
            vary(&|chunks| chunks[0].meta.as_mut().unwrap().state_id = "x".repeat(1 << 20)),
            vary(&|chunks| chunks[0].meta.as_mut().unwrap().type_name = "other_store".to_owned()),
            vary(&|chunks| chunks[2].range = None),
            vary(&|chunks| chunks[1].range = Some(StateRange { start: i64::MIN, end: i64::MAX })),
            vary(&|chunks| chunks.iter_mut().for_each(|chunk| chunk.total_length = i64::MAX)),
            vary(&|chunks| chunks.iter_mut().for_each(|chunk| chunk.total_length = -1)),
            vary(&|chunks| drop(chunks.pop())),
        ];
        for chunks in bad {
            assert_eq!(client.send(chunks).await.len(), 1);
        }
        for state in ["", "../../x"] {
            assert_eq!(client.unlock(state, "").await.len(), 1, "{state}");
            assert_eq!(client.delete(state).await.len(), 1, "{state}");
        }
        assert!(client.lock("").await.lock_id.is_empty());
        assert_eq!(client.read("").await[0].diagnostics.len(), 1);
        assert!(client.states().await.is_empty(), "nothing was written");
        assert_eq!(client.send(good).await, [], "and the store is in order");

        let mut bare = plugin.engine().await;
        let request = get_states::Request { type_name: TYPE.to_owned() };
        let unconfigured = bare.provider.get_states(request).await.unwrap().into_inner().diagnostics;
        assert_eq!(unconfigured[0].summary, "The engine broke the plugin protocol");
        for config in
            [json!({"path": ""}), json!({"path": null}), json!({"path": "a\0b"}), json!(null), json!(7)]
        {
            let config = Some(value(&config));
            let request = configure_state_store::Request {
                type_name: TYPE.to_owned(),
                config: config.clone(),
                capabilities: None,
            };
            let answer = bare.provider.configure_state_store(request).await.unwrap().into_inner();
            assert_eq!((answer.diagnostics.len(), answer.capabilities), (1, None));
            let request = validate_state_store::Request { type_name: TYPE.to_owned(), config };
            let answer = bare.provider.validate_state_store_config(request).await.unwrap().into_inner();
            assert_eq!(answer.diagnostics.len(), 1);
        }
    });
}
