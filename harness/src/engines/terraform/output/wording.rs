//! What Terraform's messages say to people, compared with what their fields say. It is compared word by word and never
//! as a layout, and only as far as the words are known: another version may say the same in other words.

use super::fields::{ResourceFields, SummaryFields, Text};

/// A text without its layout: what is white space between two words is one space. Each version of an engine breaks
/// lines elsewhere, so nothing here reads a text in any other form.
pub fn words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 1);
    for word in text.split_whitespace() {
        words.push_str(word);
        words.push(' ');
    }
    words
}

/// The words by which messages about resources say what happens: of which kind and action a message must be to say so.
const VERBS: &[(&str, &str, &str)] = &[
    ("Refreshing", "refresh_start", ""),
    ("Refresh complete", "refresh_complete", ""),
    ("Drift detected (update)", "resource_drift", "update"),
    ("Drift detected (delete)", "resource_drift", "delete"),
    ("Plan to create", "planned_change", "create"),
    ("Plan to update", "planned_change", "update"),
    ("Plan to replace", "planned_change", "replace"),
    ("Plan to delete", "planned_change", "delete"),
    ("Creating", "apply_start", "create"),
    ("Modifying", "apply_start", "update"),
    ("Destroying", "apply_start", "delete"),
    ("Still creating", "apply_progress", "create"),
    ("Still modifying", "apply_progress", "update"),
    ("Still destroying", "apply_progress", "delete"),
    ("Creation complete", "apply_complete", "create"),
    ("Modifications complete", "apply_complete", "update"),
    ("Destruction complete", "apply_complete", "delete"),
    ("Creation errored", "apply_errored", "create"),
    ("Modifications errored", "apply_errored", "update"),
    ("Destruction errored", "apply_errored", "delete"),
];

/// Whether a message about a resource says what its fields say: it names the address, the object if there is one, and
/// does not say that something else happens.
pub fn is_about(text: &str, address: &str, id: Option<&str>, kind: &str, action: Option<&str>) -> bool {
    let Some(rest) = text.strip_prefix(address).and_then(|rest| rest.strip_prefix(": ")) else {
        return false;
    };
    let (verb, named) = match rest.split_once("[id=") {
        Some((verb, named)) => (verb, named.split(']').next()),
        None => (rest, None),
    };
    // While something is under way, the time that it takes stands beside the object.
    let names_object = named == id || named.and_then(|it| it.split(',').next()) == id;
    let known = VERBS.iter().find(|(words, ..)| verb.starts_with(words));
    let fits =
        |(_, its, does): &(&str, &str, &str)| *its == kind && (does.is_empty() || Some(*does) == action);
    // Where all versions use the same words, others say something else.
    let has_words = VERBS.iter().any(fits);
    names_object && known.map_or(!has_words, fits)
}

/// How a summary begins, by its operation.
const SUMMARIES: &[(&str, &str)] =
    &[("plan", "Plan: "), ("apply", "Apply complete! "), ("destroy", "Destroy complete! ")];

/// Whether a summary says the numbers that its fields have.
pub fn has_counts(text: &str, fields: &SummaryFields<'_>) -> bool {
    let all =
        [fields.import, fields.add, fields.change, fields.remove, fields.forget, fields.action_invocation];
    let needed: &[usize] = match &*fields.operation {
        "destroy" => &all[3..4],
        _ => &all[1..4],
    };
    let numbers = numbers(text);
    let is_part = |needed: &[usize]| {
        let mut left = numbers.iter();
        needed.iter().all(|number| left.any(|it| it == number))
    };
    let known = SUMMARIES.iter().find(|(operation, _)| *operation == fields.operation);
    known.is_none_or(|(_, words)| text.starts_with(words))
        && is_part(needed)
        && numbers.iter().all(|number| all.contains(number))
}

/// The numbers in a text.
pub fn numbers(text: &str) -> Vec<usize> {
    let digits = text.split(|letter: char| !letter.is_ascii_digit());
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

/// Whether the parts of an address are parts of it; none if parts are missing.
pub fn is_whole(fields: &ResourceFields<'_>) -> Option<bool> {
    let part = |part: &Option<Text<'_>>| part.as_ref().map(|it| it.len());
    let (_, _, _) = (part(&fields.module)?, part(&fields.resource)?, part(&fields.implied_provider)?);
    let (module, resource) = (fields.module.as_deref()?, fields.resource.as_deref()?);
    let (type_name, name) = (fields.resource_type.as_deref()?, fields.resource_name.as_deref()?);
    let address = match module {
        "" => Some(&*fields.addr),
        _ => fields.addr.strip_prefix(module).and_then(|rest| rest.strip_prefix('.')),
    };
    let written = resource.strip_prefix("data.").unwrap_or(resource);
    let rest = written.strip_prefix(type_name).and_then(|rest| rest.strip_prefix('.')?.strip_prefix(name));
    let key = match &fields.resource_key {
        None | Some(serde_json::Value::Null) => String::new(),
        Some(key) => format!("[{key}]"),
    };
    let provider = type_name.split_once('_').map_or(type_name, |(provider, _)| provider);
    Some(
        address == Some(resource)
            && rest == Some(key.as_str())
            && fields.implied_provider.as_deref() == Some(provider),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_about_a_resource_names_it_and_what_happens_to_it() {
        let says = |text| is_about(text, "mock_node.a", Some("node-1"), "apply_start", Some("delete"));
        assert!(says("mock_node.a: Destroying... [id=node-1]"));
        assert!(!says("mock_node.a: Keeping it [id=node-1]"));
        assert!(!says("mock_node.b: Destroying... [id=node-1]"));
        assert!(!says("mock_node.a: Destroying... [id=node-2]"));
        assert!(!says("mock_node.a: Destroying..."));
        assert!(!says("mock_node.a: Modifying... [id=node-1]"));
        assert!(!says("mock_node.a: Destruction complete after 0s [id=node-1]"));
        let named =
            |name: &str| is_about(&format!("{name}: Creating..."), name, None, "apply_start", Some("create"));
        assert!(named("mock_node.Destroying") && named("mock_node.id"), "names are not searched for words");
        let waits = "mock_node.a: Still destroying... [id=node-1, 10s elapsed]";
        assert!(is_about(waits, "mock_node.a", Some("node-1"), "apply_progress", Some("delete")));
    }

    #[test]
    fn a_summary_has_the_numbers_of_its_fields() {
        let fields = |operation: &'static str| SummaryFields {
            operation: operation.into(),
            add: 1,
            change: 0,
            remove: 3,
            import: 0,
            forget: 0,
            action_invocation: 0,
        };
        assert!(has_counts("Plan: 1 to add, 0 to change, 3 to destroy.", &fields("plan")));
        assert!(!has_counts("Plan: 3 to add, 0 to change, 1 to destroy.", &fields("plan")));
        assert!(!has_counts("Plan: 1 to add, 0 to change, 4 to destroy.", &fields("plan")));
        assert!(has_counts("Destroy complete! Resources: 3 destroyed.", &fields("destroy")));
        assert!(!has_counts("Destroy complete! Resources: 2 destroyed.", &fields("destroy")));
    }
}
