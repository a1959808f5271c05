//! Carrying a change out: begin in the ledger, the effect, and its end in the ledger before the answer leaves.

use std::sync::Arc;

use equiform_proto::ledger::{Entry, Operation, Phase, Reference};
use tokio_util::sync::CancellationToken;

use super::{ResourceType, attributes_of, node, text};
use crate::diagnostic::Problem;
use crate::failure::{Failure, Failures, How};
use crate::hold::Hold;
use crate::ledger::{Body, Ledger, LedgerFailure, Sent, Transaction};
use crate::mint::mint;
use crate::value::{Number, Object, Value};

/// Who asks for an operation, for the ledger.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The label of the run.
    pub run: Option<String>,
    /// The engine's process.
    pub engine_pid: Option<u32>,
    /// The connection.
    pub session: Option<u64>,
    /// The request on it.
    pub request: Option<u64>,
    /// What the engine sent along.
    pub sent: Sent,
    /// How operations are held between their begin and their end.
    pub hold: Hold,
    /// The operations that are to fail.
    pub failures: Arc<Failures>,
    /// Cancelled when the engine wants what is in flight to stop.
    pub stopped: CancellationToken,
}

impl Caller {
    /// An entry about an object, signed.
    pub fn body(&self, resource: &ResourceType, object: &Object) -> Body {
        Body {
            type_name: Some(resource.name.to_owned()),
            key: text(object, node::KEY).map(str::to_owned),
            id: text(object, node::ID).map(str::to_owned),
            ..self.signature()
        }
    }

    /// An entry that says no more than who asked.
    pub fn signature(&self) -> Body {
        Body {
            run: self.run.clone(),
            engine_pid: self.engine_pid,
            session: self.session,
            request: self.request,
            ..Body::default()
        }
    }

    /// The entry with what the engine sent along: said once, at the begin of an operation.
    fn with_sent(&self, body: Body) -> Body {
        Body { sent: self.sent, ..body }
    }

    /// The failure that is due in the operation that is about to be written into the ledger.
    pub fn failure_due(
        &self,
        transaction: &mut Transaction<'_>,
        op: Operation,
        key: Option<&str>,
    ) -> Result<Option<Failure>, LedgerFailure> {
        Ok(self.failures.due(transaction, self.run.as_deref(), op, key)?.cloned())
    }

    /// Holds an operation that has begun.
    async fn hold(&self, ledger: &Ledger, begun: &Body) {
        let name = (&begun.key, begun.before.is_some());
        ledger.wire().hold(self.hold, name, self.engine_pid, &self.stopped).await;
    }
}

/// A change that failed.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub problem: Problem,
    /// The object as it is now, where a part of the change took effect. Without it nothing did.
    pub partial: Option<Object>,
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self { problem, partial: None }
    }
}

impl From<LedgerFailure> for Failed {
    fn from(failure: LedgerFailure) -> Self {
        Problem::from(failure).into()
    }
}

/// Waits for the ledger's lock in order to begin an operation. A stop ends the wait; once it has begun, an
/// operation goes on to its end, so that a stop never leaves a begin open.
async fn lock_to_begin<'a>(ledger: &'a Ledger, caller: &Caller) -> Result<Transaction<'a>, Problem> {
    tokio::select! {
        biased;
        transaction = ledger.lock() => Ok(transaction?),
        () = caller.stopped.cancelled() => Err(Problem::stopped()),
    }
}

/// Creates an object.
pub async fn create(
    ledger: &Ledger,
    resource: &ResourceType,
    caller: &Caller,
    planned: &Object,
) -> Result<Object, Failed> {
    ledger.wire().touch();
    let mut object = planned.clone();
    object.insert(node::ID.to_owned(), Value::String(mint("node")));
    object.insert(node::REVISION.to_owned(), Value::Number(Number::from(1)));
    known(resource, &object)?;

    let mut body = body(resource, caller, &object);
    body.after = Some(attributes_of(&object));
    let transaction = lock_to_begin(ledger, caller).await?;
    let failure = begin(transaction, caller, Operation::Create, &mut body)?;
    caller.hold(ledger, &body).await;
    if let Some(failure) = failure.as_ref().filter(|failure| failure.how == How::Error) {
        return give_up(ledger, Operation::Create, body, failure).await;
    }
    ledger.lock().await?.append(Operation::Create, Phase::Commit, body)?;
    answer(object, failure)
}

/// Updates an object in place.
pub async fn update(
    ledger: &Ledger,
    resource: &ResourceType,
    caller: &Caller,
    prior: &Object,
    planned: &Object,
) -> Result<Object, Failed> {
    ledger.wire().touch();
    let id = text(prior, node::ID).unwrap_or_default();
    let mut object = planned.clone();
    let mut asked = body(resource, caller, &object);
    asked.id = Some(id.to_owned());

    let mut transaction = lock_to_begin(ledger, caller).await?;
    let before = transaction.by_id(id)?;
    raise_revision(&mut object, before.as_deref());
    known(resource, &object)?;
    asked.before = before.as_deref().and_then(|entry| entry.after.clone());
    asked.after = Some(attributes_of(&object));
    let failure = begin(transaction, caller, Operation::Update, &mut asked)?;
    caller.hold(ledger, &asked).await;
    if let Some(failure) = failure.as_ref().filter(|failure| failure.how == How::Error) {
        return give_up(ledger, Operation::Update, asked, failure).await;
    }

    // Between the two the object may have been changed, or deleted, by someone else.
    let mut transaction = ledger.lock().await?;
    let before = transaction.by_id(id)?;
    let Some(before) = before else {
        asked.after = None;
        asked.fault = None;
        asked.error = Some("the object is not there".to_owned());
        transaction.append(Operation::Update, Phase::Fail, asked)?;
        return Err(Failed::from(Problem::new(
            format!("The {} {id} is gone", resource.name),
            "It was deleted since the engine last read it. Run the command again with a refresh: the engine will \
             plan to create it anew.",
        )));
    };
    if failure.is_some() {
        let mut part = resource.object_of(&before)?;
        part.insert(node::LABEL.to_owned(), object.get(node::LABEL).cloned().unwrap_or(Value::Null));
        object = part;
        asked.refs = references(resource, &object);
    }
    raise_revision(&mut object, Some(&before));
    asked.before = before.after.clone();
    asked.after = Some(attributes_of(&object));
    transaction.append(Operation::Update, Phase::Commit, asked)?;
    answer(object, failure)
}

/// Deletes an object. One that is gone already is as good as deleted, and the ledger tells.
pub async fn delete(
    ledger: &Ledger,
    resource: &ResourceType,
    caller: &Caller,
    prior: &Object,
) -> Result<(), Failed> {
    ledger.wire().touch();
    let id = text(prior, node::ID).unwrap_or_default();
    let mut asked = body(resource, caller, prior);
    asked.refs.clear();

    let mut transaction = lock_to_begin(ledger, caller).await?;
    asked.before = attributes_before(transaction.by_id(id)?);
    let failure = begin(transaction, caller, Operation::Delete, &mut asked)?;
    caller.hold(ledger, &asked).await;
    if let Some(failure) = failure {
        return give_up(ledger, Operation::Delete, asked, &failure).await;
    }

    let mut transaction = ledger.lock().await?;
    asked.before = attributes_before(transaction.by_id(id)?);
    let phase = if asked.before.is_some() {
        Phase::Commit
    } else {
        asked.error = Some("the object is not there".to_owned());
        Phase::Fail
    };
    transaction.append(Operation::Delete, phase, asked)?;
    Ok(())
}

/// Begins an operation, and gives the lock back. The end of it that is due says at its begin already that it is.
fn begin(
    mut transaction: Transaction<'_>,
    caller: &Caller,
    op: Operation,
    asked: &mut Body,
) -> Result<Option<Failure>, LedgerFailure> {
    let failure = caller.failure_due(&mut transaction, op, asked.key.as_deref())?;
    asked.fault = failure.as_ref().map(|failure| failure.text.clone());
    asked.begin = Some(transaction.append(op, Phase::Begin, caller.with_sent(asked.clone()))?);
    Ok(failure)
}

/// Ends an operation that was told to fail without an effect.
async fn give_up<T>(ledger: &Ledger, op: Operation, mut asked: Body, failure: &Failure) -> Result<T, Failed> {
    let problem = failure.problem();
    (asked.after, asked.refs) = (None, Vec::new());
    asked.error = Some(problem.summary.clone());
    ledger.lock().await?.append(op, Phase::Fail, asked)?;
    Err(problem.into())
}

/// The answer to a change that took effect, at least in part.
fn answer(object: Object, failure: Option<Failure>) -> Result<Object, Failed> {
    match failure {
        None => Ok(object),
        Some(failure) => Err(Failed { problem: failure.problem(), partial: Some(object) }),
    }
}

fn attributes_before(entry: Option<Arc<Entry>>) -> Option<equiform_proto::ledger::Attributes> {
    entry.and_then(|entry| entry.after.clone())
}

fn body(resource: &ResourceType, caller: &Caller, object: &Object) -> Body {
    Body { refs: references(resource, object), ..caller.body(resource, object) }
}

/// The ids that an object refers to, each with the attribute that holds it.
pub fn references(resource: &ResourceType, object: &Object) -> Vec<Reference> {
    let refer = resource.schema.attributes.iter().filter(|attribute| attribute.refers);
    refer
        .flat_map(|attribute| {
            let ids = object.get(attribute.name).map(Value::strings).unwrap_or_default();
            ids.into_iter().map(|id| Reference { path: attribute.name.to_owned(), id: id.to_owned() })
        })
        .collect()
}

fn raise_revision(object: &mut Object, before: Option<&Entry>) {
    let before = before.and_then(|entry| entry.after.as_ref()?.get(node::REVISION)?.as_i64());
    let revision = before.unwrap_or(0).saturating_add(1);
    object.insert(node::REVISION.to_owned(), Value::Number(Number::from(revision)));
}

fn known(resource: &ResourceType, object: &Object) -> Result<(), Problem> {
    match object.iter().find(|(_, value)| !value.is_wholly_known()) {
        None => Ok(()),
        Some((name, _)) => Err(Problem::engine(format!(
            "It asked to apply a {} whose attribute {name:?} is still unknown.",
            resource.name
        ))
        .at(name)),
    }
}
