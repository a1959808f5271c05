//! Carrying a change out: begin in the ledger, the effect, and its end in the ledger before the answer leaves.

use std::sync::Arc;

use equiform_proto::faults::{Breach, FaultAction, Faults};
use equiform_proto::holds::Hold;
use equiform_proto::ledger::{Entry, Operation, Phase};
use tokio_util::sync::CancellationToken;

use super::plausible::{Context, Salt};
use super::{Ids, ResourceType, compute, node, references, secrets};
use crate::diagnostic::Problem;
use crate::fault::{self, DueFault};
use crate::hold::{Held, hold};
use crate::ledger::{Body, Ledger, LedgerFailure, Sent, Transaction};
use crate::schema::Rule;
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
    /// The operations that fail on demand.
    pub faults: Arc<Faults>,
    /// The provider block, where it is another provider's.
    pub settings: Arc<Object>,
    /// Cancelled when the engine wants what is in flight to stop.
    pub stopped: CancellationToken,
}

impl Caller {
    /// An entry about an object, signed.
    pub fn body(&self, resource: &ResourceType, object: &Object, id: Option<&str>) -> Body {
        Body {
            type_name: Some(resource.name.clone()),
            key: resource.key_of(object).map(str::to_owned),
            id: id.map(str::to_owned),
            provider: resource.provider.as_deref().map(str::to_owned),
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

    /// An entry about the schedule of a run, which no single request asked for.
    pub fn schedule(&self) -> Body {
        Body { run: self.run.clone(), engine_pid: self.engine_pid, ..Body::default() }
    }

    /// The entry with what the engine sent along: said once, at the begin of an operation.
    fn with_sent(&self, body: Body) -> Body {
        Body { sent: self.sent, ..body }
    }

    /// The fault in the operation that is about to be written into the ledger.
    pub fn fault_due(
        &self,
        transaction: &mut Transaction<'_>,
        op: Operation,
        body: &Body,
    ) -> Result<Option<DueFault>, LedgerFailure> {
        let object = (body.type_name.as_deref(), body.key.as_deref());
        fault::due(&self.faults, transaction, self.run.as_deref(), op, object)
    }

    /// The fault that the provider block asks for by the object's id, as that of tfcoremock can.
    pub fn fault_by_id(&self, op: Operation, id: Option<&str>) -> Option<DueFault> {
        let id = id?;
        let listed = self.settings.get(&format!("fail_on_{}", op.name()))?;
        listed.strings().contains(&id).then(|| DueFault::by_id(op, id))
    }

    /// Holds an operation that has begun.
    async fn hold(&self, ledger: &Ledger, begun: &Body) {
        let operation = Held { rank: (&begun.key, begun.before.is_some()), begin: begun.begin.unwrap_or(0) };
        hold(ledger, self, operation).await;
    }
}

/// A change that failed.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub problem: Problem,
    /// The object as it is now, where a part of the change took effect. Without it nothing did.
    pub partial: Option<Box<Changed>>,
    /// How the answer has to break the contract. Without it the answer is the problem.
    pub breach: Option<Breach>,
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self { problem, partial: None, breach: None }
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

/// An object as it is after a change, with its id in the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its id.
    pub id: String,
    /// The object.
    pub object: Object,
}

/// Creates an object.
pub async fn create(
    ledger: &Ledger,
    resource: &ResourceType,
    caller: &Caller,
    planned: &Object,
) -> Result<Changed, Failed> {
    ledger.wire().touch();
    let mut transaction = lock_to_begin(ledger, caller).await?;
    let digest = resource.digest(planned);
    let nth = match resource.ids {
        Ids::Random => 0,
        Ids::Seeded { .. } => transaction.creations(&resource.name, digest)?,
    };
    let id = resource.mint(digest, nth);
    let mut object = planned.clone();
    compute::finish(&resource.schema.block, &mut object, &context(resource, &id, &id));
    known(resource, &object)?;

    let mut body = body(resource, caller, &object, &id);
    body.after = Some(resource.attributes_of(&object));
    let fault = begin(transaction, caller, Operation::Create, &mut body)?;
    caller.hold(ledger, &body).await;
    if let Some(fault) = fault.as_ref().filter(|fault| !fault.takes_effect()) {
        return give_up(ledger, Operation::Create, body, fault).await;
    }
    if break_plan(fault.as_ref(), &mut object) {
        body.after = Some(resource.attributes_of(&object));
    }
    ledger.lock().await?.append(Operation::Create, Phase::Commit, body)?;
    answer(Changed { id, object }, fault)
}

/// What values are made for.
fn context<'a>(resource: &'a ResourceType, id: &'a str, salt: &str) -> Context<'a> {
    let seed = match &resource.ids {
        Ids::Random => "",
        Ids::Seeded { seed, .. } => seed,
    };
    Context { type_name: &resource.name, id, salt: Salt::new(&[seed, id, salt]) }
}

/// Updates an object in place.
pub async fn update(
    ledger: &Ledger,
    resource: &ResourceType,
    caller: &Caller,
    id: String,
    prior: &Object,
    planned: &Object,
) -> Result<Changed, Failed> {
    ledger.wire().touch();
    let mut object = planned.clone();
    let mut transaction = lock_to_begin(ledger, caller).await?;
    let before = transaction.by_id(&id)?;
    raise_revision(resource, &mut object, before.as_deref());
    let salt = format!("{} {}", resource.digest(prior), resource.digest(planned));
    compute::finish(&resource.schema.block, &mut object, &context(resource, &id, &salt));
    known(resource, &object)?;
    let mut asked = body(resource, caller, &object, &id);
    asked.before = before.as_deref().and_then(|entry| entry.after.clone());
    asked.after = Some(resource.attributes_of(&object));
    let fault = begin(transaction, caller, Operation::Update, &mut asked)?;
    caller.hold(ledger, &asked).await;
    if let Some(fault) = fault.as_ref().filter(|fault| !fault.takes_effect()) {
        return give_up(ledger, Operation::Update, asked, fault).await;
    }

    // Between the two the object may have been changed, or deleted, by someone else.
    let mut transaction = ledger.lock().await?;
    let before = transaction.by_id(&id)?;
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
    let is_partial = |fault: &DueFault| fault.action == FaultAction::ErrorWithPartialObject;
    if fault.as_ref().is_some_and(is_partial) {
        object = part_of(resource, resource.object_of(&before)?, prior, &object);
        asked.refs = references::of(resource, &object, Some(&id));
    }
    break_plan(fault.as_ref(), &mut object);
    raise_revision(resource, &mut object, Some(&before));
    asked.before = before.after.clone();
    asked.after = Some(resource.attributes_of(&object));
    transaction.append(Operation::Update, Phase::Commit, asked)?;
    answer(Changed { id, object }, fault)
}

/// An object of whose change only a part took effect: the label, or in a type without one, the first attribute that was
/// to change.
fn part_of(resource: &ResourceType, mut part: Object, prior: &Object, asked: &Object) -> Object {
    let block = &resource.schema.block;
    secrets::restore(block, &mut part, prior);
    secrets::complete(block, &mut part);
    let differs = |name: &&str| part.get(*name) != asked.get(*name);
    let mut given = block.attributes.iter().filter(|a| !a.origin.is_computed()).map(|a| a.name.as_str());
    let first = match block.attribute(node::LABEL) {
        Some(_) => Some(node::LABEL),
        None => given.find(differs),
    };
    if let Some(name) = first {
        part.insert(name.to_owned(), asked.get(name).cloned().unwrap_or(Value::Null));
    }
    part
}

/// Gives an object a label that was not planned, or none, if the fault asks for that. Says whether it does.
fn break_plan(fault: Option<&DueFault>, object: &mut Object) -> bool {
    let Some(label) = fault.and_then(DueFault::breach).and_then(Breach::label) else { return false };
    object.insert(node::LABEL.to_owned(), label.map_or(Value::Null, Value::from));
    true
}

/// Deletes an object. One that is gone already is as good as deleted, and the ledger tells.
pub async fn delete(
    ledger: &Ledger,
    resource: &ResourceType,
    caller: &Caller,
    id: &str,
    prior: &Object,
) -> Result<(), Failed> {
    ledger.wire().touch();
    let mut asked = caller.body(resource, prior, Some(id));

    let mut transaction = lock_to_begin(ledger, caller).await?;
    asked.before = attributes_before(transaction.by_id(id)?);
    let fault = begin(transaction, caller, Operation::Delete, &mut asked)?;
    caller.hold(ledger, &asked).await;
    if let Some(fault) = fault {
        return give_up(ledger, Operation::Delete, asked, &fault).await;
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
) -> Result<Option<DueFault>, LedgerFailure> {
    let attributes = asked.after.as_ref().or(asked.before.as_ref());
    let shown = attributes.and_then(|attributes| attributes.get(node::ID)?.as_str());
    let fault = match caller.fault_by_id(op, shown) {
        Some(fault) => Some(fault),
        None => caller.fault_due(&mut transaction, op, asked)?,
    };
    asked.fault = fault.as_ref().map(|fault| fault.text.clone());
    asked.begin = Some(transaction.append(op, Phase::Begin, caller.with_sent(asked.clone()))?);
    Ok(fault)
}

/// Ends an operation that fails on demand without an effect.
async fn give_up<T>(ledger: &Ledger, op: Operation, mut asked: Body, fault: &DueFault) -> Result<T, Failed> {
    let problem = fault.problem();
    (asked.after, asked.refs) = (None, Vec::new());
    asked.error = Some(problem.summary.clone());
    ledger.lock().await?.append(op, Phase::Fail, asked)?;
    Err(Failed { breach: fault.breach(), ..problem.into() })
}

/// The answer to a change that took effect, at least in part.
fn answer(changed: Changed, fault: Option<DueFault>) -> Result<Changed, Failed> {
    match fault {
        None => Ok(changed),
        Some(fault) => {
            Err(Failed { problem: fault.problem(), partial: Some(changed.into()), breach: fault.breach() })
        }
    }
}

fn attributes_before(entry: Option<Arc<Entry>>) -> Option<equiform_proto::ledger::Attributes> {
    entry.and_then(|entry| entry.after.clone())
}

fn body(resource: &ResourceType, caller: &Caller, object: &Object, id: &str) -> Body {
    Body { refs: references::of(resource, object, Some(id)), ..caller.body(resource, object, Some(id)) }
}

/// Counts one more change of the object as it is in the world: it may have drifted since the engine looked.
fn raise_revision(resource: &ResourceType, object: &mut Object, before: Option<&Entry>) {
    for attribute in resource.schema.block.attributes.iter().filter(|a| a.rule == Rule::Revision) {
        let before = before.and_then(|entry| entry.after.as_ref()?.get(&attribute.name)?.as_i64());
        let revision = before.unwrap_or(0).saturating_add(1);
        object.insert(attribute.name.clone(), Value::Number(Number::from(revision)));
    }
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
