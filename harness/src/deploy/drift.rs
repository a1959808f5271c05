//! How the world changes behind the engine's back: the provider's own command does it.

use std::sync::Arc;

use crate::spec::Drift;

/// How the provider is asked to change an object behind the engine's back.
pub fn drift_arguments(key: &str, change: &Drift) -> Vec<String> {
    let set = |attribute: &str, value: &Option<Arc<str>>| {
        let value = value.as_deref().map_or("--null", |value| value);
        ["drift", "set", key, attribute, value].map(str::to_owned).to_vec()
    };
    match change {
        Drift::Gone => ["drift", "delete", key].map(str::to_owned).to_vec(),
        Drift::Label(value) => set("label", value),
        Drift::Pin(value) => set("pin", value),
    }
}
