//! How the world changes behind the engine's back: the provider's own command does it.

use std::sync::Arc;

use crate::spec::Drift;

/// How the provider is asked to change an object behind the engine's back. Keys and values may begin with a hyphen.
pub fn drift_arguments(key: &str, change: &Drift) -> Vec<String> {
    let set = |attribute: &str, value: &Option<Arc<str>>| match value {
        Some(value) => words(&["drift", "set", "--", key, attribute, value]),
        None => words(&["drift", "set", "--null", "--", key, attribute]),
    };
    match change {
        Drift::Gone => words(&["drift", "delete", "--", key]),
        Drift::Label(value) => set("label", value),
        Drift::Pin(value) => set("pin", value),
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_or_a_value_that_begins_with_a_hyphen_is_no_option() {
        let arguments = |change: Drift| drift_arguments("-x", &change).join(" ");
        assert_eq!(arguments(Drift::Gone), "drift delete -- -x");
        assert_eq!(arguments(Drift::Label(Some("--null".into()))), "drift set -- -x label --null");
        assert_eq!(arguments(Drift::Pin(None)), "drift set --null -- -x pin");
    }
}
