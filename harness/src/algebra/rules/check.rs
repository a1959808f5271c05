//! The gate for rules: both sides must mean the same on every small graph, under every binding.

use std::fmt;

use super::{Base, Rule, apply_chain};
use crate::algebra::graph::{Graph, NamedGraph, Names, Resource};

/// What a side of a rule comes to.
pub type Side = Option<NamedGraph>;

/// A graph and a binding under which the two sides of a rule differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counterexample {
    /// What the variables stand for.
    pub bindings: Vec<(String, String)>,
    /// The graph both sides are built upon.
    pub graph: NamedGraph,
    /// What the left side makes of it; nothing if it is undefined there.
    pub left: Side,
    /// What the right side makes of it.
    pub right: Side,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = |graph: &NamedGraph| serde_json::to_string(graph).expect("a graph is plain data");
        let side = |side: &Side| side.as_ref().map_or_else(|| "undefined".to_owned(), json);
        let bindings: Vec<String> =
            self.bindings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let (left, right) = (side(&self.left), side(&self.right));
        write!(
            f,
            "with {} on {}, the left side is {left}, the right side {right}",
            bindings.join(", "),
            json(&self.graph)
        )
    }
}

/// Looks for a graph and a binding that the rule's guards admit and under which the sides differ, or only one of them
/// is defined. All graphs over three resources are tried, over four for a rule with four variables, so that all of
/// them can stand for different resources.
pub fn check(rule: &Rule) -> Option<Counterexample> {
    let resources = u32::try_from(rule.variables.len()).expect("a rule has few variables").max(3);
    let names = Names::numbered(resources);
    let graphs: Vec<Graph> = match rule.base {
        Base::Any => Graph::all_over(resources).collect(),
        Base::Empty => vec![Graph::default()],
    };
    for graph in &graphs {
        for binding in rule.bindings(resources) {
            if !rule.guard.holds(&binding, |resource| graph.contains(resource)) {
                continue;
            }
            let (left, right) =
                (apply_chain(&rule.left, &binding, graph), apply_chain(&rule.right, &binding, graph));
            if left != right {
                let named = |graph: &Graph| NamedGraph::new(graph, &names);
                let value = |resource: Option<Resource>| {
                    names.of(resource.expect("all variables are bound")).to_owned()
                };
                return Some(Counterexample {
                    bindings: rule
                        .variables
                        .iter()
                        .zip(binding)
                        .map(|(name, to)| (name.clone(), value(to)))
                        .collect(),
                    graph: named(graph),
                    left: left.as_ref().map(named),
                    right: right.as_ref().map(named),
                });
            }
        }
    }
    None
}
