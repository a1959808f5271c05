//! What the provider gives an engine to keep beside an object, and wants back unchanged.
//!
//! The engine must return it with every later request about the object. A value that comes back altered, or belongs to
//! another object or another plan, is a bug in the engine that nothing else would show.

use equiform_proto::ledger::Digest;
use serde::{Deserialize, Serialize};

use super::{Ids, ResourceType, node, text};
use crate::diagnostic::Problem;
use crate::mint;
use crate::value::Object;

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
    /// Whether an identity was given along with it, to be returned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    identity: bool,
}

/// The private data of the object with this id. `identity` is whether the engine keeps its identity, too.
pub fn of(id: &str, identity: bool) -> Vec<u8> {
    written(&Private { equiform: 1, id: Some(id.to_owned()), plan: None, replaces: None, identity })
}

/// The private data of a plan: of an object that is there, or of one that is yet to be created. `prior` is what came
/// with the request: an engine that plans a replacement sends what it was given for the object that goes.
pub fn of_plan(
    resource: &ResourceType,
    planned: &Object,
    exists: bool,
    prior: &[u8],
    has_identity: bool,
) -> Vec<u8> {
    let known = serde_json::from_slice::<Private>(prior).ok().and_then(|prior| prior.id);
    let (id, replaces) = if exists { (known, None) } else { (None, known) };
    let (plan, identity) = (Some(digest(resource, planned)), exists && has_identity);
    written(&Private { equiform: 1, id, plan, replaces, identity })
}

/// Whether an identity was given along with it.
pub fn has_identity(returned: &[u8]) -> bool {
    serde_json::from_slice(returned).is_ok_and(|private: Private| private.identity)
}

/// The id in what came back, where nothing else is known of it.
pub fn id_in(returned: &[u8]) -> Option<String> {
    let private: Private = serde_json::from_slice(returned).ok()?;
    private.id.or(private.replaces)
}

/// Checks what came back beside an object that exists, and gives its id.
pub fn check(resource: &ResourceType, returned: &[u8], object: &Object) -> Result<String, Problem> {
    match read(resource, returned)?.id {
        Some(id) if belongs(resource, &id, object) => Ok(id),
        Some(id) => Err(another_object(&id, object)),
        None => Err(Problem::engine(
            "It returned the private data of a planned object with one that exists already.",
        )),
    }
}

/// Checks what came back with an update, the private data of the plan of this update, and gives the object's id.
pub fn check_on_update(
    resource: &ResourceType,
    returned: &[u8],
    prior: &Object,
    planned: &Object,
) -> Result<String, Problem> {
    let id = check(resource, returned, prior)?;
    check_plan(resource, &read(resource, returned)?, planned)?;
    Ok(id)
}

/// Checks what came back with a delete: the private data of the object, or of the plan that replaces it. Gives the
/// object's id, where it can be known.
pub fn check_on_delete(
    resource: &ResourceType,
    returned: &[u8],
    object: &Object,
) -> Result<Option<String>, Problem> {
    match read(resource, returned)? {
        Private { id: None, replaces: Some(replaced), .. } if belongs(resource, &replaced, object) => {
            Ok(Some(replaced))
        }
        Private { id: None, replaces: Some(replaced), .. } => Err(another_object(&replaced, object)),
        // Engines plan what takes the place of a tainted object as if there were none, and keep its private data to
        // themselves until they delete it with that of the plan. Such a plan cannot name the object.
        Private { id: None, replaces: None, .. } => {
            Ok(text(object, node::ID).filter(|_| resource.shows_its_id()).map(str::to_owned))
        }
        Private { id: Some(_), .. } => check(resource, returned, object).map(Some),
    }
}

/// Checks what came back with a create: the private data of its plan.
pub fn check_on_create(resource: &ResourceType, returned: &[u8], planned: &Object) -> Result<(), Problem> {
    match read(resource, returned)? {
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
    let with_key = resource.key_of(planned).map(|key| format!(" with the key {key:?}")).unwrap_or_default();
    Err(Problem::engine(format!(
        "It asked to apply a {}{with_key} that is not what was planned: the private data that it returned \
         belongs to another plan.",
        resource.name,
    )))
}

/// What was planned, and for which type.
fn digest(resource: &ResourceType, planned: &Object) -> Digest {
    let planned = resource.digest(planned);
    Digest::of_json(format!("{} {planned}", resource.name).as_bytes())
}

/// Whether an object may be the one with this id. A type whose objects do not show their ids leaves it to the engine,
/// and so does one whose programs may choose them.
fn belongs(resource: &ResourceType, id: &str, object: &Object) -> bool {
    let chosen = || text(object, node::ID).is_some_and(|id| mint::ids_in(id) != [id]);
    text(object, node::ID) == Some(id)
        || !resource.shows_its_id()
        || (matches!(resource.ids, Ids::Seeded { .. }) && chosen())
}

fn another_object(returned: &str, object: &Object) -> Problem {
    Problem::engine(format!(
        "It returned the private data of the object {returned} with another object, {}.",
        text(object, node::ID).unwrap_or("which has no id")
    ))
}

fn written(private: &Private) -> Vec<u8> {
    serde_json::to_vec(private).expect("private data is always JSON")
}

fn read(resource: &ResourceType, returned: &[u8]) -> Result<Private, Problem> {
    if returned.is_empty() {
        if let Some(provider) = &resource.provider {
            return Err(Problem::new(
                "The state is not from this stand-in",
                format!(
                    "It holds a {} without the data that the stand-in of {provider} gives an engine to keep: it was \
                     written by the real provider, or edited by hand. Begin with an empty state.",
                    resource.name
                ),
            ));
        }
        return Err(Problem::engine(
            "It did not return the private data that the provider gave it to keep with the object. (A state that \
             was edited by hand can be the cause too: import the object anew.)",
        ));
    }
    serde_json::from_slice(returned).map_err(|_| {
        Problem::engine("The private data that it returned is not what the provider gave it to keep.")
    })
}
