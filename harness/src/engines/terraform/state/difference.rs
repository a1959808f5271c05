//! How a state file differs from the one before.

use std::io;
use std::path::Path;

use serde_json::Value as Json;

use crate::evidence::{StateChange, StateComparison, StateDifference, Unreadable, unreadable};

/// How a state file differs from the one before; none if it does not.
///
/// Commands that may write it, and change nothing, may count the serial up, and may list dependencies in another order:
/// nothing is promised about either.
pub fn difference(
    before: &Path,
    after: &Path,
    comparison: StateComparison,
) -> Result<Option<StateDifference>, Unreadable> {
    let other = |change: StateChange| Ok(Some(StateDifference::Other(change)));
    let bytes = |path: &Path| match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path)(error)),
    };
    let (before, after) = (bytes(before)?, bytes(after)?);
    if before == after {
        return Ok(None);
    }
    let (Some(before), Some(after)) = (before, after) else {
        return other(StateChange::CameOrWent);
    };
    let to_the_byte = comparison == StateComparison::ToTheByte;
    let normal = |bytes: &[u8]| serde_json::from_slice(bytes).map(|state| normalised(state, comparison));
    let (Ok(before), Ok(after)) = (normal(&before), normal(&after)) else {
        return other(StateChange::NotAState);
    };
    let Some(place) = first_difference(&before, &after) else {
        return if to_the_byte { other(StateChange::Rewritten) } else { Ok(None) };
    };
    if !to_the_byte && without_setting(before) == without_setting(after) {
        return Ok(Some(StateDifference::Setting { name: SETTING.to_owned(), path: place }));
    }
    other(StateChange::At { path: place })
}

/// The setting that engines are known to rewrite.
const SETTING: &str = "create_before_destroy";

fn without_setting(mut state: Json) -> Json {
    for instance in instances(&mut state) {
        if let Some(instance) = instance.as_object_mut() {
            instance.remove(SETTING);
        }
    }
    state
}

/// The objects of all resources.
fn instances(state: &mut Json) -> impl Iterator<Item = &mut Json> {
    let resources = state.get_mut("resources").and_then(Json::as_array_mut).into_iter().flatten();
    resources.filter_map(|resource| resource.get_mut("instances")?.as_array_mut()).flatten()
}

fn normalised(mut state: Json, comparison: StateComparison) -> Json {
    if comparison == StateComparison::ToTheByte {
        return state;
    }
    state["serial"] = Json::Null;
    for instance in instances(&mut state) {
        if let Some(instance) = instance.as_object_mut().filter(|_| comparison == StateComparison::ButMarks) {
            instance.remove("status");
        }
        if let Some(dependencies) = instance.get_mut("dependencies").and_then(Json::as_array_mut) {
            dependencies.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
        }
    }
    state
}

/// The path to the first place at which two documents differ.
fn first_difference(one: &Json, other: &Json) -> Option<String> {
    let within =
        |name: String, rest: String| Some(if rest.is_empty() { name } else { format!("{name}.{rest}") });
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
            names.sort_unstable();
            names.dedup();
            let null = Json::Null;
            names.into_iter().find_map(|name| {
                let (one, other) = (one.get(name).unwrap_or(&null), other.get(name).unwrap_or(&null));
                within(name.clone(), first_difference(one, other)?)
            })
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(place, (one, other))| within(place.to_string(), first_difference(one, other)?))
        }
        _ => (one != other).then(String::new),
    }
}
