//! Looking objects up in the world.

use std::sync::Arc;

use equiform_proto::ledger::Entry;

use super::{ResourceType, node, text};
use crate::diagnostic::Problem;
use crate::ledger::Ledger;
use crate::value::Object;

/// The object as it is in the world now; `None` if it is gone.
pub async fn current(
    ledger: &Ledger,
    resource: &ResourceType,
    stored: &Object,
) -> Result<Option<Object>, Problem> {
    let Some(id) = text(stored, node::ID) else {
        return Err(Problem::engine(format!("It asked for a {} without an id.", resource.name)));
    };
    let found = ledger.by_id(id).await?;
    found.map(|entry| resource.object_of(&entry)).transpose()
}

/// The object to import, named by its id or by its key.
pub async fn by_id_or_key(ledger: &Ledger, resource: &ResourceType, name: &str) -> Result<Object, Problem> {
    if let Some(entry) = ledger.by_id(name).await? {
        return resource.object_of(&entry);
    }
    let found = ledger.by_key(resource.name, name).await?;
    match &found[..] {
        [] => Err(not_found(ledger, resource, name, "id or key")),
        [entry] => resource.object_of(entry),
        several => Err(Problem::new(
            format!("Several {} objects have the key {name:?}", resource.name),
            format!("Name the one you mean by its id: {}.", ids(several)),
        )),
    }
}

/// The object with a key. While a replacement is under way two may have it; then it is the one changed last.
pub async fn by_key(ledger: &Ledger, resource: &ResourceType, key: &str) -> Result<Object, Problem> {
    let found = ledger.by_key(resource.name, key).await?;
    let entry = found.last().ok_or_else(|| not_found(ledger, resource, key, "key").at(node::KEY))?;
    resource.object_of(entry)
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
            "The ledger {} holds no such object. `equiform ledger world FILE` lists those that are there.",
            ledger.path().display()
        ),
    )
}
