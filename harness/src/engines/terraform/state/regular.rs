//! What has one correct value in every state, and what no state has.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::document::{Document, DocumentResource, Instance};
use crate::engines::terraform::provider_access::PROVIDER_ADDRESS;
use crate::evidence::{Content, Identity, Irregularity, StatePlace};
use crate::spec::encoding::NODE_TYPE;

/// The version of the schema of the mock's own type.
const SCHEMA_VERSION: u64 = 1;

/// The most that the mock gives an engine to keep beside an object, in bytes.
const MOST_KEPT: usize = 512;

/// What our provider gives engines to keep beside an object.
#[derive(Deserialize)]
struct Kept<'a> {
    #[serde(borrow)]
    id: Option<&'a str>,
}

/// What is wrong in a state, whatever the program. Objects of the mock's own type have no choice in most of their
/// fields; nothing is known of those of others.
pub(super) fn irregularities(document: &Document<Content, Identity>, is_ours: bool) -> Vec<Irregularity> {
    let mut found = Vec::new();
    let whole = StatePlace::Whole;
    found.extend(document.unknown.iter().map(|field| Irregularity::unknown(whole.clone(), field)));
    for (name, output) in &document.outputs {
        let place = || StatePlace::Output(name.clone());
        found.extend(output.unknown.iter().map(|field| Irregularity::unknown(place(), field)));
        if let Some(deprecated) = output.deprecated.as_ref().filter(|_| is_ours) {
            found.push(Irregularity::field(place(), "deprecated", deprecated, "none"));
        }
    }
    let resources = document.resources.as_deref().unwrap_or_default();
    // Engines sort them, and what is sorted has nothing twice.
    if !resources.iter().map(Place::of).is_sorted_by(|one, other| one < other) {
        let mut places = BTreeSet::new();
        let twice = resources.iter().filter(|resource| !places.insert(Place::of(resource)));
        found.extend(twice.map(|it| Irregularity::Twice { address: it.address(None) }));
    }
    resources.iter().for_each(|resource| of_resource(resource, is_ours, &mut found));
    found
}

/// What tells a resource from all others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a> {
    module: Option<&'a str>,
    mode: &'a str,
    type_name: &'a str,
    name: &'a str,
}

impl<'a> Place<'a> {
    fn of<A, I>(resource: &'a DocumentResource<A, I>) -> Self {
        let DocumentResource { module, mode, type_name, name, .. } = resource;
        Self { module: module.as_deref(), mode, type_name, name }
    }
}

fn of_resource(resource: &DocumentResource<Content, Identity>, is_ours: bool, found: &mut Vec<Irregularity>) {
    let address = |instance: Option<&Instance<Content, Identity>>| {
        resource.address(instance.and_then(|instance| instance.index_key.as_ref()))
    };
    found.extend(
        resource.unknown.iter().map(|field| Irregularity::unknown(StatePlace::Object(address(None)), field)),
    );
    let is_ours = is_ours && resource.type_name == NODE_TYPE;
    if is_ours {
        let provider = resource.provider.as_deref().unwrap_or("none");
        let mut differs = |field, observed: &str, expected: &str| {
            found.push(Irregularity::field(StatePlace::Object(address(None)), field, observed, expected));
        };
        if resource.mode != "managed" {
            differs("mode", &resource.mode, "managed");
        }
        let named = provider.strip_prefix("provider[\"").and_then(|rest| rest.strip_suffix("\"]"));
        if named != Some(PROVIDER_ADDRESS) {
            differs("provider", provider, &format!("provider[{PROVIDER_ADDRESS:?}]"));
        }
        if let Some(each) = &resource.each {
            differs("each", each, "none");
        }
    }
    if resource.instances.is_empty() {
        found.push(Irregularity::Empty { address: address(None) });
    }
    for (number, instance) in resource.instances.iter().enumerate() {
        found.extend(
            instance
                .unknown
                .iter()
                .map(|field| Irregularity::unknown(StatePlace::Object(address(Some(instance))), field)),
        );
        let is_twin = |other: &Instance<Content, Identity>| {
            other.index_key == instance.index_key && other.deposed == instance.deposed
        };
        if number > 0 && resource.instances[..number].iter().any(is_twin) {
            found.push(Irregularity::Twice { address: address(Some(instance)) });
        }
        if is_ours {
            let differs = |(field, observed, expected): (&str, String, &str)| {
                Irregularity::field(StatePlace::Object(address(Some(instance))), field, &observed, expected)
            };
            found.extend(of_instance(instance).map(differs));
        }
    }
}

/// The first field of an object of the mock's own type that has another value than it can have.
fn of_instance(instance: &Instance<Content, Identity>) -> Option<(&'static str, String, &'static str)> {
    let shown = |version: Option<u64>| version.map_or("none".to_owned(), |version| version.to_string());
    if instance.schema_version != Some(SCHEMA_VERSION) {
        return Some(("schema_version", shown(instance.schema_version), "1"));
    }
    if instance.identity_version.unwrap_or_default() != 0 {
        return Some(("identity_schema_version", shown(instance.identity_version), "0"));
    }
    if !instance.sensitive.is_empty() {
        return Some(("sensitive_attributes", format!("{} of them", instance.sensitive.len()), "none"));
    }
    if let Some(status) = instance.status.as_ref().filter(|status| *status != "tainted") {
        return Some(("status", status.clone(), "tainted, or none"));
    }
    if let Some(key) = &instance.index_key {
        return Some(("index_key", key.to_string(), "none"));
    }
    if let Some(key) = instance.deposed.as_ref().filter(|key| !is_deposed_key(key)) {
        return Some(("deposed", key.clone(), "eight hexadecimal digits"));
    }
    if let Some(provider) = &instance.provider {
        return Some(("provider", provider.clone(), "none"));
    }
    if instance.attributes_flat.is_some() {
        return Some(("attributes_flat", "some".to_owned(), "none"));
    }
    if instance.skip_destroy {
        return Some(("skip_destroy", "true".to_owned(), "none"));
    }
    let private = instance.private.as_deref().unwrap_or_default();
    (!keeps(private, &instance.attributes.id))
        .then(|| ("private", private.to_owned(), "what the provider gave"))
}

fn is_deposed_key(key: &str) -> bool {
    key.len() == 8 && key.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// Whether this is what our provider gave an engine to keep beside the object with an id.
fn keeps(private: &str, id: &str) -> bool {
    let mut bytes = [0; MOST_KEPT];
    let Ok(length) = STANDARD.decode_slice(private, &mut bytes) else { return false };
    serde_json::from_slice::<Kept<'_>>(&bytes[..length]).is_ok_and(|kept| kept.id == Some(id))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn state() -> Json {
        let instance = json!({
            "schema_version": 1, "attributes": { "id": "node-1" }, "sensitive_attributes": [],
            "private": STANDARD.encode(r#"{"equiform":1,"id":"node-1"}"#),
        });
        json!({
            "version": 4, "terraform_version": "1.15.5", "serial": 1, "lineage": "l", "check_results": null,
            "outputs": { "a": { "value": "x", "type": "string" } },
            "resources": [{
                "mode": "managed", "type": NODE_TYPE, "name": "a",
                "provider": format!("provider[{PROVIDER_ADDRESS:?}]"), "instances": [instance],
            }],
        })
    }

    /// What is wrong in a state of which a part is another one.
    fn found(pointer: &str, value: Json) -> Vec<Irregularity> {
        let mut state = state();
        match state.pointer_mut(pointer) {
            Some(part) => *part = value,
            None => {
                let (parent, name) = pointer.rsplit_once('/').expect("it is a pointer");
                state.pointer_mut(parent).expect("it is there")[name] = value;
            }
        }
        irregularities(&serde_json::from_value(state).unwrap(), true)
    }

    #[test]
    fn a_field_with_one_correct_value_has_no_other() {
        assert_eq!(found("/serial", json!(2)), []);
        let object = "/resources/0/instances/0";
        for (pointer, value) in [
            ("/resources/0/mode".to_owned(), json!("data")),
            ("/resources/0/provider".to_owned(), json!("provider[\"other\"]")),
            ("/resources/0/each".to_owned(), json!("list")),
            ("/outputs/a/deprecated".to_owned(), json!("why")),
            (format!("{object}/schema_version"), json!(0)),
            (format!("{object}/identity_schema_version"), json!(1)),
            (format!("{object}/sensitive_attributes"), json!([[]])),
            (format!("{object}/status"), json!("odd")),
            (format!("{object}/deposed"), json!("x")),
            (format!("{object}/index_key"), json!(0)),
            (format!("{object}/skip_destroy"), json!(true)),
            (format!("{object}/private"), json!(STANDARD.encode(r#"{"equiform":1,"id":"node-2"}"#))),
            (format!("{object}/private"), Json::Null),
        ] {
            let found = found(&pointer, value);
            assert!(matches!(found[..], [Irregularity::Field { .. }]), "{pointer}: {found:?}");
        }
    }

    #[test]
    fn unknown_fields_empty_resources_and_what_is_there_twice_are_found() {
        for pointer in ["/odd", "/outputs/a/odd", "/resources/0/odd", "/resources/0/instances/0/odd"] {
            let found = found(pointer, json!(1));
            assert!(matches!(found[..], [Irregularity::Unknown { .. }]), "{pointer}: {found:?}");
        }
        let is_empty = found("/resources/0/instances", json!([]));
        assert!(matches!(is_empty[..], [Irregularity::Empty { .. }]), "{is_empty:?}");
        let resource = state()["resources"][0].clone();
        let twice = found("/resources", json!([resource, resource]));
        assert!(matches!(twice[..], [Irregularity::Twice { .. }]), "{twice:?}");
        let instance = resource["instances"][0].clone();
        let twice = found("/resources/0/instances", json!([instance, instance]));
        assert!(matches!(twice[..], [Irregularity::Twice { .. }]), "{twice:?}");
    }

    #[test]
    fn a_field_that_is_there_twice_makes_it_no_state() {
        let text = state().to_string().replacen("\"serial\":1", "\"serial\":1,\"serial\":2", 1);
        assert!(serde_json::from_str::<Document<Content, Identity>>(&text).is_err());
    }
}
