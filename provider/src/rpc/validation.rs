//! Validating resources. There may be no ledger yet, so calls that are told to fail are counted here and not by it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;

use equiform_proto::tfplugin6::validate_resource_config;

use super::convert::{diagnostics, object_from};
use super::session::EngineCommand;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::failure::Target;
use crate::resource::node;
use crate::value::Value;

/// How often each key was validated in the commands that engines are running, where it matters.
#[derive(Default)]
pub struct Validations(Mutex<Vec<(EngineCommand, HashMap<String, u64>)>>);

impl Validations {
    /// Counts one more, and says which it is.
    fn next(&self, session: &Session, key: &str) -> u64 {
        let command = session.engine_command();
        let mut commands = self.0.lock().expect("no holder panics");
        // An engine runs one command at a time, so its earlier ones are over.
        commands.retain(|(other, _)| {
            let alive = other.host.pid().is_none_or(|pid| Path::new(&format!("/proc/{pid}")).exists());
            *other == command || (other.host != command.host && alive)
        });
        if !commands.iter().any(|(other, _)| *other == command) {
            commands.push((command.clone(), HashMap::new()));
        }
        let counts = commands.iter_mut().find(|(other, _)| *other == command);
        let count = counts.map(|(_, counts)| counts.entry(key.to_owned()).or_default());
        count.map_or(1, |count| {
            *count += 1;
            *count
        })
    }
}

impl MockProvider {
    pub(super) fn validate_resource(
        &self,
        session: &Session,
        request: validate_resource_config::Request,
    ) -> validate_resource_config::Response {
        let result = self
            .known_type(&request.type_name)
            .and_then(|()| object_from(request.config.as_ref(), &self.resource.object_type))
            .and_then(|config| match config.get(node::KEY) {
                Some(Value::String(key)) if key.is_empty() => Err(Problem::new(
                    "A node needs a name",
                    "`key` is the node's name in the graph and must not be empty.",
                )
                .at(node::KEY)),
                Some(Value::String(key)) => self.fail_validation_if_told(session, key),
                _ => Ok(()),
            });
        validate_resource_config::Response { diagnostics: diagnostics(result.err()) }
    }

    fn fail_validation_if_told(&self, session: &Session, key: &str) -> Result<(), Problem> {
        let failures = session.failures();
        if !failures.concern(Target::Validate, key) {
            return Ok(());
        }
        let nth = self.validations.next(session, key);
        failures.in_call(Target::Validate, key, nth).map_or(Ok(()), |failure| Err(failure.problem()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Host;
    use super::*;

    #[test]
    fn validations_are_counted_by_engine_and_key_over_its_connections() {
        let validations = Validations::default();
        let own = Host::Attached { pid: Some(std::process::id()) };
        let (first, second) = (Session::new(own), Session::new(own));
        let other = Session::new(Host::Parent { pid: None });
        assert_eq!(validations.next(&first, "a"), 1);
        assert_eq!(validations.next(&other, "a"), 1);
        assert_eq!(validations.next(&second, "a"), 2);
        assert_eq!(validations.next(&second, "b"), 1);
        assert_eq!(validations.next(&other, "a"), 2);
    }
}
