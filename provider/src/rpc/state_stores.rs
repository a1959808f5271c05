//! State stores: one type, `mock_store`, which keeps states in a folder; a provider that stands in for another has
//! none, as it would not know where to keep a state. What is done to a state stands in the ledger,
//! where one is configured; what a state holds does not.

use std::path::PathBuf;
use std::pin::Pin;

use equiform_proto::ledger::{Operation, Phase};
use equiform_proto::tfplugin6::*;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::Status;

use super::convert::{diagnostics, object_from};
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::Body;
use crate::store::Store;
use crate::store::transfer::{Chunk, Writing};
use crate::types::own::{self, PATH, STORE};
use crate::value::Value;

/// The chunks that engines suggest, for one that suggests nothing.
const USUAL_CHUNK: i64 = 8 << 20;
/// Engines take no larger ones.
const LARGEST_CHUNK: i64 = 128 << 20;
/// A name longer than this is refused; the ledger need not have all of it.
const LONGEST_KEY: usize = 200;

pub(super) type Events<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn known_store(type_name: &str) -> Result<(), Problem> {
    match type_name {
        STORE => Ok(()),
        _ => Err(Problem::engine(format!(
            "It asked for the state store {type_name:?}, which is not in the provider's schema."
        ))),
    }
}

/// Runs what waits for the disk on a thread of its own.
async fn on_disk<T: Send + 'static>(
    task: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(task).await;
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

fn path_from(type_name: &str, config: Option<&DynamicValue>) -> Result<Option<PathBuf>, Problem> {
    known_store(type_name)?;
    match object_from(config, &own::store().object_type())?.remove(PATH) {
        Some(Value::String(path)) if !path.is_empty() && !path.contains('\0') => Ok(Some(path.into())),
        Some(Value::Unknown) => Ok(None),
        _ => {
            Err(Problem::new("The state store has no folder", "`path` names the folder for the states.")
                .at(PATH))
        }
    }
}

impl MockProvider {
    pub(super) fn validate_store(
        &self,
        request: validate_state_store::Request,
    ) -> validate_state_store::Response {
        let path = path_from(&request.type_name, request.config.as_ref());
        validate_state_store::Response { diagnostics: diagnostics(path.err()) }
    }

    pub(super) fn configure_store(
        &self,
        session: &Session,
        request: configure_state_store::Request,
    ) -> configure_state_store::Response {
        let suggested = request.capabilities.map_or(0, |capabilities| capabilities.chunk_size);
        let chunk = if suggested > 0 { suggested.min(LARGEST_CHUNK) } else { USUAL_CHUNK };
        let store = path_from(&request.type_name, request.config.as_ref()).and_then(|path| {
            let path = path.ok_or_else(|| {
                Problem::new(
                    "The state store's folder is not known",
                    "`path` must be known before anything else.",
                )
                .at(PATH)
            })?;
            let folder = if path.is_absolute() { path } else { session.host.working_directory()?.join(path) };
            Ok(Store::new(folder, usize::try_from(chunk).unwrap_or(usize::MAX)))
        });
        match store {
            Ok(store) => {
                session.set_store(store);
                let capabilities = Some(StateStoreServerCapabilities { chunk_size: chunk });
                configure_state_store::Response { diagnostics: Vec::new(), capabilities }
            }
            Err(problem) => {
                configure_state_store::Response { diagnostics: diagnostics([problem]), capabilities: None }
            }
        }
    }

    /// The store that a request is about.
    fn store(session: &Session, type_name: &str) -> Result<Store, Problem> {
        known_store(type_name)?;
        let store = session.store();
        store.ok_or_else(|| Problem::engine("It used a state store without configuring it first."))
    }

    /// Writes into the ledger what became of an operation on a state, if there is a ledger.
    async fn note_state<T>(
        &self,
        session: &Session,
        op: Operation,
        state: &str,
        result: Result<T, Problem>,
        told: impl FnOnce(&T, &mut Body),
    ) -> Result<T, Problem> {
        let Ok((ledger, caller)) = self.configured(session) else { return result };
        let mut body = Body {
            type_name: Some(STORE.to_owned()),
            key: Some(state.chars().take(LONGEST_KEY).collect()),
            mode: Some("state".to_owned()),
            ..caller.signature()
        };
        let phase = match &result {
            Ok(value) => {
                told(value, &mut body);
                Phase::Commit
            }
            Err(problem) => {
                body.error = Some(problem.summary.clone());
                Phase::Fail
            }
        };
        ledger.note(op, phase, body).await?;
        result
    }

    pub(super) async fn get_states(
        &self,
        session: &Session,
        request: get_states::Request,
    ) -> get_states::Response {
        let states = match Self::store(session, &request.type_name) {
            Ok(store) => on_disk(move || store.states()).await,
            Err(problem) => Err(problem),
        };
        match states {
            Ok(state_id) => get_states::Response { state_id, diagnostics: Vec::new() },
            Err(problem) => {
                get_states::Response { state_id: Vec::new(), diagnostics: diagnostics([problem]) }
            }
        }
    }

    pub(super) async fn delete_state(
        &self,
        session: &Session,
        request: delete_state::Request,
    ) -> delete_state::Response {
        let state = request.state_id;
        let result = match Self::store(session, &request.type_name) {
            Ok(store) => {
                let state = state.clone();
                on_disk(move || store.erase(&state)).await
            }
            Err(problem) => Err(problem),
        };
        let result = self.note_state(session, Operation::Erase, &state, result, |(), _| {}).await;
        delete_state::Response { diagnostics: diagnostics(result.err()) }
    }

    pub(super) async fn lock_state(
        &self,
        session: &Session,
        request: lock_state::Request,
    ) -> lock_state::Response {
        let lock_state::Request { type_name, state_id: state, operation } = request;
        let who = match session.host.pid() {
            Some(pid) => format!("process {pid} on {}", host_name()),
            None => format!("a process on {}", host_name()),
        };
        let store = Self::store(session, &type_name);
        let result = match store.clone() {
            Ok(store) => {
                let state = state.clone();
                on_disk(move || store.lock(&state, &operation, who)).await
            }
            Err(problem) => Err(problem),
        };
        let id = result.as_ref().ok().map(|lock| lock.id.clone());
        let noted = self
            .note_state(session, Operation::Lock, &state, result, |lock, body| {
                body.id = Some(lock.id.clone());
                body.note = Some(format!("for {:?}", lock.operation));
            })
            .await;
        match noted {
            Ok(lock) => lock_state::Response { lock_id: lock.id, diagnostics: Vec::new() },
            Err(problem) => {
                // Nobody is told the id of a lock that could not be written down, so nobody could unlock the state.
                if let (Ok(store), Some(id)) = (store, id) {
                    let _ = on_disk(move || store.unlock(&state, &id)).await;
                }
                lock_state::Response { lock_id: String::new(), diagnostics: diagnostics([problem]) }
            }
        }
    }

    pub(super) async fn unlock_state(
        &self,
        session: &Session,
        request: unlock_state::Request,
    ) -> unlock_state::Response {
        let unlock_state::Request { type_name, state_id: state, lock_id: id } = request;
        let result = match Self::store(session, &type_name) {
            Ok(store) => {
                let (state, id) = (state.clone(), id.clone());
                on_disk(move || store.unlock(&state, &id)).await
            }
            Err(problem) => Err(problem),
        };
        let told = |(): &(), body: &mut Body| body.id = Some(id);
        let result = self.note_state(session, Operation::Unlock, &state, result, told).await;
        unlock_state::Response { diagnostics: diagnostics(result.err()) }
    }

    pub(super) async fn read_state(
        &self,
        session: &Session,
        request: read_state_bytes::Request,
    ) -> Events<read_state_bytes::Response> {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        let store = Self::store(session, &request.type_name);
        tokio::task::spawn_blocking(move || {
            let send = |answer| sender.blocking_send(Ok(answer)).is_ok();
            let read = || {
                // One that is not there has no bytes, and so no chunk: an engine takes that for an empty state.
                let Some(mut reading) = store?.read(&request.state_id)? else { return Ok(()) };
                while let Some(Chunk { bytes, total, start, end }) = reading.next()? {
                    let range = Some(StateRange { start, end });
                    let chunk = read_state_bytes::Response {
                        bytes,
                        total_length: total,
                        range,
                        diagnostics: Vec::new(),
                    };
                    if !send(chunk) {
                        break;
                    }
                }
                Ok::<_, Problem>(())
            };
            if let Err(problem) = read() {
                let diagnostics = diagnostics([problem]);
                send(read_state_bytes::Response { diagnostics, ..read_state_bytes::Response::default() });
            }
        });
        Box::pin(ReceiverStream::new(receiver))
    }

    pub(super) async fn write_state(
        &self,
        session: &Session,
        mut chunks: impl Stream<Item = Result<write_state_bytes::RequestChunk, Status>> + Unpin,
    ) -> write_state_bytes::Response {
        let mut state = String::new();
        let result = match chunks.next().await {
            Some(Ok(write_state_bytes::RequestChunk { meta: Some(meta), bytes, total_length, range })) => {
                state.clone_from(&meta.state_id);
                let first = write_state_bytes::RequestChunk { meta: None, bytes, total_length, range };
                written(Self::store(session, &meta.type_name), meta.state_id, first, chunks).await
            }
            Some(Ok(_)) => Err(Problem::engine("It sent a state without saying which one.")),
            Some(Err(status)) => Err(broken_off(&status)),
            None => Err(Problem::engine("It sent no state where one is expected.")),
        };
        let told = |bytes: &i64, body: &mut Body| body.note = Some(format!("{bytes} bytes"));
        let result = self.note_state(session, Operation::Write, &state, result, told).await;
        write_state_bytes::Response { diagnostics: diagnostics(result.err()) }
    }
}

/// Writes a state as its chunks come in. How many bytes it has.
async fn written(
    store: Result<Store, Problem>,
    state: String,
    first: write_state_bytes::RequestChunk,
    mut chunks: impl Stream<Item = Result<write_state_bytes::RequestChunk, Status>> + Unpin,
) -> Result<i64, Problem> {
    let (store, total) = (store?, first.total_length);
    let mut writing = on_disk(move || store.write(&state, total)).await?;
    let mut next = Some(Ok(first));
    while let Some(chunk) = next {
        writing = added(writing, chunk.map_err(|status| broken_off(&status))?).await?;
        next = chunks.next().await;
    }
    on_disk(move || writing.finish()).await
}

async fn added(mut writing: Writing, chunk: write_state_bytes::RequestChunk) -> Result<Writing, Problem> {
    let write_state_bytes::RequestChunk { meta, bytes, total_length: total, range } = chunk;
    if meta.is_some() {
        return Err(Problem::engine("It said twice which state it sends."));
    }
    let Some(StateRange { start, end }) = range else {
        return Err(Problem::engine("It sent a part of a state without saying which part."));
    };
    on_disk(move || writing.add(&Chunk { bytes, total, start, end }).map(|()| writing)).await
}

fn broken_off(status: &Status) -> Problem {
    Problem::engine(format!("It broke off while it sent a state: {}.", status.message()))
}

/// The machine's name, for people.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "this machine".to_owned(),
        name => name.to_owned(),
    }
}
