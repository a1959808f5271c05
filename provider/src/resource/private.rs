//! What the provider gives an engine to keep beside an object, and wants back unchanged.
//!
//! The engine must return it with every later request about the object. A value that comes back altered, or belongs to
//! another object, is a bug in the engine that nothing else would show.

use serde::{Deserialize, Serialize};

use super::{node, text};
use crate::diagnostic::Problem;
use crate::value::Object;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Private {
    equiform: u32,
    /// The id of the object; absent while it is only planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// The private data of an object.
pub fn of(object: &Object) -> Vec<u8> {
    let private = Private { equiform: 1, id: text(object, node::ID).map(str::to_owned) };
    serde_json::to_vec(&private).expect("private data is always JSON")
}

/// Checks what came back beside an object that exists.
pub fn check(returned: &[u8], object: &Object) -> Result<(), Problem> {
    match read(returned)?.id {
        Some(id) if text(object, node::ID) == Some(&id) => Ok(()),
        Some(id) => Err(Problem::engine(format!(
            "It returned the private data of the object {id} with another object, {}.",
            text(object, node::ID).unwrap_or("which has no id")
        ))),
        None => Err(Problem::engine(
            "It returned the private data of a planned object with one that exists already.",
        )),
    }
}

/// Checks what came back with a delete: the private data of the object, or of the plan that replaces it.
pub fn check_on_delete(returned: &[u8], object: &Object) -> Result<(), Problem> {
    match read(returned)?.id {
        None => Ok(()),
        Some(_) => check(returned, object),
    }
}

/// Checks what came back with a create: the private data of its plan.
pub fn check_on_create(returned: &[u8]) -> Result<(), Problem> {
    match read(returned)?.id {
        None => Ok(()),
        Some(id) => Err(Problem::engine(format!(
            "It returned the private data of the object {id} with one that is yet to be created."
        ))),
    }
}

fn read(returned: &[u8]) -> Result<Private, Problem> {
    if returned.is_empty() {
        return Err(Problem::engine(
            "It did not return the private data that the provider gave it to keep with the object. (A state that \
             was edited by hand can be the cause too: import the object anew.)",
        ));
    }
    serde_json::from_slice(returned).map_err(|_| {
        Problem::engine("The private data that it returned is not what the provider gave it to keep.")
    })
}
