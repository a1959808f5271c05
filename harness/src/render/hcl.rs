//! Programs in HCL.

use std::fmt::Write;

use super::{PROVIDER, label, literal};
use crate::model::{Deployment, EdgeKind, ResourceDescription};

/// A program, its resources in the given order.
pub fn render(deployment: &Deployment, order: &[String]) -> String {
    let mut text = format!(
        "terraform {{\n  required_providers {{\n    mock = {{\n      source = \"{PROVIDER}\"\n    }}\n  }}\n}}\n"
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

/// A text as an HCL string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in literal(text).chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
