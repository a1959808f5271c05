//! Functions. They are pure: engines call them without a configuration, as often as they like, and no ledger tells.

use std::collections::HashMap;

use equiform_proto::tfplugin6::{Function as Message, FunctionError, call_function, function, get_functions};

use super::convert::{diagnostics, type_to, value_from, value_to};
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::types::Types;
use crate::types::functions::{Function, Parameter};
use crate::types::schema_json::Family;
use crate::value::{Type, Value};

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

/// All functions, as messages.
pub(super) fn all_functions(types: &Types) -> Result<HashMap<String, Message>, Problem> {
    let names = types.names(Family::Function).into_iter();
    names.map(|name| types.function(&name).map(|function| (name, function_to(function)))).collect()
}

fn function_to(function: Function) -> Message {
    let parameter = |parameter: Parameter| function::Parameter {
        name: parameter.name,
        r#type: type_to(&parameter.ty),
        allow_null_value: parameter.nullable,
        description: parameter.description,
        ..function::Parameter::default()
    };
    Message {
        parameters: function.parameters.into_iter().map(parameter).collect(),
        variadic_parameter: function.variadic.map(parameter),
        r#return: Some(function::Return { r#type: type_to(&function.gives) }),
        summary: function.summary,
        description: function.description,
        ..Message::default()
    }
}

impl MockProvider {
    pub(super) fn functions(&self, session: &Session) -> get_functions::Response {
        match self.types(session).and_then(|types| all_functions(&types)) {
            Ok(functions) => get_functions::Response { functions, diagnostics: Vec::new() },
            Err(problem) => get_functions::Response {
                diagnostics: diagnostics([problem]),
                ..get_functions::Response::default()
            },
        }
    }

    pub(super) fn call(
        &self,
        session: &Session,
        request: &call_function::Request,
    ) -> call_function::Response {
        match self.called(session, request) {
            Ok((value, ty)) => call_function::Response { result: Some(value_to(&value, &ty)), error: None },
            Err(Refused { text, argument }) => {
                let function_argument = argument.and_then(|argument| i64::try_from(argument).ok());
                let error = Some(FunctionError { text, function_argument });
                call_function::Response { result: None, error }
            }
        }
    }

    fn called(&self, session: &Session, request: &call_function::Request) -> Result<(Value, Type), Refused> {
        let types = self.types(session)?;
        let function = types.function(&request.name)?;
        let mut arguments = Vec::new();
        for (place, argument) in request.arguments.iter().enumerate() {
            let blame = |text: String| Refused { text, argument: Some(place) };
            let parameter = function.parameter(place);
            let parameter =
                parameter.ok_or_else(|| blame("There is no parameter for this argument.".to_owned()))?;
            let value = value_from(Some(argument), &parameter.ty)?;
            if !value.is_wholly_known() {
                return Err(blame("The argument is not known yet.".to_owned()));
            }
            if value == Value::Null && !parameter.nullable {
                return Err(blame("The argument must not be null.".to_owned()));
            }
            arguments.push(value);
        }
        if arguments.len() < function.parameters.len() {
            let text = format!("It takes {} arguments.", function.parameters.len());
            return Err(Refused { text, argument: None });
        }
        let value = match types.standin() {
            Some(_) => types.made_up_result(&function, &arguments),
            None => graph_key(&arguments)?,
        };
        Ok((value, function.gives))
    }
}

fn graph_key(parts: &[Value]) -> Result<Value, Refused> {
    let mut key = String::new();
    for (place, part) in parts.iter().filter_map(Value::as_str).enumerate() {
        let blame = |text: &str| Refused { text: text.to_owned(), argument: Some(place) };
        if part.is_empty() {
            return Err(blame("A part of a key must not be empty."));
        }
        if part.contains('.') {
            return Err(blame("A part of a key must not contain a dot, which separates the parts."));
        }
        if place > 0 {
            key.push('.');
        }
        key.push_str(part);
    }
    if key.is_empty() {
        return Err(Refused { text: "A key has at least one part.".to_owned(), argument: None });
    }
    Ok(Value::String(key))
}
