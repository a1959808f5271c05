//! The provider block: validating it, configuring from it, and stopping what it started.

use std::path::PathBuf;
use std::sync::Arc;

use equiform_proto::faults::{Faults, InvalidFaults};
use equiform_proto::holds::{Hold, InvalidHold};
use equiform_proto::ledger::{Operation, Phase};
use equiform_proto::tfplugin6::{DynamicValue, configure_provider, stop_provider, validate_provider_config};

use super::convert::{diagnostics, object_from};
use super::note::noted;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::{Body, Ledger};
use crate::resource::apply::Caller;
use crate::schema::{Attribute, Block, Origin, Schema, Shape};
use crate::value::{Object, Type, Value};

const LEDGER: &str = "ledger";
const RUN: &str = "run";
const HOLD: &str = "hold";
const FAULTS: &str = "faults";
const TYPES: &str = "types";
/// The environment's word for `ledger`; the provider block wins.
pub const LEDGER_VARIABLE: &str = "EQUIFORM_LEDGER";
/// The environment's word for `run`; the provider block wins.
pub const RUN_VARIABLE: &str = "EQUIFORM_RUN";
/// The environment's word for `hold`; the provider block wins.
pub const HOLD_VARIABLE: &str = "EQUIFORM_HOLD";
/// The environment's word for `faults`; the provider block wins.
pub const FAULTS_VARIABLE: &str = "EQUIFORM_FAULTS";
/// The ledger if neither says another.
pub const DEFAULT_LEDGER: &str = "equiform.ledger.jsonl";

/// How a host configured the provider.
#[derive(Clone)]
pub struct Configuration {
    /// The ledger; `None` while its name is not known yet.
    ledger: Option<Arc<Ledger>>,
    /// Who asks.
    caller: Caller,
}

impl std::fmt::Debug for Configuration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.ledger.as_ref().map(|ledger| ledger.path());
        f.debug_struct("Configuration").field("ledger", &path).field("caller", &self.caller).finish()
    }
}

impl Configuration {
    /// Writes into the ledger that it was configured.
    async fn noted(&self, session: &Session) -> Result<(), Problem> {
        let Some(ledger) = &self.ledger else { return Ok(()) };
        let caller = Caller { request: Some(session.request()), ..self.caller.clone() };
        let hold = Some(caller.hold).filter(|hold| *hold != Hold::Off);
        let body = Body { hold, ..caller.signature() };
        noted(ledger, &caller, Operation::Configure, body, Ok(()), |()| None).await
    }
}

/// What fails on demand: by the provider block, or by the host.
fn faults(session: &Session, config: &Object) -> Result<Arc<Faults>, Problem> {
    match config.get(FAULTS) {
        Some(Value::String(list)) => faults_from(list),
        Some(Value::Unknown) => Ok(Arc::default()),
        _ => faults_of_host(session),
    }
}

/// What fails on demand if the provider block does not say: by the run, or by the variable.
pub(super) fn faults_of_host(session: &Session) -> Result<Arc<Faults>, Problem> {
    match session.host.run() {
        Some(run) => Ok(Arc::new(run.settings.faults.clone())),
        None => faults_from(&session.variable(FAULTS_VARIABLE)?.unwrap_or_default().to_string_lossy()),
    }
}

fn faults_from(list: &str) -> Result<Arc<Faults>, Problem> {
    list.parse().map(Arc::new).map_err(|error: InvalidFaults| {
        Problem::new(
            "The list of faults cannot be used",
            format!(
                "{error}. `faults` in the provider block or {FAULTS_VARIABLE} is that list; leave both out, and \
                 nothing fails on demand."
            ),
        )
        .at(FAULTS)
    })
}

/// How operations are held: by the provider block, by the run, or by the variable.
fn hold(session: &Session, config: &Object) -> Result<Hold, Problem> {
    match (config.get(HOLD), session.host.run()) {
        (Some(Value::String(hold)), _) => hold_from(hold),
        (Some(Value::Unknown), _) => Ok(Hold::Off),
        (_, Some(run)) => Ok(run.settings.hold),
        (_, None) => match session.variable(HOLD_VARIABLE)? {
            Some(hold) => hold_from(&hold.to_string_lossy()),
            None => Ok(Hold::Off),
        },
    }
}

fn hold_from(text: &str) -> Result<Hold, Problem> {
    text.parse().map_err(|error: InvalidHold| {
        Problem::new(
            "It is not clear how operations are held",
            format!(
                "{error}. `hold` in the provider block or {HOLD_VARIABLE} says it; leave both out for off."
            ),
        )
        .at(HOLD)
    })
}

/// The label of the run.
fn label(session: &Session, config: &Object) -> Result<Option<String>, Problem> {
    match (config.get(RUN), session.host.run()) {
        (Some(Value::String(label)), _) => Ok(Some(label.clone())),
        (Some(Value::Unknown), _) => Ok(None),
        (_, Some(run)) => Ok(run.settings.label.clone()),
        (_, None) => Ok(session.variable(RUN_VARIABLE)?.map(|label| label.to_string_lossy().into_owned())),
    }
}

/// The ledger's file; none if its name is not known yet.
fn ledger_file(session: &Session, config: &Object) -> Result<Option<PathBuf>, Problem> {
    let path = match (config.get(LEDGER), session.host.run()) {
        (Some(Value::String(path)), _) => PathBuf::from(path),
        (Some(Value::Unknown), _) => return Ok(None),
        (_, Some(run)) => run.settings.ledger.clone(),
        (_, None) => session.variable(LEDGER_VARIABLE)?.unwrap_or_else(|| DEFAULT_LEDGER.into()).into(),
    };
    if path.is_absolute() { Ok(Some(path)) } else { Ok(Some(session.host.working_directory()?.join(path))) }
}

/// The provider block's attributes.
pub fn schema() -> Schema {
    let text = |name, description: &str| Attribute {
        description: description.to_owned(),
        ..Attribute::new(name, Shape::Plain(Type::String), Origin::Optional)
    };
    let block = Block {
        description: "A provider without side effects: its ledger is the cloud.".to_owned(),
        attributes: vec![
            text(
                LEDGER,
                "The ledger's file. Without it EQUIFORM_LEDGER names it, and without that it is \
                 equiform.ledger.jsonl in the working directory.",
            ),
            text(
                RUN,
                "A label that every entry of this run carries in the ledger. Without it EQUIFORM_RUN gives it.",
            ),
            text(
                HOLD,
                "How operations are held between their begin and their end, so that those that the engine allows to \
                 overlap do overlap: off, a time such as 5ms, or quiet (until the engine sends nothing more; \
                 quiet:SEED says which one then goes on first, quiet:5ms after how long without a request). \
                 Without it EQUIFORM_HOLD says so, and without that it is off.",
            ),
            text(
                FAULTS,
                "The operations that fail on demand, as JSON: \
                 jsonencode({version = 1, faults = [{match = {operation = \"create\", key = \"r1\"}, \
                 action = \"error\"}]}). \
                 `operation` is create, update, delete, read, plan, validate or configure (which has no key), `nth` \
                 says which call of it on that key in the run, `action` is error (nothing takes effect) or, for create \
                 and update, error_with_partial_object. Without it EQUIFORM_FAULTS says so, and without that nothing \
                 fails.",
            ),
            text(
                TYPES,
                "The file with types of your own. Engines ask for the schema before they show this block, so the file \
                 is found by EQUIFORM_TYPES, or as equiform.types.json in the working directory; what stands here is \
                 checked against it.",
            ),
        ],
        ..Block::default()
    };
    Schema { version: 0, block }
}

impl MockProvider {
    pub(super) fn validate_configuration(
        &self,
        session: &Session,
        request: validate_provider_config::Request,
    ) -> validate_provider_config::Response {
        let result = self.provider_block(session, request.config.as_ref()).and_then(|(config, _)| {
            if let Some(Value::String(hold)) = config.get(HOLD) {
                hold_from(hold)?;
            }
            session.set_faults(faults(session, &config)?);
            match config.get(LEDGER) {
                Some(Value::String(path)) if path.is_empty() => Err(Problem::new(
                    "The ledger has no name",
                    "`ledger` is the name of a file. Leave it out for the default, equiform.ledger.jsonl.",
                )
                .at(LEDGER)),
                _ => Ok(()),
            }
        });
        validate_provider_config::Response { diagnostics: diagnostics(result.err()) }
    }

    pub(super) async fn configure(
        &self,
        session: &Arc<Session>,
        request: configure_provider::Request,
    ) -> configure_provider::Response {
        let stopped = session.stopped();
        let result = match self.provider_block(session, request.config.as_ref()) {
            // A new ledger may be locked by another process; a stop ends the wait.
            Ok((config, settings)) => tokio::select! {
                biased;
                configuration = self.configuration(session, &config, settings) => configuration,
                () = stopped.cancelled() => Err(Problem::stopped()),
            },
            Err(problem) => Err(problem),
        };
        let problem = match result {
            Ok(configuration) => {
                // What an engine does after a failure has to show in the ledger, so it is configured all the same.
                let noted = configuration.noted(session).await;
                if session.host.pid().is_some() || session.host.run().is_some() {
                    let mut configured = self.configured.lock().expect("no holder panics");
                    // What commands that are over used is let go.
                    configured.retain(|(host, _)| host.is_alive() && *host != session.host);
                    configured.push((session.host.clone(), configuration.clone()));
                }
                *session.configuration.lock().expect("no holder panics") = Some(configuration);
                noted.err()
            }
            Err(problem) => Some(problem),
        };
        configure_provider::Response { diagnostics: diagnostics(problem) }
    }

    /// Our settings in the provider block, and another provider's. The block of one that is stood in for has none of
    /// ours: they all come by variables.
    fn provider_block(
        &self,
        session: &Session,
        config: Option<&DynamicValue>,
    ) -> Result<(Object, Object), Problem> {
        let types = self.types(session)?;
        if let Some(schema) = types.provider_schema()? {
            let theirs = object_from(config, &schema.object_type())?;
            return Ok((Object::new(), theirs));
        }
        let config = object_from(config, &schema().object_type())?;
        match config.get(TYPES) {
            Some(Value::String(path)) => {
                self.check_types(session, path)?;
                Ok((config, Object::new()))
            }
            _ => Ok((config, Object::new())),
        }
    }

    async fn configuration(
        &self,
        session: &Session,
        config: &Object,
        settings: Object,
    ) -> Result<Configuration, Problem> {
        let (run, path) = (label(session, config)?, ledger_file(session, config)?);
        let (hold, faults) = (hold(session, config)?, faults(session, config)?);
        let ledger = match path {
            Some(path) => Some(self.ledger(&path).await?),
            None => None,
        };
        session.set_faults(faults.clone());
        let caller = Caller {
            run,
            engine_pid: session.host.pid(),
            session: Some(session.number),
            hold,
            faults,
            settings: Arc::new(settings),
            ..Caller::default()
        };
        Ok(Configuration { ledger, caller })
    }

    /// How a host configured the provider, on this connection or on another of the same command.
    fn configuration_of(&self, session: &Session) -> Option<Configuration> {
        let own = session.configuration.lock().expect("no holder panics").clone();
        own.or_else(|| {
            let configured = self.configured.lock().expect("no holder panics");
            let of_host = configured.iter().find(|(host, _)| *host == session.host);
            of_host.map(|(_, configuration)| configuration.clone())
        })
    }

    /// Whether the provider is configured with a ledger whose name is not known yet.
    pub(super) fn ledger_is_unknown(&self, session: &Session) -> bool {
        self.configuration_of(session).is_some_and(|configuration| configuration.ledger.is_none())
    }

    /// The ledger that a host's requests go to, and how they sign.
    pub(super) fn configured(&self, session: &Session) -> Result<(Arc<Ledger>, Caller), Problem> {
        match self.configuration_of(session) {
            Some(Configuration { ledger: Some(ledger), caller }) => {
                let (number, request) = (Some(session.number), Some(session.request()));
                Ok((ledger, Caller { session: number, request, stopped: session.stopped(), ..caller }))
            }
            Some(Configuration { ledger: None, .. }) => Err(Problem::new(
                "The ledger's name is not known yet",
                "`ledger` in the provider block depends on something that is only known after apply. Give it a \
                 value that is known when the engine plans.",
            )
            .at(LEDGER)),
            None => Err(Problem::engine("It used the provider without configuring it first.")),
        }
    }

    pub(super) fn stop(&self, session: &Session) -> stop_provider::Response {
        session.stop();
        // A stop is answered at once; the ledger may be locked by another. What was told to stop is stopped
        // in any case, so it does no harm if this line cannot be written.
        if let Ok((ledger, caller)) = self.configured(session) {
            let note = async move { ledger.note(Operation::Stop, Phase::Commit, caller.signature()).await };
            tokio::spawn(note);
        }
        stop_provider::Response { error: String::new() }
    }
}
