//! Terraform's state file, version 4: [`document`] has its fields, `regular` what has only one correct value, and
//! `difference` compares it with the one before.

mod difference;
mod document;
mod regular;

use std::fs;
use std::io;
use std::path::Path;

pub use difference::difference;
pub(super) use document::{Document, Instance};

use crate::evidence::{Content, Identity, State, StateFile, Stored, StoredOutput, Unreadable, unreadable};

/// Reads a state.
pub fn read(path: &Path) -> Result<StateFile, Unreadable> {
    match fs::read(path) {
        Ok(bytes) => Ok(parsed(&bytes, true)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(StateFile::Missing),
        Err(error) => Err(unreadable(path)(error)),
    }
}

/// Reads a state that is in memory, and that may have resources of another provider in the place of ours.
pub fn parse(bytes: &[u8]) -> StateFile {
    parsed(bytes, false)
}

fn parsed(bytes: &[u8], is_ours: bool) -> StateFile {
    match serde_json::from_slice(bytes) {
        Ok(document) => of_document(document, is_ours),
        Err(error) => StateFile::Bad(error.to_string()),
    }
}

fn of_document(document: Document<Content, Identity>, is_ours: bool) -> StateFile {
    let mut document = match document.check() {
        Ok(document) => document,
        Err(why) => return StateFile::Bad(why),
    };
    let irregularities = regular::irregularities(&document, is_ours);
    let (Some(serial), Some(lineage), Some(resources)) =
        (document.serial, document.lineage.take(), &document.resources)
    else {
        return StateFile::Bad("it lacks its serial, its lineage or its resources".to_owned());
    };
    let mut objects = Vec::with_capacity(resources.len());
    let outputs = std::mem::take(&mut document.outputs).into_iter();
    let outputs = outputs.map(|(name, output)| {
        (name, StoredOutput { value: output.value, value_type: output.value_type, secret: output.sensitive })
    });
    let outputs = outputs.collect();
    let (written_by, has_checks) = (document.written_by.take(), document.check_results.is_some());
    objects.extend(document.objects().map(|(_, address, instance)| Stored {
        address,
        deposed: instance.deposed.map(String::into_boxed_str),
        tainted: instance.status.as_deref() == Some("tainted"),
        create_before_destroy: instance.create_before_destroy,
        content: instance.attributes,
        identity: instance.identity,
        kept: instance.private.map(String::into_boxed_str),
        dependencies: instance.dependencies,
    }));
    StateFile::Read(
        State { written_by, lineage, serial, objects, outputs, has_checks, irregularities }.into(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{StateChange, StateComparison, StateDifference};
    use serde_json::Value as Json;

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
