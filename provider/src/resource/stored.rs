//! Reading what an engine had stored: state of this version or an older one.

use super::{ResourceType, secrets};
use crate::diagnostic::Problem;
use crate::value::{Object, Value, json};

/// Reads an object from its stored form. Every stored object passes here each time it is used, also at the
/// same version.
pub fn upgrade(resource: &ResourceType, version: i64, stored: &[u8]) -> Result<Object, Problem> {
    if !(0..=resource.schema.version).contains(&version) {
        return Err(Problem::new(
            "The state was written by another version of the provider",
            format!(
                "The state holds a {} of schema version {version}, and this provider knows the versions up to {}. \
                 Use a newer provider.",
                resource.name, resource.schema.version
            ),
        ));
    }
    let stored = json::parse(stored).map_err(|error| {
        Problem::engine(format!("It sent the state of a {} that cannot be read: {error}.", resource.name))
    })?;
    // A list reads as a set, what an older version did not have is null, and what it had beyond is let go.
    match json::decode(&stored, &resource.object_type)? {
        Value::Object(mut object) => {
            secrets::complete(&resource.schema.block, &mut object);
            Ok(object)
        }
        _ => Err(Problem::engine(format!("It sent the state of a {} that is no object.", resource.name))),
    }
}
