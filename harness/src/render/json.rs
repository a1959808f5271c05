//! Programs in JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{PROVIDER, label, literal};
use crate::model::{Deployment, EdgeKind, ResourceDescription};

#[derive(Serialize)]
struct Program {
    terraform: Terraform,
    /// A list of objects with one resource each: an object would not keep their order.
    resource: Vec<BTreeMap<&'static str, BTreeMap<String, Resource>>>,
}

#[derive(Serialize)]
struct Terraform {
    required_providers: BTreeMap<&'static str, Requirement>,
}

#[derive(Serialize)]
struct Requirement {
    source: &'static str,
}

#[derive(Serialize)]
struct Resource {
    key: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    refs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pinned_refs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    depends_on: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lifecycle: Option<Lifecycle>,
}

#[derive(Serialize)]
struct Lifecycle {
    create_before_destroy: bool,
}

impl Resource {
    fn new(key: &str, description: &ResourceDescription) -> Self {
        let ids =
            |kind| description.by(kind).map(|key| format!("${{mock_node.{}.id}}", label(key))).collect();
        let names = description.by(EdgeKind::DependsOn).map(|key| format!("mock_node.{}", label(key)));
        let lifecycle =
            description.create_before_destroy.then_some(Lifecycle { create_before_destroy: true });
        Self {
            key: literal(key),
            refs: ids(EdgeKind::Refs),
            pinned_refs: ids(EdgeKind::PinnedRefs),
            depends_on: names.collect(),
            lifecycle,
        }
    }
}

/// A program, its resources in the given order.
pub fn render(deployment: &Deployment, order: &[String]) -> String {
    let described = order.iter().filter_map(|key| Some((key, deployment.resources.get(key)?)));
    let resource = described.map(|(key, description)| {
        [("mock_node", [(label(key), Resource::new(key, description))].into())].into()
    });
    let required_providers = [("mock", Requirement { source: PROVIDER })].into();
    let program = Program { terraform: Terraform { required_providers }, resource: resource.collect() };
    serde_json::to_string_pretty(&program).expect("a program is JSON") + "\n"
}
