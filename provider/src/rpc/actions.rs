//! Actions: what an engine asks for beside the life of resources. `mock_touch` changes a node behind the back of its
//! resource, with progress to tell.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use equiform_proto::ledger::{Operation, Phase};
use equiform_proto::tfplugin6::invoke_action::{Event, event};
use equiform_proto::tfplugin6::{ActionSchema, invoke_action, plan_action, validate_action_config};
use tokio::sync::mpsc::Sender;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use super::builtin::{Part, Set, block, part, type_of};
use super::convert::{diagnostics, object_from};
use super::note::noted;
use super::state_stores::Events;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger};
use crate::resource::apply::{Caller, references};
use crate::resource::{ResourceType, attributes_of, find, node, text};
use crate::value::{Number, Object, Type, Value, json};

/// The one type of the mock's own.
pub(super) const TOUCH: &str = "mock_touch";
const KEY: &str = "key";
const TIMES: &str = "times";
/// Nobody needs more, and each is a line in the ledger.
const MOST_TIMES: i64 = 1000;

static PARTS: LazyLock<[Part; 2]> = LazyLock::new(|| {
    [
        part(KEY, Type::String, Set::Required, "The key of the node to touch: its revision rises by one."),
        part(TIMES, Type::Number, Set::Optional, "How often to touch it, at most 1000. Without it, once."),
    ]
});

impl MockProvider {
    pub(super) fn action_schemas(&self) -> HashMap<String, ActionSchema> {
        let schema = Some(block("Touches a node behind the back of its resource.", &*PARTS));
        HashMap::from([(TOUCH.to_owned(), ActionSchema { schema })])
    }

    /// The action's configuration; what is not known yet is left out of the check.
    fn action_config(
        &self,
        type_name: &str,
        config: Option<&equiform_proto::tfplugin6::DynamicValue>,
    ) -> Result<Object, Problem> {
        if type_name != TOUCH {
            return Err(Problem::engine(format!(
                "It asked for the action {type_name:?}, which is not in the provider's schema."
            )));
        }
        let config = object_from(config, &type_of(&*PARTS))?;
        times(&config)?;
        Ok(config)
    }

    pub(super) fn validate_action(
        &self,
        request: &validate_action_config::Request,
    ) -> validate_action_config::Response {
        let result = self.action_config(&request.type_name, request.config.as_ref());
        validate_action_config::Response { diagnostics: diagnostics(result.err()) }
    }

    pub(super) async fn plan_action(
        &self,
        session: &Session,
        request: plan_action::Request,
    ) -> plan_action::Response {
        let planned = async {
            let config = self.action_config(&request.action_type, request.config.as_ref())?;
            let (ledger, caller) = self.configured(session)?;
            let body = action_body(&caller, &request.action_type, &config);
            noted(&ledger, &caller, Operation::Plan, body, Ok(()), |()| None).await
        };
        plan_action::Response { diagnostics: diagnostics(planned.await.err()), deferred: None }
    }

    pub(super) async fn invoke(&self, session: &Session, request: invoke_action::Request) -> Events<Event> {
        let (events, receiver) = tokio::sync::mpsc::channel(16);
        let prepared = self
            .action_config(&request.action_type, request.config.as_ref())
            .and_then(|config| Ok((config, self.configured(session)?)));
        let resource = Arc::clone(&self.resource);
        // A task of its own: what has begun goes on to its end, also if the engine hangs up meanwhile.
        tokio::spawn(async move {
            let done = match prepared {
                Ok((config, (ledger, caller))) => {
                    let body = action_body(&caller, &request.action_type, &config);
                    touch(&ledger, &caller, &resource, &config, body, &events).await
                }
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

fn action_body(caller: &Caller, type_name: &str, config: &Object) -> Body {
    let mut body = Body {
        type_name: Some(type_name.to_owned()),
        key: text(config, KEY).map(str::to_owned),
        mode: Some("action".to_owned()),
        ..caller.signature()
    };
    body.sent.config = Some(json::digest(config));
    body
}

/// Touches a node as often as it was asked for, between a begin and an end in the ledger.
async fn touch(
    ledger: &Ledger,
    caller: &Caller,
    resource: &ResourceType,
    config: &Object,
    mut body: Body,
    events: &Sender<Result<Event, Status>>,
) -> Result<(), Problem> {
    let (key, times) = (text(config, KEY).unwrap_or_default(), times(config)?);
    body.begin = Some(ledger.lock().await?.append(Operation::Invoke, Phase::Begin, body.clone())?);
    let touched = async {
        for time in 1..=times {
            if caller.stopped.is_cancelled() {
                return Err(Problem::stopped());
            }
            touch_once(ledger, caller, resource, key).await?;
            let message = format!("touched {key} for the {time}. time of {times}");
            tell(events, event::Type::Progress(event::Progress { message })).await;
        }
        Ok(())
    };
    let touched = touched.await;
    let phase = match &touched {
        Ok(()) => Phase::Commit,
        Err(problem) => {
            body.error = Some(problem.summary.clone());
            Phase::Fail
        }
    };
    ledger.lock().await?.append(Operation::Invoke, phase, body)?;
    touched
}

async fn touch_once(
    ledger: &Ledger,
    caller: &Caller,
    resource: &ResourceType,
    key: &str,
) -> Result<(), Problem> {
    let found = find::by_key(ledger, resource, key).await?;
    let id = text(&found, node::ID).unwrap_or_default();
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
        refs: references(resource, &after),
        before: Some(attributes_of(&before)),
        after: Some(attributes_of(&after)),
        ..caller.body(resource, &after)
    };
    transaction.append(Operation::Drift, Phase::Commit, body)?;
    Ok(())
}

/// How often to touch the node. A value that is not known yet is as good as none.
fn times(config: &Object) -> Result<i64, Problem> {
    match config.get(TIMES) {
        Some(Value::Number(number)) => match number.as_i64() {
            Some(times @ 1..=MOST_TIMES) => Ok(times),
            _ => Err(Problem::new(
                "The number of touches is out of range",
                format!("`{TIMES}` is a whole number, at least 1 and at most {MOST_TIMES}."),
            )
            .at(TIMES)),
        },
        _ => Ok(1),
    }
}
