//! Looking objects up in the world.

use std::sync::Arc;

use equiform_proto::ledger::Entry;

use super::apply::Changed;
use super::{ResourceType, node, secrets};
use crate::diagnostic::Problem;
use crate::ledger::Ledger;
use crate::schema::Rule;
use crate::value::{Object, Value};

/// The object as it is in the world now; `None` if it is gone. What the ledger does not hold is as the engine has
/// stored it.
pub async fn current(
    ledger: &Ledger,
    resource: &ResourceType,
    id: &str,
    stored: &Object,
) -> Result<Option<Object>, Problem> {
    let Some(entry) = ledger.by_id(id).await? else { return Ok(None) };
    let mut object = resource.object_of(&entry)?;
    if resource.has_secrets {
        secrets::restore(&resource.schema.block, &mut object, stored);
    }
    Ok(Some(as_read(ledger, resource, id, object).await?))
}

/// The object to import, named by its id or by its key.
pub async fn by_id_or_key(ledger: &Ledger, resource: &ResourceType, name: &str) -> Result<Changed, Problem> {
    let by_id = ledger.by_id(name).await?;
    if let Some(entry) = by_id.filter(|entry| entry.type_name.as_ref() == Some(&resource.name)) {
        return found(resource, &entry);
    }
    let by_key = ledger.by_key(&resource.name, name).await?;
    match &by_key[..] {
        [] if resource.key.is_none() => Err(not_found(ledger, resource, name, "id")),
        [] => Err(not_found(ledger, resource, name, "id or key")),
        [entry] => found(resource, entry),
        several => Err(Problem::new(
            format!("Several {} objects have the key {name:?}", resource.name),
            format!("Name the one you mean by its id: {}.", ids(several)),
        )),
    }
}

/// The object with a key. While a replacement is under way two may have it; then it is the one changed last.
pub async fn by_key(ledger: &Ledger, resource: &ResourceType, key: &str) -> Result<Changed, Problem> {
    let by_key = ledger.by_key(&resource.name, key).await?;
    let entry = by_key.last().ok_or_else(|| not_found(ledger, resource, key, "key").at(node::KEY))?;
    found(resource, entry)
}

/// The object with an identity.
pub async fn by_identity(
    ledger: &Ledger,
    resource: &ResourceType,
    identity: &Object,
) -> Result<Changed, Problem> {
    for entry in ledger.all_of(&resource.name).await? {
        let found = found(resource, &entry)?;
        let there = resource.identity_of(&found.object).unwrap_or_default();
        if identity.iter().all(|(name, value)| *value == Value::Null || there.get(name) == Some(value)) {
            return Ok(found);
        }
    }
    let named = serde_json::Value::Object(crate::value::json::encode_object(identity)).to_string();
    Err(not_found(ledger, resource, &named, "identity"))
}

/// The id of an object that is known by its attributes alone.
pub async fn like(ledger: &Ledger, resource: &ResourceType, object: &Object) -> Result<String, Problem> {
    let attributes = resource.attributes_of(object);
    let there = ledger.all_of(&resource.name).await?;
    let found = there.iter().find(|entry| entry.after.as_ref() == Some(&attributes)).or(match &there[..] {
        [only] => Some(only),
        _ => None,
    });
    found.and_then(|entry| entry.id.clone()).ok_or_else(|| {
        Problem::engine(format!(
            "It asked to delete a {} without the private data that the provider gave it, and no object in the world \
             has these attributes.",
            resource.name
        ))
    })
}

/// The object that an entry describes, as far as the ledger holds it.
pub fn found(resource: &ResourceType, entry: &Entry) -> Result<Changed, Problem> {
    let mut object = resource.object_of(entry)?;
    secrets::complete(&resource.schema.block, &mut object);
    Ok(Changed { id: entry.id.clone().unwrap_or_default(), object })
}

/// The object with its states in transition as far as they are now.
async fn as_read(
    ledger: &Ledger,
    resource: &ResourceType,
    id: &str,
    mut object: Object,
) -> Result<Object, Problem> {
    for attribute in &resource.schema.block.attributes {
        let Rule::States(states) = &attribute.rule else { continue };
        let mut reads = ledger.lock().await?.reads(id)?;
        let passed = |(after, _): &&(u64, String)| {
            let over = *after <= reads;
            reads = reads.saturating_sub(*after);
            over
        };
        let state = states.iter().skip_while(passed).map(|(_, name)| name).next();
        if let Some(state) = state.or(states.last().map(|(_, name)| name)) {
            object.insert(attribute.name.clone(), state.as_str().into());
        }
    }
    Ok(object)
}

fn ids(entries: &[Arc<Entry>]) -> String {
    let ids: Vec<_> = entries.iter().filter_map(|entry| entry.id.as_deref()).collect();
    ids.join(", ")
}

/// What to say where there is no such object.
pub fn not_found(ledger: &Ledger, resource: &ResourceType, name: &str, by: &str) -> Problem {
    Problem::new(
        format!("There is no {} with the {by} {name:?}", resource.name),
        format!(
            "The ledger {} has no such object. `equiform ledger world FILE` lists the existing ones.",
            ledger.path().display()
        ),
    )
}
