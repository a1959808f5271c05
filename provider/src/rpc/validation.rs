//! Validating resources. There may be no ledger yet, so calls that a fault may meet are counted here and not by it.

use std::collections::HashMap;
use std::sync::Mutex;

use equiform_proto::tfplugin6::validate_resource_config;

use super::convert::{diagnostics, object_from};
use super::{Host, MockProvider, Session};
use crate::diagnostic::Problem;
use crate::fault;
use crate::resource::node;
use crate::schema::{Attribute, Block, Shape};
use crate::value::{Object, PathStep, Value};

/// How often each key was validated in the commands that engines are running, where it matters.
#[derive(Default)]
pub struct Validations(Mutex<Vec<(Host, HashMap<String, u64>)>>);

impl Validations {
    /// Counts one more, and says which it is.
    fn next(&self, session: &Session, key: &str) -> u64 {
        let command = &session.host;
        let mut commands = self.0.lock().expect("no holder panics");
        commands.retain(|(other, _)| other == command || other.is_alive());
        if !commands.iter().any(|(other, _)| other == command) {
            commands.push((command.clone(), HashMap::new()));
        }
        let counts = commands.iter_mut().find(|(other, _)| other == command);
        let count = counts.map(|(_, counts)| counts.entry(key.to_owned()).or_default());
        count.map_or(1, |count| {
            *count += 1;
            *count
        })
    }
}

/// What is wrong with a configuration by the checks of its schema.
pub(super) fn checked(block: &Block, config: &Object) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_block(block, config, &mut Vec::new(), &mut problems);
    problems
}

fn check_block(block: &Block, object: &Object, path: &mut Vec<PathStep>, problems: &mut Vec<Problem>) {
    check_attributes(&block.attributes, object, path, problems);
    for nested in &block.blocks {
        path.push(PathStep::Attribute(nested.name.clone()));
        if let Some(value) = object.get(&nested.name) {
            each_at(value, path, &mut |object, path| check_block(&nested.block, object, path, problems));
        }
        path.pop();
    }
}

fn check_attributes(
    attributes: &[Attribute],
    object: &Object,
    path: &mut Vec<PathStep>,
    problems: &mut Vec<Problem>,
) {
    for attribute in attributes {
        let Some(value) = object.get(&attribute.name) else { continue };
        path.push(PathStep::Attribute(attribute.name.clone()));
        for broken in attribute.checks.iter().filter_map(|check| check.broken_by(value, object)) {
            let summary = format!("The value of {:?} is not allowed", attribute.name);
            problems.push(Problem { path: path.clone(), ..Problem::new(summary, broken) });
        }
        if let Shape::Nested(_, inner) = &attribute.shape {
            each_at(value, path, &mut |object, path| check_attributes(inner, object, path, problems));
        }
        path.pop();
    }
}

/// Each object of a nested attribute or of nested blocks, with the way to it. Elements of a set have none of their own.
fn each_at(value: &Value, path: &mut Vec<PathStep>, look: &mut dyn FnMut(&Object, &mut Vec<PathStep>)) {
    match value {
        Value::Object(object) => look(object, path),
        Value::Set(elements) => elements.iter().for_each(|element| each_at(element, &mut path.clone(), look)),
        Value::List(elements) => {
            for (index, element) in elements.iter().enumerate() {
                path.push(PathStep::Index(index));
                each_at(element, path, look);
                path.pop();
            }
        }
        Value::Map(elements) => {
            for (key, element) in elements {
                path.push(PathStep::Key(key.clone()));
                each_at(element, path, look);
                path.pop();
            }
        }
        _ => {}
    }
}

impl MockProvider {
    pub(super) fn validate_resource(
        &self,
        session: &Session,
        request: validate_resource_config::Request,
    ) -> validate_resource_config::Response {
        let result = self.resource_type(session, &request.type_name).and_then(|resource| {
            let config = object_from(request.config.as_ref(), &resource.object_type)?;
            let mut problems = checked(&resource.schema.block, &config);
            if resource.key.is_some()
                && let Some(Value::String(key)) = config.get(node::KEY)
            {
                if let Some(run) = session.host.run() {
                    run.validated(key);
                }
                let checked = if key.is_empty() {
                    Err(Problem::new(
                        "A node needs a name",
                        "`key` is the node's name in the graph and must not be empty.",
                    )
                    .at(node::KEY))
                } else {
                    self.fail_validation_on_demand(session, &request.type_name, key)
                };
                problems.extend(checked.err());
            }
            Ok(problems)
        });
        let problems = result.unwrap_or_else(|problem| vec![problem]);
        validate_resource_config::Response { diagnostics: diagnostics(problems) }
    }

    fn fail_validation_on_demand(
        &self,
        session: &Session,
        type_name: &str,
        key: &str,
    ) -> Result<(), Problem> {
        let count = || self.validations.next(session, key);
        let fault = fault::in_validation(&*session.faults()?, type_name, key, count);
        fault.map_or(Ok(()), |fault| Err(fault.problem()))
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
        let (first, second) = (Session::new(own.clone()), Session::new(own));
        let other = Session::new(Host::Parent { pid: None });
        assert_eq!(validations.next(&first, "a"), 1);
        assert_eq!(validations.next(&other, "a"), 1);
        assert_eq!(validations.next(&second, "a"), 2);
        assert_eq!(validations.next(&second, "b"), 1);
        assert_eq!(validations.next(&other, "a"), 2);
    }
}
