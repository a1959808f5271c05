//! Functions: what they take and what they give.

use serde::Deserialize;

use super::own::GRAPH_KEY;
use super::schema_json::{CtyType, Family};
use super::{Types, bad_schema, unknown_type};
use crate::diagnostic::Problem;
use crate::resource::plausible::{Context, Salt};
use crate::value::{Type, Value, json};

/// A parameter of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether it may be null.
    pub nullable: bool,
    /// Documentation that engines show to their users.
    pub description: String,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it takes any number of after those.
    pub variadic: Option<Parameter>,
    /// What it gives.
    pub gives: Type,
    /// A short description that engines show to their users.
    pub summary: String,
    /// Documentation that engines show to their users.
    pub description: String,
}

impl Function {
    /// The parameter that an argument is for.
    pub fn parameter(&self, argument: usize) -> Option<&Parameter> {
        self.parameters.get(argument).or(self.variadic.as_ref())
    }
}

/// A function as engines print it.
#[derive(Deserialize)]
struct JsonFunction {
    return_type: CtyType,
    #[serde(default)]
    parameters: Vec<JsonParameter>,
    #[serde(default)]
    variadic_parameter: Option<JsonParameter>,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    description: String,
}

#[derive(Deserialize)]
struct JsonParameter {
    #[serde(default)]
    name: String,
    r#type: CtyType,
    #[serde(default)]
    is_nullable: bool,
    #[serde(default)]
    description: String,
}

impl From<JsonParameter> for Parameter {
    fn from(parameter: JsonParameter) -> Self {
        let JsonParameter { name, r#type: CtyType(ty), is_nullable: nullable, description } = parameter;
        Self { name, ty, nullable, description }
    }
}

impl Types {
    /// A function.
    pub fn function(&self, name: &str) -> Result<Function, Problem> {
        match self.schema_file() {
            Some(file) => {
                let function: Option<JsonFunction> = file.part(Family::Function, name).map_err(bad_schema)?;
                let function = function.ok_or_else(|| unknown_type(name))?;
                Ok(Function {
                    name: name.to_owned(),
                    parameters: function.parameters.into_iter().map(Parameter::from).collect(),
                    variadic: function.variadic_parameter.map(Parameter::from),
                    gives: function.return_type.0,
                    summary: function.summary,
                    description: function.description,
                })
            }
            None if name == GRAPH_KEY => Ok(graph_key()),
            None => Err(unknown_type(name)),
        }
    }

    /// What a function of a provider that is stood in for gives: made up, and the same for the same arguments.
    pub fn made_up_result(&self, function: &Function, arguments: &[Value]) -> Value {
        let arguments: Vec<_> = arguments.iter().map(|argument| json::encode(argument).to_string()).collect();
        let salt = Salt::new(&[self.seed(), &function.name, &serde_json::json!(arguments).to_string()]);
        Context { type_name: &function.name, id: "", salt }.value(&function.gives, &function.name)
    }
}

fn graph_key() -> Function {
    let parts = Parameter {
        name: "parts".to_owned(),
        ty: Type::String,
        nullable: false,
        description: "The parts of the key, from the outermost to the innermost.".to_owned(),
    };
    Function {
        name: GRAPH_KEY.to_owned(),
        parameters: Vec::new(),
        variadic: Some(parts),
        gives: Type::String,
        summary: "A key for a node, from its parts".to_owned(),
        description:
            "Joins the parts with dots, such as `a.0` from `a` and `0`: modules and instances get keys that \
                      no other has, as long as the parts have no dots."
                .to_owned(),
    }
}
