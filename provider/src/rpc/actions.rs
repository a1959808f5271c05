//! Actions: what an engine asks for beside the life of resources. `mock_touch` changes a node behind the back of its
//! resource; those of a provider that is stood in for say that they were done, and the ledger has them.

use std::sync::Arc;

use equiform_proto::ledger::{Operation, Phase};
use equiform_proto::tfplugin6::invoke_action::{Event, event};
use equiform_proto::tfplugin6::{DynamicValue, invoke_action, plan_action, validate_action_config};
use tokio::sync::mpsc::Sender;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::convert::{diagnostics, object_from};
use super::note::noted;
use super::state_stores::Events;
use super::validation::checked;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger};
use crate::resource::apply::Caller;
use crate::resource::{ResourceType, find, node, references, text};
use crate::types::schema_json::Family;
use crate::types::{DataType, Types, own};
use crate::value::{Number, Object, Value};

/// Nobody needs more, and each is a line in the ledger.
const MOST_TIMES: i64 = 1000;

/// An action that was asked for.
struct Asked {
    types: Arc<Types>,
    action: DataType,
    config: Object,
    /// How often to touch a node, where that is the action.
    times: Option<i64>,
}

impl Asked {
    fn body(&self, caller: &Caller) -> Body {
        let key = text(&self.config, own::KEY).filter(|_| self.times.is_some());
        let mut body = Body {
            type_name: Some(self.action.name.clone()),
            key: key.map(str::to_owned),
            mode: Some("action".to_owned()),
            provider: self.types.standin().map(|standin| standin.address.clone()),
            ..caller.signature()
        };
        body.sent.config = Some(self.action.digest(&self.config));
        body
    }
}

impl MockProvider {
    fn asked(
        &self,
        session: &Session,
        type_name: &str,
        config: Option<&DynamicValue>,
    ) -> Result<Asked, Problem> {
        let types = self.types(session)?;
        let action = types.other(Family::Action, type_name)?;
        let config = object_from(config, &action.object_type)?;
        let times = types.standin().is_none().then(|| times(&config)).transpose()?;
        Ok(Asked { types, action, config, times })
    }

    pub(super) fn validate_action(
        &self,
        session: &Session,
        request: &validate_action_config::Request,
    ) -> validate_action_config::Response {
        let asked = self.asked(session, &request.type_name, request.config.as_ref());
        let problems = match asked {
            Ok(asked) => checked(&asked.action.schema.block, &asked.config),
            Err(problem) => vec![problem],
        };
        validate_action_config::Response { diagnostics: diagnostics(problems) }
    }

    pub(super) async fn plan_action(
        &self,
        session: &Session,
        request: plan_action::Request,
    ) -> plan_action::Response {
        let planned = async {
            let asked = self.asked(session, &request.action_type, request.config.as_ref())?;
            let (ledger, caller) = self.configured(session)?;
            noted(&ledger, &caller, Operation::Plan, asked.body(&caller), Ok(()), |()| None).await
        };
        plan_action::Response { diagnostics: diagnostics(planned.await.err()), deferred: None }
    }

    pub(super) async fn invoke(&self, session: &Session, request: invoke_action::Request) -> Events<Event> {
        let (events, receiver) = tokio::sync::mpsc::channel(16);
        let prepared = self
            .asked(session, &request.action_type, request.config.as_ref())
            .and_then(|asked| Ok((asked, self.configured(session)?)));
        // A task of its own: what has begun goes on to its end, also if the engine hangs up meanwhile.
        tokio::spawn(async move {
            let done = match prepared {
                Ok((asked, (ledger, caller))) => invoked(&ledger, &caller, &asked, &events).await,
                Err(problem) => Err(problem),
            };
            let completed = event::Completed { diagnostics: diagnostics(done.err()) };
            tell(&events, event::Type::Completed(completed)).await;
        });
        Box::pin(ReceiverStream::new(receiver))
    }
}

async fn tell(events: &Sender<Result<Event, Status>>, event: event::Type) {
    // An engine that hung up is told nothing.
    let _ = events.send(Ok(Event { r#type: Some(event) })).await;
}

async fn progress(events: &Sender<Result<Event, Status>>, message: String) {
    tell(events, event::Type::Progress(event::Progress { message })).await;
}

/// Does what was asked for, between a begin and an end in the ledger.
async fn invoked(
    ledger: &Ledger,
    caller: &Caller,
    asked: &Asked,
    events: &Sender<Result<Event, Status>>,
) -> Result<(), Problem> {
    let mut body = asked.body(caller);
    body.begin = Some(ledger.lock().await?.append(Operation::Invoke, Phase::Begin, body.clone())?);
    let done = match asked.times {
        Some(times) => touch(ledger, caller, asked, times, events).await,
        None => {
            progress(events, format!("{} was invoked; a stand-in has nothing to do", asked.action.name))
                .await;
            Ok(())
        }
    };
    let phase = match &done {
        Ok(()) => Phase::Commit,
        Err(problem) => {
            body.error = Some(problem.summary.clone());
            Phase::Fail
        }
    };
    ledger.lock().await?.append(Operation::Invoke, phase, body)?;
    done
}

/// Touches a node as often as it was asked for.
async fn touch(
    ledger: &Ledger,
    caller: &Caller,
    asked: &Asked,
    times: i64,
    events: &Sender<Result<Event, Status>>,
) -> Result<(), Problem> {
    let key = text(&asked.config, own::KEY).unwrap_or_default();
    let node = asked.types.resource(node::NAME)?;
    for time in 1..=times {
        if caller.stopped.is_cancelled() {
            return Err(Problem::stopped());
        }
        touch_once(ledger, caller, &node, key).await?;
        progress(events, format!("touched {key}, {time} of {times}")).await;
    }
    Ok(())
}

async fn touch_once(
    ledger: &Ledger,
    caller: &Caller,
    resource: &ResourceType,
    key: &str,
) -> Result<(), Problem> {
    let found = find::by_key(ledger, resource, key).await?;
    let id = found.id.as_str();
    let mut transaction = ledger.lock().await?;
    // Looked up again under the lock: it may have been changed meanwhile, or deleted.
    let Some(entry) = transaction.by_id(id)? else {
        return Err(find::not_found(ledger, resource, id, "id"));
    };
    let before = resource.object_of(&entry)?;
    let mut after = before.clone();
    if let Some(Value::Number(revision)) = before.get(node::REVISION) {
        let next = revision.as_i64().unwrap_or(0).saturating_add(1);
        after.insert(node::REVISION.to_owned(), Value::Number(Number::from(next)));
    }
    let body = Body {
        refs: references::of(resource, &after, Some(id)),
        before: Some(resource.attributes_of(&before)),
        after: Some(resource.attributes_of(&after)),
        ..caller.body(resource, &after, Some(id))
    };
    transaction.append(Operation::Drift, Phase::Commit, body)?;
    Ok(())
}

/// How often to touch the node. A value that is not known yet is as good as none.
fn times(config: &Object) -> Result<i64, Problem> {
    match config.get(own::TIMES) {
        Some(Value::Number(number)) => match number.as_i64() {
            Some(times @ 1..=MOST_TIMES) => Ok(times),
            _ => Err(Problem::new(
                "The number of touches is out of range",
                format!("`{}` is a whole number, at least 1 and at most {MOST_TIMES}.", own::TIMES),
            )
            .at(own::TIMES)),
        },
        _ => Ok(1),
    }
}
