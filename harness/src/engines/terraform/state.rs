//! Terraform's state file, version 4.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::evidence::{
    Addresses, Content, Identity, State, StateChange, StateComparison, StateDifference, StateFile, Stored,
    Unreadable, unreadable,
};

/// A state as it is stored. `A` is what is read of the attributes of objects, `I` of their identities.
#[derive(Deserialize)]
#[serde(bound = "A: Default + Deserialize<'de>, I: Deserialize<'de>")]
pub(super) struct Document<A, I> {
    version: u64,
    serial: Option<u64>,
    lineage: Option<String>,
    #[serde(default = "BTreeMap::new")]
    outputs: BTreeMap<String, StateOutput>,
    resources: Option<Vec<StateResource<A, I>>>,
}

#[derive(Deserialize)]
struct StateOutput {
    value: Json,
}

#[derive(Deserialize)]
#[serde(bound = "A: Default + Deserialize<'de>, I: Deserialize<'de>")]
struct StateResource<A, I> {
    module: Option<String>,
    #[serde(default)]
    mode: String,
    #[serde(rename = "type")]
    type_name: String,
    name: String,
    #[serde(default = "Vec::new")]
    instances: Vec<Instance<A, I>>,
}

/// An object in a state.
#[derive(Deserialize)]
#[serde(bound = "A: Default + Deserialize<'de>, I: Deserialize<'de>")]
pub(super) struct Instance<A, I> {
    index_key: Option<Json>,
    /// The name of an old object that waits for its deletion.
    pub deposed: Option<String>,
    status: Option<String>,
    /// Its attributes.
    #[serde(default)]
    pub attributes: A,
    /// What its provider gave the engine to keep beside it.
    pub private: Option<String>,
    identity: Option<I>,
    #[serde(default)]
    dependencies: Addresses,
}

impl<A, I> Document<A, I> {
    /// Refuses a document that is no state of the version that engines write.
    pub fn check(self) -> Result<Self, String> {
        if self.version == VERSION {
            Ok(self)
        } else {
            Err(format!("it has version {}, but only version {VERSION} is supported", self.version))
        }
    }

    /// The objects of resources, each with its type and its address. What data sources have read is no object.
    pub fn objects(self) -> impl Iterator<Item = (String, String, Instance<A, I>)> {
        let resources = self.resources.into_iter().flatten().filter(|resource| resource.mode != "data");
        resources.flat_map(|StateResource { module, type_name, name, instances, .. }| {
            let module = module.map(|module| format!("{module}.")).unwrap_or_default();
            instances.into_iter().map(move |instance| {
                let index = instance.index_key.as_ref().map(|key| format!("[{key}]")).unwrap_or_default();
                (type_name.clone(), format!("{module}{type_name}.{name}{index}"), instance)
            })
        })
    }
}

/// The version of the state's format that engines write.
const VERSION: u64 = 4;

/// Reads a state.
pub fn read(path: &Path) -> Result<StateFile, Unreadable> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(StateFile::Missing),
        Err(error) => return Err(unreadable(path)(error)),
    };
    match serde_json::from_reader(BufReader::with_capacity(1 << 20, file)) {
        Ok(document) => Ok(of_document(document)),
        Err(error) if error.is_io() => Err(unreadable(path)(error)),
        Err(error) => Ok(StateFile::Bad(error.to_string())),
    }
}

/// Reads a state that is in memory.
pub fn parse(bytes: &[u8]) -> StateFile {
    serde_json::from_slice(bytes).map_or_else(|error| StateFile::Bad(error.to_string()), of_document)
}

fn of_document(document: Document<Content, Identity>) -> StateFile {
    let mut document = match document.check() {
        Ok(document) => document,
        Err(why) => return StateFile::Bad(why),
    };
    let (Some(serial), Some(lineage), Some(resources)) =
        (document.serial, document.lineage.take(), &document.resources)
    else {
        return StateFile::Bad("it lacks its serial, its lineage or its resources".to_owned());
    };
    let mut objects = Vec::with_capacity(resources.len());
    let outputs = std::mem::take(&mut document.outputs).into_iter();
    let outputs = outputs.map(|(name, output)| (name, output.value)).collect();
    objects.extend(document.objects().map(|(_, address, instance)| Stored {
        address,
        deposed: instance.deposed.is_some(),
        tainted: instance.status.as_deref() == Some("tainted"),
        content: instance.attributes,
        identity: instance.identity,
        dependencies: instance.dependencies,
    }));
    StateFile::Read(State { lineage, serial, objects, outputs })
}

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differ(before: &Json, after: &Json, to_the_byte: bool) -> Option<StateDifference> {
        let comparison = if to_the_byte { StateComparison::ToTheByte } else { StateComparison::Meaning };
        let folder = tempfile::tempdir().unwrap();
        let paths = [before, after].map(|state| {
            let path = folder.path().join(state.to_string().len().to_string() + &state["serial"].to_string());
            std::fs::write(&path, state.to_string()).unwrap();
            path
        });
        difference(&paths[0], &paths[1], comparison).unwrap()
    }

    fn state(serial: u64, dependencies: &[&str], label: &str) -> Json {
        let instance = json!({ "attributes": { "label": label }, "dependencies": dependencies });
        let resource = json!({ "type": "mock_node", "name": "a", "instances": [instance] });
        json!({ "version": 4, "serial": serial, "lineage": "x", "resources": [resource] })
    }

    #[test]
    fn a_serial_and_the_order_of_dependencies_may_change_where_the_file_may_be_written() {
        let (before, after) = (state(1, &["a", "b"], ""), state(2, &["b", "a"], ""));
        assert_eq!(differ(&before, &after, false), None);
        assert!(differ(&before, &after, true).is_some());
    }

    #[test]
    fn the_place_of_a_difference_is_named() {
        let found = differ(&state(1, &[], ""), &state(2, &[], "new"), false);
        let path = "resources.0.instances.0.attributes.label".to_owned();
        assert_eq!(found, Some(StateDifference::Other(StateChange::At { path })));
    }

    #[test]
    fn a_setting_that_is_rewritten_is_told_from_other_changes() {
        let with_setting = |mut state: Json| {
            state["resources"][0]["instances"][0]["create_before_destroy"] = Json::Bool(true);
            state
        };
        let before = state(1, &[], "");
        let found = differ(&before, &with_setting(state(2, &[], "")), false);
        assert!(matches!(found, Some(StateDifference::Setting { .. })), "{found:?}");
        let found = differ(&before, &with_setting(state(2, &[], "new")), false);
        assert!(matches!(found, Some(StateDifference::Other(_))), "{found:?}");
    }

    #[test]
    fn what_is_cut_off_doubled_or_of_another_version_is_no_state() {
        let whole = state(1, &[], "").to_string();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        for text in ["", &whole[..40], &format!("{whole}{whole}"), &whole.replace("4", "3"), "[]"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(read(&path).unwrap(), StateFile::Bad(_)), "{text}");
        }
    }
}
