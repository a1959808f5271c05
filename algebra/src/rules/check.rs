//! The gate for rules: both sides must mean the same on every small graph, under every binding.

use std::fmt;

use super::{Argument, Base, Binding, Condition, Rule, Sort, StepKind, StepPattern};
use crate::egraph::{Denotation, Wide};
use crate::graph::{Graph, NamedGraph, Names, Resource};
use crate::program::{Derivation, Step};
use crate::signature::{AttributeId, Kind, Signature, ValueId};

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
pub fn check(rule: &Rule, signature: &Signature) -> Option<Counterexample> {
    let variables = rule.variables.iter().filter(|(_, sort)| *sort == Sort::Resource).count();
    let enough = u32::try_from(variables + 1).expect("a rule has few variables").max(3);
    if signature.is_bare() {
        return check_over(rule, enough, signature);
    }
    parts_for(rule, variables < 3).iter().find_map(|part| check_over(rule, enough.min(4), part))
}

fn check_over(rule: &Rule, resources: u32, part: &Signature) -> Option<Counterexample> {
    let graphs: Vec<Wide> = match rule.base {
        Base::Any => Graph::all_over(resources, part).map(|graph| wide(&graph)).collect(),
        Base::Empty => vec![Wide::empty()],
    };
    let instances: Vec<(Binding, Vec<Step>, Vec<Step>)> = rule
        .bindings(resources, part)
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

/// The parts of the attributed signature in which a rule is tried.
///
/// No operation compares values or kinds, so it is enough that all that a rule names and all its variables can differ.
/// Rules over few resources can afford an attribute that they say nothing of.
/// Those over many are tried with values and with many kinds, but not with both at once.
fn parts_for(rule: &Rule, few_resources: bool) -> Vec<Signature> {
    let count = |sort| rule.variables.iter().filter(|variable| variable.1 == sort).count();
    let steps = || rule.left.iter().chain(&rule.right);
    let (mut attributes, mut values, mut kinds) = (0, 0, 0);
    let sort_of = |argument| match argument {
        Argument::Variable(variable) => Some(rule.variables[variable.0 as usize].1),
        Argument::Fixed(_) => None,
    };
    let named = steps().flat_map(|step| step.kind.sorts().iter().copied().zip(step.arguments));
    let guarded = rule.guard.0.iter().flatten().filter_map(|condition| match *condition {
        Condition::Differ(left, right) => Some((sort_of(left)?, right)),
        Condition::Member(_) => None,
    });
    for (sort, argument) in named.chain(guarded) {
        let Argument::Fixed(number) = argument else { continue };
        let least = number as usize + 1;
        match sort {
            Sort::Attribute => attributes = attributes.max(least),
            Sort::Value => values = values.max(least),
            Sort::Kind => kinds = kinds.max(least),
            Sort::Resource => {}
        }
    }
    let known = Signature::attributed();
    let has = |kind| steps().any(|step| step.kind == kind);
    let attributes = (attributes + count(Sort::Attribute)).max(1) + usize::from(few_resources);
    let values = (values + count(Sort::Value)).max(2);
    let values: Vec<usize> = known
        .attributes()
        .iter()
        .take(attributes)
        .map(|attribute| values.min(attribute.values().len()))
        .collect();
    let enough = (kinds + count(Sort::Kind)).max(2).min(known.kinds().len());
    let kinds = if has(StepKind::Con) { enough } else { 1 };
    if few_resources || kinds <= 2 {
        return vec![Signature::part(&values, kinds)];
    }
    let without_values = if has(StepKind::Set) { values.clone() } else { Vec::new() };
    vec![Signature::part(&values, 2), Signature::part(&without_values, kinds)]
}

fn wide(graph: &Graph) -> Wide {
    let program = Derivation::canonical(graph);
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
