//! A graph as JSON: `{"nodes":["r0","r1"],"edges":[["r0","r1"]]}`, sorted.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::dot::{Config, Dot};
use petgraph::graph::DiGraph;
use serde::{Deserialize, Serialize};

use super::{CycleError, Edge, Graph, Names, Resource, topological_order};

/// A graph that carries its names, for files and pipes. Two of them are equal when they have the same names and edges,
/// never up to renaming.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedGraph {
    /// The resources by name.
    pub nodes: BTreeSet<String>,
    /// Pairs of a dependency and its dependent.
    pub edges: BTreeSet<(String, String)>,
}

/// Why a graph from a file is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamedGraphError {
    /// An edge names a node that is not listed.
    #[error("the edge [{0:?}, {1:?}] names {2:?}, which is not among the nodes; list it there")]
    UnknownEnd(String, String, String),
    /// The edges go round in a circle.
    #[error(transparent)]
    Cycle(#[from] CycleError),
}

impl NamedGraph {
    /// The graph with the names its resources go by.
    pub fn new(graph: &Graph, names: &Names) -> Self {
        let name = |resource| names.of(resource).to_owned();
        Self {
            nodes: graph.nodes().map(name).collect(),
            edges: graph.edges().map(|edge| (name(edge.dependency), name(edge.dependent))).collect(),
        }
    }

    /// The graph over an order of its own in which every edge goes upward, and the names in that order.
    pub fn resolve(&self) -> Result<(Graph, Names), NamedGraphError> {
        for (dependency, dependent) in &self.edges {
            if let Some(unknown) = [dependency, dependent].into_iter().find(|end| !self.nodes.contains(*end))
            {
                let (from, to) = (dependency.clone(), dependent.clone());
                return Err(NamedGraphError::UnknownEnd(from, to, unknown.clone()));
            }
        }
        let edges: Vec<(&str, &str)> = self.edges.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let order = topological_order(self.nodes.iter().map(String::as_str), &edges)?;
        let resources: BTreeMap<&str, Resource> =
            order.iter().zip(0..).map(|(name, index)| (name.as_str(), Resource::new(index))).collect();
        let mut graph = Graph::default();
        resources.values().for_each(|&resource| graph.add(resource));
        for (dependency, dependent) in edges {
            let edge = Edge::new(resources[dependency], resources[dependent]);
            graph.connect(edge).expect("both ends are there, and the order has every edge go upward");
        }
        drop(resources);
        Ok((graph, Names::new(order)))
    }

    /// What the other graph has and lacks beside this one, a line for each difference.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let edge = |(dependency, dependent): &(String, String)| format!("{dependency} → {dependent}");
        let mut lines = Vec::new();
        lines.extend(self.nodes.difference(&other.nodes).map(|node| format!("- node {node}")));
        lines.extend(other.nodes.difference(&self.nodes).map(|node| format!("+ node {node}")));
        lines.extend(self.edges.difference(&other.edges).map(|pair| format!("- edge {}", edge(pair))));
        lines.extend(other.edges.difference(&self.edges).map(|pair| format!("+ edge {}", edge(pair))));
        lines
    }

    /// The same for the graph library: edges lead from the dependency to its dependent, and have no names.
    pub fn to_petgraph(&self) -> DiGraph<&str, &str> {
        let mut graph = DiGraph::with_capacity(self.nodes.len(), self.edges.len());
        let places: BTreeMap<&str, _> =
            self.nodes.iter().map(|node| (node.as_str(), graph.add_node(node.as_str()))).collect();
        for (dependency, dependent) in &self.edges {
            if let (Some(from), Some(to)) = (places.get(dependency.as_str()), places.get(dependent.as_str()))
            {
                graph.add_edge(*from, *to, "");
            }
        }
        graph
    }

    /// The graph for Graphviz.
    pub fn to_dot(&self) -> String {
        Dot::with_config(&self.to_petgraph(), &[Config::EdgeNoLabel]).to_string()
    }

    /// The graph for Mermaid. Its names are labels there, since Mermaid takes few characters in names.
    pub fn to_mermaid(&self) -> String {
        let number = |name: &String| self.nodes.range(..name.clone()).count();
        let mut text = String::from("flowchart TD\n");
        for (number, node) in self.nodes.iter().enumerate() {
            text.push_str(&format!(
                "  n{number}[\"{}\"]\n",
                node.replace('#', "#35;").replace('"', "#quot;")
            ));
        }
        for (dependency, dependent) in &self.edges {
            text.push_str(&format!("  n{} --> n{}\n", number(dependency), number(dependent)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> NamedGraph {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn arbitrary_names_are_ordered_by_what_depends_on_what() {
        let (graph, names) =
            parse(r#"{"nodes":["app","db","vpc"],"edges":[["vpc","app"],["db","app"]]}"#).resolve().unwrap();
        assert_eq!(names.iter().collect::<Vec<_>>(), ["db", "vpc", "app"]);
        assert_eq!(graph.size(), 5);
    }

    #[test]
    fn json_comes_out_sorted() {
        let graph = parse(r#"{"nodes":["b","a"],"edges":[["b","a"]]}"#);
        let (resolved, names) = graph.resolve().unwrap();
        let json = serde_json::to_string(&NamedGraph::new(&resolved, &names)).unwrap();
        assert_eq!(json, r#"{"nodes":["a","b"],"edges":[["b","a"]]}"#);
    }

    #[test]
    fn an_edge_to_nowhere_is_refused() {
        let error = parse(r#"{"nodes":["a"],"edges":[["a","b"]]}"#).resolve().unwrap_err();
        assert!(error.to_string().contains("\"b\", which is not among the nodes"), "{error}");
    }

    #[test]
    fn differences_name_what_is_missing_and_what_is_extra() {
        let (left, right) =
            (parse(r#"{"nodes":["a","b"],"edges":[["a","b"]]}"#), parse(r#"{"nodes":["a","c"],"edges":[]}"#));
        assert_eq!(left.differences(&right), ["- node b", "+ node c", "- edge a → b"]);
    }

    #[test]
    fn names_are_quoted_for_graphviz_and_mermaid() {
        let graph = parse(r#"{"nodes":["a\"b","c"],"edges":[["a\"b","c"]]}"#);
        let dot = graph.to_dot();
        assert!(dot.contains(r#"0 [ label = "a\"b" ]"#) && dot.contains("0 -> 1"), "{dot}");
        assert_eq!(graph.to_mermaid(), "flowchart TD\n  n0[\"a#quot;b\"]\n  n1[\"c\"]\n  n0 --> n1\n");
    }
}
