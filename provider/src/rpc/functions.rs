//! Functions. They are pure: engines call them without a configuration, as often as they like, and no ledger tells.

use std::collections::HashMap;

use equiform_proto::tfplugin6::{Function, FunctionError, call_function, function, get_functions};

use super::MockProvider;
use super::convert::{type_to, value_from, value_to};
use crate::diagnostic::Problem;
use crate::value::{Type, Value};

/// The one function of the mock's own.
const GRAPH_KEY: &str = "graph_key";

/// Why a call has no result, and which argument is to blame.
struct Refused {
    text: String,
    argument: Option<usize>,
}

impl From<Problem> for Refused {
    fn from(problem: Problem) -> Self {
        Self { text: format!("{}: {}", problem.summary, problem.detail), argument: None }
    }
}

impl MockProvider {
    pub(super) fn own_functions(&self) -> HashMap<String, Function> {
        let parts = function::Parameter {
            name: "parts".to_owned(),
            r#type: type_to(&Type::String),
            description: "The parts of the key, from the outermost to the innermost.".to_owned(),
            ..function::Parameter::default()
        };
        let function = Function {
            variadic_parameter: Some(parts),
            r#return: Some(function::Return { r#type: type_to(&Type::String) }),
            summary: "A key for a node, from its parts".to_owned(),
            description:
                "Joins the parts with dots, such as `a.0` from `a` and `0`: modules and instances get keys \
                          that no other has, as long as the parts have no dots."
                    .to_owned(),
            ..Function::default()
        };
        HashMap::from([(GRAPH_KEY.to_owned(), function)])
    }

    pub(super) fn functions(&self) -> get_functions::Response {
        get_functions::Response { functions: self.own_functions(), diagnostics: Vec::new() }
    }

    pub(super) fn call(&self, request: &call_function::Request) -> call_function::Response {
        let result = match request.name.as_str() {
            GRAPH_KEY => graph_key(request),
            name => {
                Err(Problem::engine(format!("It called {name:?}, which is not in the provider's schema."))
                    .into())
            }
        };
        match result {
            Ok(value) => {
                call_function::Response { result: Some(value_to(&value, &Type::String)), error: None }
            }
            Err(Refused { text, argument }) => {
                let function_argument = argument.and_then(|argument| i64::try_from(argument).ok());
                let error = Some(FunctionError { text, function_argument });
                call_function::Response { result: None, error }
            }
        }
    }
}

fn graph_key(request: &call_function::Request) -> Result<Value, Refused> {
    let mut key = String::new();
    for (place, argument) in request.arguments.iter().enumerate() {
        let blame = |text: &str| Refused { text: text.to_owned(), argument: Some(place) };
        match value_from(Some(argument), &Type::String)? {
            Value::String(part) if part.is_empty() => {
                return Err(blame("A part of a key must not be empty."));
            }
            Value::String(part) if part.contains('.') => {
                return Err(blame(
                    "A part of a key must not have a dot in it: that stands between the parts.",
                ));
            }
            Value::String(part) if key.is_empty() => key = part,
            Value::String(part) => key = format!("{key}.{part}"),
            _ => return Err(blame("A part of a key must be a known text.")),
        }
    }
    if key.is_empty() {
        return Err(Refused { text: "A key has at least one part.".to_owned(), argument: None });
    }
    Ok(Value::String(key))
}
