//! What Terraform answers to queries: JSON, lists of addresses, and graphs in the language of Graphviz.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::output;
use crate::evidence::{Answer, Content, Unreadable, unreadable};
use crate::spec::Query;
use crate::spec::encoding::NODE_TYPE;

/// The arguments of the command that answers a query. `saved` is the file of a saved plan.
pub fn arguments(query: Query, saved: &str) -> Vec<String> {
    let arguments: &[&str] = match query {
        Query::State => &["show", "-json"],
        Query::Plan => &["show", "-json", saved],
        Query::Addresses => &["state", "list"],
        Query::Outputs => &["output", "-json"],
        Query::Validity => &["validate", "-json"],
        Query::Graph => &["graph"],
    };
    arguments.iter().map(|&argument| argument.to_owned()).collect()
}

#[derive(Deserialize)]
struct Shown {
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
    values: Content,
}

#[derive(Deserialize)]
struct ShownOutput {
    #[serde(default)]
    value: Json,
}

#[derive(Deserialize)]
struct ShownPlan {
    #[serde(default)]
    resource_changes: Vec<ShownChange>,
}

#[derive(Deserialize)]
struct ShownChange {
    address: String,
    change: Actions,
}

#[derive(Deserialize)]
struct Actions {
    actions: Vec<String>,
}

#[derive(Deserialize)]
struct Validity {
    valid: bool,
}

/// Reads the answer to a query.
pub fn read(query: Query, stdout: &Path) -> Result<Answer, Unreadable> {
    let text = std::fs::read(stdout).map_err(unreadable(stdout))?;
    Ok(parse(query, &String::from_utf8_lossy(&text)))
}

/// The same of what was read already.
pub fn parse(query: Query, text: &str) -> Answer {
    answer(query, text).unwrap_or_else(Answer::Unreadable)
}

fn answer(query: Query, text: &str) -> Result<Answer, String> {
    let outputs =
        |of: BTreeMap<String, ShownOutput>| of.into_iter().map(|(name, it)| (name, it.value)).collect();
    Ok(match query {
        Query::State => {
            let Values { outputs: shown, root_module } = json::<Shown>(text)?.values;
            let objects = root_module.resources.into_iter().map(|it| (it.address, it.values));
            Answer::State { objects: objects.collect(), outputs: outputs(shown) }
        }
        Query::Plan => {
            let operations = |ShownChange { address, change }: ShownChange| {
                let actions = change.actions.into_iter();
                let kinds = actions.flat_map(|action| output::operations(&action).iter().copied());
                kinds.map(move |kind| (address.clone(), kind)).collect::<Vec<_>>()
            };
            Answer::Plan(json::<ShownPlan>(text)?.resource_changes.into_iter().flat_map(operations).collect())
        }
        Query::Addresses => Answer::Addresses(text.lines().map(str::to_owned).collect()),
        Query::Outputs => Answer::Outputs(outputs(json(text)?)),
        Query::Validity => Answer::Validity(json::<Validity>(text)?.valid),
        Query::Graph => graph(text)?,
    })
}

fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
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
    fn an_empty_state_has_no_objects() {
        let empty = Answer::State { objects: BTreeMap::new(), outputs: BTreeMap::new() };
        assert_eq!(answer(Query::State, r#"{"format_version":"1.0"}"#), Ok(empty));
        assert_eq!(answer(Query::Addresses, ""), Ok(Answer::Addresses(Vec::new())));
        assert!(answer(Query::Outputs, "none").is_err());
    }
}
