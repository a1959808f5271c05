//! What Terraform answers to queries: JSON, lists of addresses, and graphs in the language of Graphviz.

mod plan;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::provider_access::PROVIDER_ADDRESS;
use super::state;
use crate::evidence::{Answer, Content, ShownObject, StoredOutput, Unreadable, unreadable};
use crate::spec::encoding::NODE_TYPE;
use crate::spec::{OperationKind, Query};

/// The arguments of the command that answers a query. `saved` is the file of a saved plan.
pub fn arguments(query: Query, saved: &str) -> Vec<String> {
    let arguments: &[&str] = match query {
        Query::State => &["show", "-json"],
        Query::Plan => &["show", "-json", saved],
        Query::Addresses => &["state", "list"],
        Query::Outputs => &["output", "-json"],
        Query::Validity => &["validate", "-json"],
        Query::Graph => &["graph"],
        Query::StateCopy => &["state", "pull"],
        Query::Providers => &["providers"],
        Query::StateText => &["show", "-no-color"],
        Query::PlanText => &["show", "-no-color", saved],
    };
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

#[derive(Deserialize)]
struct Shown {
    terraform_version: Option<String>,
    #[serde(default)]
    values: Values,
}

#[derive(Default, Deserialize)]
struct Values {
    #[serde(default)]
    outputs: BTreeMap<String, ShownOutput>,
    #[serde(default)]
    root_module: Module,
}

#[derive(Default, Deserialize)]
struct Module {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    address: String,
    mode: String,
    #[serde(rename = "type")]
    type_name: String,
    name: String,
    provider_name: String,
    values: Content,
    #[serde(default)]
    sensitive_values: Json,
    #[serde(default)]
    depends_on: BTreeSet<String>,
    #[serde(default)]
    tainted: bool,
    deposed_key: Option<String>,
}

impl Resource {
    fn shown(self) -> (String, ShownObject) {
        let is_regular = self.address == format!("{}.{}", self.type_name, self.name)
            && self.mode == "managed"
            && self.provider_name == PROVIDER_ADDRESS
            && !has_true(&self.sensitive_values);
        let Self { address, values: content, depends_on: dependencies, tainted, .. } = self;
        (address, ShownObject { content, dependencies, tainted, is_regular })
    }
}

#[derive(Deserialize)]
struct ShownOutput {
    #[serde(default)]
    value: Json,
    #[serde(rename = "type", default)]
    value_type: Json,
    #[serde(default)]
    sensitive: bool,
}

#[derive(Deserialize)]
struct Validity {
    valid: bool,
    #[serde(default)]
    error_count: usize,
    #[serde(default)]
    warning_count: usize,
    #[serde(default)]
    diagnostics: Vec<IgnoredAny>,
}

impl Validity {
    /// Whether nothing at all is wrong.
    fn is_clean(&self) -> bool {
        self.valid && self.error_count + self.warning_count == 0 && self.diagnostics.is_empty()
    }
}

/// Reads the answer to a query.
pub fn read(query: Query, stdout: &Path) -> Result<Answer, Unreadable> {
    if query == Query::StateCopy {
        return state::read(stdout).map(Answer::StateCopy);
    }
    let text = std::fs::read(stdout).map_err(unreadable(stdout))?;
    Ok(parse(query, &String::from_utf8_lossy(&text)))
}

/// The same of what was read already.
pub fn parse(query: Query, text: &str) -> Answer {
    answer(query, text).unwrap_or_else(Answer::Unreadable)
}

fn answer(query: Query, text: &str) -> Result<Answer, String> {
    let output =
        |ShownOutput { value, value_type, sensitive: secret }| StoredOutput { value, value_type, secret };
    let outputs =
        |of: BTreeMap<String, ShownOutput>| of.into_iter().map(|(name, it)| (name, output(it))).collect();
    Ok(match query {
        Query::State => {
            let Shown { terraform_version: written_by, values } = json(text)?;
            let current = values.root_module.resources.into_iter().filter(|it| it.deposed_key.is_none());
            let objects = current.map(Resource::shown).collect();
            Answer::State { written_by, objects, outputs: outputs(values.outputs) }
        }
        Query::Plan => Answer::Plan(plan::read(text)?),
        Query::PlanText => plan_text(text),
        Query::StateText => Answer::Addresses(text.lines().filter_map(heading).collect()),
        Query::Providers => providers(text),
        Query::StateCopy => return Err("it is read elsewhere".to_owned()),
        Query::Addresses => Answer::Addresses(text.lines().map(str::to_owned).collect()),
        Query::Outputs => Answer::Outputs(outputs(json(text)?)),
        Query::Validity => Answer::Validity(json::<Validity>(text)?.is_clean()),
        Query::Graph => graph(text)?,
    })
}

fn json<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Whether any part of a value is true.
fn has_true(value: &Json) -> bool {
    match value {
        Json::Bool(value) => *value,
        Json::Array(parts) => parts.iter().any(has_true),
        Json::Object(parts) => parts.values().any(has_true),
        _ => false,
    }
}

/// Reads a plan that is written for people, by its signs: the words differ from version to version.
fn plan_text(text: &str) -> Answer {
    let resources = text.lines().filter_map(|line| {
        let (sign, resource) = line.trim_start().split_once(" resource \"")?;
        let (type_name, name) = resource.strip_suffix("\" {")?.split_once("\" \"")?;
        let kinds: &[OperationKind] = match sign {
            "+" => &[OperationKind::Create],
            "~" => &[OperationKind::Update],
            "-" => &[OperationKind::Delete],
            "-/+" | "+/-" => &[OperationKind::Create, OperationKind::Delete],
            _ => return None,
        };
        Some(kinds.iter().map(move |kind| (format!("{type_name}.{name}"), *kind)))
    });
    let summary = text.lines().find_map(|line| line.strip_prefix("Plan: ")).unwrap_or_default();
    let count = |what: &str| {
        let part = summary.split([',', '.']).find(|part| part.trim_end().ends_with(what));
        part.and_then(|part| part.split_whitespace().next()?.parse().ok()).unwrap_or_default()
    };
    let counts = ["to add", "to change", "to destroy"].map(count);
    Answer::PlanText { operations: resources.flatten().collect(), counts }
}

/// The address in the line above an object, if it is one and the object is current.
fn heading(line: &str) -> Option<String> {
    let (address, rest) = line.strip_prefix("# ")?.split_once(':')?;
    let is_one = address.starts_with(&format!("{NODE_TYPE}.")) && !address.contains(' ');
    (is_one && !rest.contains("deposed")).then(|| address.to_owned())
}

/// Reads which providers are needed: a tree of those of the program, and a list of those of the state.
fn providers(text: &str) -> Answer {
    let named = |line: &str| Some(line.split_once("provider[")?.1.split(']').next()?.to_owned());
    let (tree, list): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.contains('─'));
    let of = |lines: Vec<&str>| lines.into_iter().filter_map(named).collect();
    Answer::Providers { expected: PROVIDER_ADDRESS, by_program: of(tree), by_state: of(list) }
}

/// Reads a graph. Older versions draw providers, outputs and a root too, and call a resource one that is expanded.
fn graph(text: &str) -> Result<Answer, String> {
    if !text.trim_start().starts_with("digraph") || !text.trim_end().ends_with('}') {
        return Err("it is no graph".to_owned());
    }
    let resource = |node: &str| {
        let node = node.trim().strip_prefix('"')?.split('"').next()?;
        let node = node.strip_prefix("[root] ").unwrap_or(node);
        let node = node.strip_suffix(" (expand)").unwrap_or(node);
        node.starts_with(&format!("{NODE_TYPE}.")).then(|| node.to_owned())
    };
    let (mut nodes, mut edges) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        match line.split_once(" -> ") {
            Some((dependent, dependency)) => {
                edges.extend(resource(dependent).zip(resource(dependency)));
            }
            None => nodes.extend(resource(line)),
        }
    }
    Ok(Answer::Graph { nodes, edges })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_of_all_versions_have_the_same_resources_and_edges() {
        let new = "digraph G {\n  rankdir = \"RL\";\n  \"mock_node.a\" [label=\"mock_node.a\"];\n  \
                   \"mock_node.b\" [label=\"mock_node.b\"];\n  \"mock_node.b\" -> \"mock_node.a\";\n}\n";
        let old = "digraph {\n\tcompound = \"true\"\n\tsubgraph \"root\" {\n\
                   \t\t\"[root] mock_node.a (expand)\" [label = \"mock_node.a\", shape = \"box\"]\n\
                   \t\t\"[root] mock_node.b (expand)\" [label = \"mock_node.b\", shape = \"box\"]\n\
                   \t\t\"[root] mock_node.a (expand)\" -> \"[root] provider[\\\"x\\\"]\"\n\
                   \t\t\"[root] mock_node.b (expand)\" -> \"[root] mock_node.a (expand)\"\n\t}\n}\n\n";
        let nodes = ["mock_node.a", "mock_node.b"].map(str::to_owned).into();
        let edges = [("mock_node.b".to_owned(), "mock_node.a".to_owned())].into();
        let expected = Answer::Graph { nodes, edges };
        assert_eq!(answer(Query::Graph, new), Ok(expected.clone()));
        assert_eq!(answer(Query::Graph, old), Ok(expected));
        assert!(answer(Query::Graph, "Error: no").is_err());
    }

    #[test]
    fn a_plan_for_people_has_the_same_operations_and_counts_as_one_for_programs() {
        let text = "Terraform will perform the following actions:\n\n  # mock_node.a will be created\n  \
                    + resource \"mock_node\" \"a\" {\n      + key = \"a\"\n    }\n\n  # mock_node.b must be \
                    replaced\n-/+ resource \"mock_node\" \"b\" {\n    }\n\n  ~ resource \"mock_node\" \"c\" {\n\n\
                    Plan: 2 to add, 1 to change, 1 to destroy.\n";
        use OperationKind::{Create, Delete, Update};
        let operations = [("a", Create), ("b", Create), ("b", Delete), ("c", Update)];
        let operations = operations.map(|(name, kind)| (format!("mock_node.{name}"), kind)).into();
        assert_eq!(answer(Query::PlanText, text), Ok(Answer::PlanText { operations, counts: [2, 1, 1] }));
        let nothing = Answer::PlanText { operations: BTreeSet::new(), counts: [0; 3] };
        assert_eq!(answer(Query::PlanText, "\nNo changes. Your infrastructure matches.\n"), Ok(nothing));
    }

    #[test]
    fn a_state_for_people_has_a_heading_above_each_object() {
        let text = "# mock_node.a:\nresource \"mock_node\" \"a\" {\n    label = \"# mock_node.z:\"\n}\n\n\
                    # mock_node.b: (tainted)\nresource \"mock_node\" \"b\" {\n}\n\n\nOutputs:\n\no = \"x\"\n";
        let addresses = ["mock_node.a", "mock_node.b"].map(str::to_owned).to_vec();
        assert_eq!(answer(Query::StateText, text), Ok(Answer::Addresses(addresses)));
    }

    #[test]
    fn providers_are_those_of_the_program_and_of_the_state() {
        let text = "\nProviders required by configuration:\n.\n└── provider[x/y/z] 1.0\n\n\
                    Providers required by state:\n\n    provider[x/y/w]\n\n";
        let [by_program, by_state] = ["x/y/z", "x/y/w"].map(|name| [name.to_owned()].into());
        let expected = Answer::Providers { expected: PROVIDER_ADDRESS, by_program, by_state };
        assert_eq!(answer(Query::Providers, text), Ok(expected));
    }

    #[test]
    fn an_empty_state_has_no_objects() {
        let empty = Answer::State { written_by: None, objects: BTreeMap::new(), outputs: BTreeMap::new() };
        assert_eq!(answer(Query::State, r#"{"format_version":"1.0"}"#), Ok(empty));
        assert_eq!(answer(Query::Addresses, ""), Ok(Answer::Addresses(Vec::new())));
        assert!(answer(Query::Outputs, "none").is_err());
    }
}
