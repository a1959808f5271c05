//! What the provider gives an engine to keep beside an object, and wants back unchanged.
//!
//! The engine must return it with every later request about the object. A value that comes back altered, or belongs to
//! another object or another plan, is a bug in the engine that nothing else would show.

use equiform_proto::ledger::Digest;
use serde::{Deserialize, Serialize};

use super::{ResourceType, node, text};
use crate::diagnostic::Problem;
use crate::value::{Object, json};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Private {
    equiform: u32,
    /// The id of the object; absent while it is only planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// On a plan: what was planned, of which type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plan: Option<Digest>,
    /// On the plan of an object that takes another one's place: the id of that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
}

/// The private data of an object.
pub fn of(object: &Object) -> Vec<u8> {
    written(&Private { equiform: 1, id: id_of(object), plan: None, replaces: None })
}

/// The private data of a plan. `prior` is what came with the request: an engine that plans a replacement
/// sends what it was given for the object that goes.
pub fn of_plan(resource: &ResourceType, planned: &Object, prior: &[u8]) -> Vec<u8> {
    let id = id_of(planned);
    let replaces = match id {
        Some(_) => None,
        None => serde_json::from_slice::<Private>(prior).ok().and_then(|prior| prior.id),
    };
    written(&Private { equiform: 1, id, plan: Some(digest(resource, planned)), replaces })
}

/// Checks what came back beside an object that exists.
pub fn check(returned: &[u8], object: &Object) -> Result<(), Problem> {
    let id = read(returned)?.id;
    match id {
        Some(_) if id == id_of(object) => Ok(()),
        Some(id) => Err(another_object(&id, object)),
        None => Err(Problem::engine(
            "It returned the private data of a planned object with one that exists already.",
        )),
    }
}

/// Checks what came back with an update: the private data of the plan of this update.
pub fn check_on_update(
    resource: &ResourceType,
    returned: &[u8],
    prior: &Object,
    planned: &Object,
) -> Result<(), Problem> {
    check(returned, prior)?;
    check_plan(resource, &read(returned)?, planned)
}

/// Checks what came back with a delete: the private data of the object, or of the plan that replaces it.
pub fn check_on_delete(returned: &[u8], object: &Object) -> Result<(), Problem> {
    match read(returned)? {
        Private { id: None, replaces: Some(replaced), .. } if Some(&replaced) == id_of(object).as_ref() => {
            Ok(())
        }
        Private { id: None, replaces: Some(replaced), .. } => Err(another_object(&replaced, object)),
        // Engines plan what takes the place of a tainted object as if there were none, and keep its private data to
        // themselves until they delete it with that of the plan. Such a plan cannot name the object.
        Private { id: None, replaces: None, .. } => Ok(()),
        Private { id: Some(_), .. } => check(returned, object),
    }
}

/// Checks what came back with a create: the private data of its plan.
pub fn check_on_create(resource: &ResourceType, returned: &[u8], planned: &Object) -> Result<(), Problem> {
    match read(returned)? {
        Private { id: Some(id), .. } => Err(Problem::engine(format!(
            "It returned the private data of the object {id} with one that is yet to be created."
        ))),
        private => check_plan(resource, &private, planned),
    }
}

fn check_plan(resource: &ResourceType, private: &Private, planned: &Object) -> Result<(), Problem> {
    if private.plan == Some(digest(resource, planned)) {
        return Ok(());
    }
    Err(Problem::engine(format!(
        "It asked to apply a {} with the key {:?} that is not what was planned: the private data that it returned \
         belongs to another plan.",
        resource.name,
        text(planned, node::KEY).unwrap_or_default()
    )))
}

/// What was planned, and for which type.
fn digest(resource: &ResourceType, planned: &Object) -> Digest {
    let planned = json::digest(planned);
    Digest::of_json(format!("{} {planned}", resource.name).as_bytes())
}

fn another_object(returned: &str, object: &Object) -> Problem {
    Problem::engine(format!(
        "It returned the private data of the object {returned} with another object, {}.",
        text(object, node::ID).unwrap_or("which has no id")
    ))
}

fn id_of(object: &Object) -> Option<String> {
    text(object, node::ID).map(str::to_owned)
}

fn written(private: &Private) -> Vec<u8> {
    serde_json::to_vec(private).expect("private data is always JSON")
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
