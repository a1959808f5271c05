//! From a deployment to the text that an engine reads.

use std::fmt::Write;

use crate::model::{Deployment, EdgeKind, ResourceDescription};

/// A program in HCL, its resources in the given order.
pub fn hcl(deployment: &Deployment, order: &[String]) -> String {
    let mut text = String::from(
        "terraform {\n  required_providers {\n    mock = {\n      source = \"equiform.test/equiform/mock\"\n    }\n  }\n}\n",
    );
    for key in order {
        if let Some(description) = deployment.resources.get(key) {
            resource(&mut text, key, description);
        }
    }
    text
}

fn resource(text: &mut String, key: &str, description: &ResourceDescription) {
    let ids = |kind| {
        let ids: Vec<_> = description.by(kind).map(|key| format!("mock_node.{}.id", label(key))).collect();
        (!ids.is_empty()).then(|| format!("[{}]", ids.join(", ")))
    };
    let (refs, pinned) = (ids(EdgeKind::Refs), ids(EdgeKind::PinnedRefs));
    let attributes = [("key", Some(quoted(key))), ("refs", refs), ("pinned_refs", pinned)];
    let given: Vec<_> = attributes.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let width = given.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let _ = writeln!(text, "\nresource \"mock_node\" \"{}\" {{", label(key));
    for (name, value) in given {
        let _ = writeln!(text, "  {name:width$} = {value}");
    }
    let depends_on: Vec<_> =
        description.by(EdgeKind::DependsOn).map(|key| format!("mock_node.{}", label(key))).collect();
    if !depends_on.is_empty() {
        let _ = writeln!(text, "\n  depends_on = [{}]", depends_on.join(", "));
    }
    if description.create_before_destroy {
        text.push_str("\n  lifecycle {\n    create_before_destroy = true\n  }\n");
    }
    text.push_str("}\n");
}

/// A key as a resource's name in the program: what a name cannot hold is written by its number.
pub fn label(key: &str) -> String {
    let mut label = String::new();
    for (i, character) in key.chars().enumerate() {
        match character {
            'a'..='z' | 'A'..='Z' => label.push(character),
            '0'..='9' if i > 0 => label.push(character),
            _ => {
                let _ = write!(label, "_{:x}_", u32::from(character));
            }
        }
    }
    label
}

/// A text as an HCL string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            // A doubled sign is no beginning of a template.
            '$' | '%' if characters.peek() == Some(&'{') => {
                quoted.push(character);
                quoted.push(character);
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(json: &str) -> Deployment {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn all_kinds_of_edges_and_lifecycles_are_written() {
        let deployment = deployment(
            r#"{
                "net": {"dependencies": {}},
                "disk": {"dependencies": {}},
                "key": {"dependencies": {}},
                "host": {
                    "dependencies": {"net": "refs", "disk": "refs", "key": "pinned_refs", "rules": "depends_on"},
                    "create_before_destroy": true
                },
                "rules": {"dependencies": {"net": "depends_on"}}
            }"#,
        );
        let order = ["net", "disk", "key", "rules", "host"].map(str::to_owned);
        insta::assert_snapshot!(hcl(&deployment, &order));
    }

    #[test]
    fn odd_keys_are_quoted_and_have_names_that_engines_take() {
        let odd = "1 \"web\" ${a} %{b} $ c:\\d\n\u{1}ü";
        let deployment = Deployment { resources: [(odd.to_owned(), ResourceDescription::default())].into() };
        insta::assert_snapshot!(hcl(&deployment, &[odd.to_owned()]));
    }

    #[test]
    fn different_keys_have_different_names() {
        let keys = ["a_5f_", "a_", "a__", "a", "A", "1", "_31_", "", "_", "a-b", "a b", "ab"];
        let names: std::collections::BTreeSet<String> = keys.map(label).into();
        assert_eq!(names.len(), keys.len(), "{names:?}");
    }
}
