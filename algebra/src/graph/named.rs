//! A graph as JSON: `{"nodes":["r0","r1"],"edges":[["r0","r1"]]}`, sorted. Values and kinds that are not the default
//! follow, if there are any: `"attributes":{"r0":{"label":"a"}}`, `"kinds":[["r0","r1","pinned_refs"]]`.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::dot::{Config, Dot};
use petgraph::graph::DiGraph;
use serde::{Deserialize, Serialize};

use super::{CycleError, Edge, Graph, Names, Resource, topological_order};
use crate::signature::{Kind, Signature};

/// A graph that carries its names, for files and pipes. Two of them are equal when they have the same names, edges,
/// values and kinds, never up to renaming.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedGraph {
    /// The resources by name.
    pub nodes: BTreeSet<String>,
    /// Pairs of a dependency and its dependent.
    pub edges: BTreeSet<(String, String)>,
    /// By node and attribute, the values that are not the default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, BTreeMap<String, String>>,
    /// The kinds that are not the default.
    #[serde(default, skip_serializing_if = "EdgeNames::is_empty")]
    pub kinds: EdgeNames,
}

/// The names of the kinds of edges, by dependency and dependent; in JSON a list of all three.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Vec<(String, String, String)>", into = "Vec<(String, String, String)>")]
pub struct EdgeNames(pub BTreeMap<(String, String), String>);

impl EdgeNames {
    /// Whether all edges have the default kind.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl TryFrom<Vec<(String, String, String)>> for EdgeNames {
    type Error = String;

    fn try_from(listed: Vec<(String, String, String)>) -> Result<Self, String> {
        let mut kinds = BTreeMap::new();
        for (dependency, dependent, kind) in listed {
            let told = format!("the edge [{dependency:?}, {dependent:?}] is given two kinds");
            if kinds.insert((dependency, dependent), kind).is_some() {
                return Err(told);
            }
        }
        Ok(Self(kinds))
    }
}

impl From<EdgeNames> for Vec<(String, String, String)> {
    fn from(kinds: EdgeNames) -> Self {
        kinds.0.into_iter().map(|((dependency, dependent), kind)| (dependency, dependent, kind)).collect()
    }
}

/// Why a graph from a file is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamedGraphError {
    /// An edge names a node that is not listed.
    #[error("the edge [{0:?}, {1:?}] names {2:?}, which is not among the nodes; list it there")]
    UnknownEnd(String, String, String),
    /// A kind is given to an edge that is not listed.
    #[error("the edge [{0:?}, {1:?}] has a kind and is not among the edges; list it there")]
    UnknownEdge(String, String),
    /// Attributes are given to a node that is not listed.
    #[error("{0:?} has attributes and is not among the nodes; list it there")]
    UnknownNode(String),
    /// A name of an attribute, a value or a kind that there is none of.
    #[error("{0}: {1}")]
    UnknownName(String, String),
    /// The edges go round in a circle.
    #[error(transparent)]
    Cycle(#[from] CycleError),
}

impl NamedGraph {
    /// Whether it says nothing of attributes and kinds.
    pub fn is_bare(&self) -> bool {
        self.attributes.is_empty() && self.kinds.is_empty()
    }

    /// The graph with the names its resources go by.
    pub fn new(graph: &Graph, names: &Names) -> Self {
        let signature = Signature::attributed();
        let name = |resource| names.of(resource).to_owned();
        let pair = |edge: Edge| (name(edge.dependency), name(edge.dependent));
        let mut attributes: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        for (node, attribute, value) in graph.values() {
            let value = signature.value_name(attribute, value).to_owned();
            let of_node = attributes.entry(name(node)).or_default();
            of_node.insert(signature.attribute_name(attribute).to_owned(), value);
        }
        let kinds = graph.kinds().filter(|(_, kind)| !kind.is_default());
        Self {
            nodes: graph.nodes().map(name).collect(),
            edges: graph.edges().map(pair).collect(),
            attributes,
            kinds: EdgeNames(
                kinds.map(|(edge, kind)| (pair(edge), signature.kind_name(kind).to_owned())).collect(),
            ),
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
        if let Some((from, to)) = self.kinds.0.keys().find(|edge| !self.edges.contains(*edge)) {
            return Err(NamedGraphError::UnknownEdge(from.clone(), to.clone()));
        }
        let edges: Vec<(&str, &str)> = self.edges.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let order = topological_order(self.nodes.iter().map(String::as_str), &edges)?;
        let resources: BTreeMap<&str, Resource> =
            order.iter().zip(0..).map(|(name, index)| (name.as_str(), Resource::new(index))).collect();
        let mut graph = Graph::default();
        resources.values().for_each(|&resource| graph.add(resource));
        for pair in &self.edges {
            let edge = Edge::new(resources[pair.0.as_str()], resources[pair.1.as_str()]);
            let kind = self.kind(pair)?;
            graph.connect(edge, kind).expect("both ends are there, and the order has every edge go upward");
        }
        self.give_values(&mut graph, &resources)?;
        drop(resources);
        Ok((graph, Names::new(order)))
    }

    fn kind(&self, pair: &(String, String)) -> Result<Kind, NamedGraphError> {
        let Some(name) = self.kinds.0.get(pair) else { return Ok(Kind::DEFAULT) };
        let signature = Signature::attributed();
        signature.kind(name).ok_or_else(|| {
            let edge = format!("the edge [{:?}, {:?}]", pair.0, pair.1);
            NamedGraphError::UnknownName(edge, signature.no_kind(name))
        })
    }

    fn give_values(
        &self,
        graph: &mut Graph,
        resources: &BTreeMap<&str, Resource>,
    ) -> Result<(), NamedGraphError> {
        let signature = Signature::attributed();
        for (node, values) in &self.attributes {
            let &resource =
                resources.get(node.as_str()).ok_or_else(|| NamedGraphError::UnknownNode(node.clone()))?;
            let unknown = |message| NamedGraphError::UnknownName(format!("the node {node:?}"), message);
            for (name, value) in values {
                let attribute =
                    signature.attribute(name).ok_or_else(|| unknown(signature.no_attribute(name)))?;
                let value = signature.attributes()[attribute.at()]
                    .value(value)
                    .ok_or_else(|| unknown(signature.no_value(attribute, value)))?;
                graph.set(resource, attribute, value).expect("all nodes are there");
            }
        }
        Ok(())
    }

    /// What the other graph has and lacks beside this one, a line for each difference.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let edge = |(dependency, dependent): &(String, String)| format!("{dependency} → {dependent}");
        let mut lines = Vec::new();
        lines.extend(self.nodes.difference(&other.nodes).map(|node| format!("- node {node}")));
        lines.extend(other.nodes.difference(&self.nodes).map(|node| format!("+ node {node}")));
        lines.extend(self.edges.difference(&other.edges).map(|pair| format!("- edge {}", edge(pair))));
        lines.extend(other.edges.difference(&self.edges).map(|pair| format!("+ edge {}", edge(pair))));
        let signature = Signature::attributed();
        for node in self.nodes.intersection(&other.nodes) {
            for attribute in signature.attributes() {
                let (left, right) = (self.value(node, attribute.name()), other.value(node, attribute.name()));
                let default = attribute.values()[0].as_str();
                if left != right {
                    let (left, right) = (left.unwrap_or(default), right.unwrap_or(default));
                    lines.push(format!("~ node {node}: {} {left} → {right}", attribute.name()));
                }
            }
        }
        for pair in self.edges.intersection(&other.edges) {
            let kind = |graph: &Self| graph.kinds.0.get(pair).unwrap_or(&signature.kinds()[0]).clone();
            let (left, right) = (kind(self), kind(other));
            if left != right {
                lines.push(format!("~ edge {}: {left} → {right}", edge(pair)));
            }
        }
        lines
    }

    fn value(&self, node: &str, attribute: &str) -> Option<&str> {
        self.attributes.get(node)?.get(attribute).map(String::as_str)
    }

    /// The label of a node in a picture: its name, and a line for each value that is not the default.
    fn label(&self, node: &str) -> String {
        let values = self.attributes.get(node).into_iter().flatten();
        values.fold(node.to_owned(), |label, (name, value)| label + "\n" + name + "=" + value)
    }

    /// The same for the graph library: edges lead from the dependency to its dependent, and are named by their kinds
    /// if those are not the default.
    pub fn to_petgraph(&self) -> DiGraph<&str, &str> {
        let mut graph = DiGraph::with_capacity(self.nodes.len(), self.edges.len());
        let places: BTreeMap<&str, _> =
            self.nodes.iter().map(|node| (node.as_str(), graph.add_node(node.as_str()))).collect();
        for pair in &self.edges {
            if let (Some(from), Some(to)) = (places.get(pair.0.as_str()), places.get(pair.1.as_str())) {
                graph.add_edge(*from, *to, self.kinds.0.get(pair).map_or("", String::as_str));
            }
        }
        graph
    }

    /// The graph for Graphviz.
    pub fn to_dot(&self) -> String {
        let graph = self.to_petgraph().map_owned(|_, node| self.label(node), |_, kind| kind);
        let config: &[Config] = if self.kinds.is_empty() { &[Config::EdgeNoLabel] } else { &[] };
        Dot::with_config(&graph, config).to_string()
    }

    /// The graph for Mermaid. Its names are labels there, since Mermaid takes few characters in names.
    pub fn to_mermaid(&self) -> String {
        let number = |name: &String| self.nodes.range(..name.clone()).count();
        let mut text = String::from("flowchart TD\n");
        for (number, node) in self.nodes.iter().enumerate() {
            text.push_str(&format!(
                "  n{number}[\"{}\"]\n",
                self.label(node).replace('#', "#35;").replace('"', "#quot;").replace('\n', "<br>")
            ));
        }
        for pair in &self.edges {
            let kind = self.kinds.0.get(pair).map_or_else(String::new, |kind| format!("|{kind}|"));
            text.push_str(&format!("  n{} -->{kind} n{}\n", number(&pair.0), number(&pair.1)));
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

    const DRESSED: &str = concat!(
        r#"{"nodes":["a","b"],"edges":[["a","b"]],"#,
        r#""attributes":{"a":{"label":"b","pin":"a"}},"kinds":[["a","b","depends_on"]]}"#
    );

    #[test]
    fn values_and_kinds_are_written_if_they_are_not_the_default() {
        let (graph, names) = parse(DRESSED).resolve().unwrap();
        assert_eq!(graph.size(), 5);
        assert_eq!(serde_json::to_string(&NamedGraph::new(&graph, &names)).unwrap(), DRESSED);
        let default = r#"{"nodes":["a"],"edges":[],"attributes":{"a":{"label":"none"}}}"#;
        let (graph, names) = parse(default).resolve().unwrap();
        let json = serde_json::to_string(&NamedGraph::new(&graph, &names)).unwrap();
        assert_eq!(json, r#"{"nodes":["a"],"edges":[]}"#);
    }

    #[test]
    fn what_there_is_none_of_is_refused_with_what_there_is() {
        let error = |rest: &str| {
            let json = format!(r#"{{"nodes":["a","b"],"edges":[["a","b"]],{rest}}}"#);
            match serde_json::from_str::<NamedGraph>(&json) {
                Ok(graph) => graph.resolve().unwrap_err().to_string(),
                Err(error) => error.to_string(),
            }
        };
        assert_eq!(
            error(r#""attributes":{"a":{"color":"red"}}"#),
            "the node \"a\": `color` is not an attribute; \
             there are label, pin, create_before_destroy and ignore_changes"
        );
        assert_eq!(
            error(r#""attributes":{"a":{"pin":"c"}}"#),
            "the node \"a\": `c` is not a value of pin; there are none, a and b"
        );
        assert!(error(r#""attributes":{"c":{"pin":"a"}}"#).starts_with("\"c\" has attributes and is not"));
        assert!(
            error(r#""kinds":[["a","b","loose"]]"#)
                .starts_with("the edge [\"a\", \"b\"]: `loose` is not a kind of edges; there are refs, ")
        );
        assert!(error(r#""kinds":[["b","a","refs"]]"#).contains("is not among the edges"));
        assert!(error(r#""kinds":[["a","b","refs"],["a","b","refs"]]"#).contains("is given two kinds"));
    }

    #[test]
    fn differences_name_values_and_kinds() {
        let plain = parse(r#"{"nodes":["a","b"],"edges":[["a","b"]]}"#);
        assert_eq!(
            plain.differences(&parse(DRESSED)),
            ["~ node a: label none → b", "~ node a: pin none → a", "~ edge a → b: refs → depends_on"]
        );
        assert_eq!(parse(DRESSED).differences(&parse(DRESSED)), [""; 0]);
    }

    #[test]
    fn pictures_show_values_and_kinds() {
        let dot = parse(DRESSED).to_dot();
        assert!(dot.contains("label = \"a\\llabel=b\\lpin=a\"") && dot.contains("depends_on"), "{dot}");
        assert!(parse(DRESSED).to_mermaid().contains("n0[\"a<br>label=b<br>pin=a\"]"));
        assert!(parse(DRESSED).to_mermaid().contains("n0 -->|depends_on| n1"));
    }
}
