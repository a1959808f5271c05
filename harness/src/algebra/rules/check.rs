//! The gate for rules: both sides must mean the same on every small graph, under every binding.

use std::fmt;

use super::{Argument, Base, Binding, Rule, Sort, StepKind, StepPattern};
use crate::algebra::egraph::{Denotation, Wide};
use crate::algebra::graph::{Graph, NamedGraph, Names, Resource};
use crate::algebra::program::{Program, Step};
use crate::algebra::signature::{AttributeId, Kind, Signature, ValueId};

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
/// is defined. All graphs over a few resources are tried: three at least, and one more than the rule has variables for
/// them, so that all of these can differ and there is a resource that the rule says nothing of. With attributes and
/// kinds four resources are the most, since five have a million graphs.
///
/// Of the signature a part will do: two kinds and one attribute with two values, and beyond that what the rule names
/// and as much as its variables need to differ.
pub fn check(rule: &Rule, signature: &Signature) -> Option<Counterexample> {
    let part = if signature.is_bare() { Signature::bare().clone() } else { part_for(rule) };
    let most = if part.is_bare() { 5 } else { 4 };
    let variables = rule.variables.iter().filter(|(_, sort)| *sort == Sort::Resource).count();
    let resources = u32::try_from(variables + 1).expect("a rule has few variables").clamp(3, most);
    let graphs: Vec<Wide> = match rule.base {
        Base::Any => Graph::all_over(resources, &part).map(|graph| wide(&graph)).collect(),
        Base::Empty => vec![Wide::empty()],
    };
    let instances: Vec<(Binding, Vec<Step>, Vec<Step>)> = rule
        .bindings(resources, &part)
        .map(|binding| (binding, steps(&rule.left, &binding), steps(&rule.right, &binding)))
        .collect();
    for graph in &graphs {
        for (binding, left, right) in &instances {
            if !rule.guard.holds(binding, |resource| graph.contains(resource)) {
                continue;
            }
            let (left, right) = (after(*graph, left), after(*graph, right));
            if left != right {
                let names = Names::numbered(resources);
                let named = |graph: Wide| NamedGraph::new(&graph.graph(), &names);
                return Some(Counterexample {
                    bindings: rule
                        .variables()
                        .map(|variable| bound(rule, binding, Argument::Variable(variable), &names))
                        .collect(),
                    graph: named(*graph),
                    left: left.map(named),
                    right: right.map(named),
                });
            }
        }
    }
    None
}

/// The part of the attributed signature in which a rule is tried.
fn part_for(rule: &Rule) -> Signature {
    let count = |sort| rule.variables.iter().filter(|variable| variable.1 == sort).count();
    let mut values = vec![count(Sort::Value).clamp(2, 3); count(Sort::Attribute).clamp(1, 4)];
    let mut kinds = count(Sort::Kind).max(2);
    let differing = rule.guard.0.iter().flatten().filter_map(|condition| match *condition {
        super::Condition::Differ(Argument::Variable(variable), Argument::Fixed(number)) => {
            Some((rule.variables[variable.0 as usize].1, number as usize))
        }
        _ => None,
    });
    for (sort, number) in differing {
        match sort {
            Sort::Attribute => values.resize(values.len().max(number + 1), 2),
            Sort::Kind => kinds = kinds.max(number + 1),
            Sort::Value | Sort::Resource => {}
        }
    }
    for pattern in rule.left.iter().chain(&rule.right) {
        match (pattern.kind, pattern.arguments) {
            (StepKind::Con, [_, _, Argument::Fixed(kind)]) => kinds = kinds.max(kind as usize + 1),
            (StepKind::Set, [_, Argument::Fixed(attribute), value]) => {
                let attribute = attribute as usize;
                values.resize(values.len().max(attribute + 1), 1);
                let named = if let Argument::Fixed(value) = value { value as usize + 1 } else { 2 };
                values[attribute] = values[attribute].max(named).max(2);
            }
            _ => {}
        }
    }
    let known = Signature::attributed().attributes();
    let values: Vec<usize> =
        values.iter().zip(known).map(|(&count, attribute)| count.min(attribute.values().len())).collect();
    Signature::part(&values, kinds)
}

fn wide(graph: &Graph) -> Wide {
    let program = Program::canonical(graph);
    after(Wide::empty(), program.steps()).expect("a canonical program is well-formed")
}

fn steps(chain: &[StepPattern], binding: &Binding) -> Vec<Step> {
    chain.iter().map(|pattern| pattern.instance(binding).expect("all variables are bound")).collect()
}

/// The graph that steps make of a graph, or nothing if one of them has no meaning there.
fn after(graph: Wide, steps: &[Step]) -> Option<Wide> {
    steps.iter().try_fold(graph, |graph, &step| graph.after(step))
}

/// The name of a variable, and of what it stands for. A value is named by the first attribute that it is used with.
fn bound(rule: &Rule, binding: &Binding, variable: Argument, names: &Names) -> (String, String) {
    let Argument::Variable(at) = variable else { unreachable!("asked about variables only") };
    let number = binding.get(at).expect("all variables are bound");
    let small = u8::try_from(number).unwrap_or(u8::MAX);
    let signature = Signature::attributed();
    let (name, sort) = &rule.variables[at.0 as usize];
    let value = match sort {
        Sort::Resource => names.of(Resource::new(number)),
        Sort::Attribute => signature.attribute_name(AttributeId::new(small)),
        Sort::Kind => signature.kind_name(Kind::new(small)),
        Sort::Value => {
            let setting = rule.left.iter().chain(&rule.right).find(|step| step.arguments[2] == variable);
            let attribute = setting.and_then(|step| binding.value(step.arguments[1])).unwrap_or(0);
            let attribute = AttributeId::new(u8::try_from(attribute).expect("a few attributes"));
            signature.value_name(attribute, ValueId::new(small))
        }
    };
    (name.clone(), value.to_owned())
}
