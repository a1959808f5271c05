//! Programs as derivations: the steps that build a graph, innermost first.
//!
//! The term `(con r0 r1 (add r1 (add r0 empty)))` is the sequence `add r0`, `add r1`, `con r0 r1`. All symbols but
//! `empty` take one graph, so a term is nothing but its steps in the order in which they take effect.

mod sexpr;

pub use sexpr::{Parsed, Position, SyntaxError, TermReader, parse, print};

use crate::graph::{Edge, Graph, Names, Resource, Undefined};
use crate::signature::{AttributeId, Kind, Signature, ValueId};

/// One operation on a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Puts a resource in.
    Add(Resource),
    /// Takes a resource out, and its edges and values with it.
    Rem(Resource),
    /// Puts an edge of this kind in; one that is there takes the kind.
    Con(Edge, Kind),
    /// Takes an edge out, of whatever kind.
    Disc(Edge),
    /// Gives a resource a value of an attribute, in place of the one it had.
    Set(Resource, AttributeId, ValueId),
}

impl Step {
    /// Its name in a term.
    pub const fn symbol(self) -> &'static str {
        match self {
            Step::Add(_) => "add",
            Step::Rem(_) => "rem",
            Step::Con(..) => "con",
            Step::Disc(_) => "disc",
            Step::Set(..) => "set",
        }
    }

    /// The resources it names, in the order they are written.
    pub fn resources(self) -> impl Iterator<Item = Resource> {
        let (first, second) = match self {
            Step::Add(resource) | Step::Rem(resource) | Step::Set(resource, _, _) => (resource, None),
            Step::Con(edge, _) | Step::Disc(edge) => (edge.dependency, Some(edge.dependent)),
        };
        std::iter::once(first).chain(second)
    }

    /// The names of what follows its resources in a term: an attribute and its value, or a kind that is not the
    /// default.
    fn qualifiers(self) -> impl Iterator<Item = &'static str> {
        let signature = Signature::attributed();
        let names = match self {
            Step::Set(_, attribute, value) => {
                [Some(signature.attribute_name(attribute)), Some(signature.value_name(attribute, value))]
            }
            Step::Con(_, kind) if !kind.is_default() => [Some(signature.kind_name(kind)), None],
            _ => [None; 2],
        };
        names.into_iter().flatten()
    }

    /// Whether it speaks of an attribute, or of a kind other than the default.
    pub const fn is_attributed(self) -> bool {
        match self {
            Step::Con(_, kind) => !kind.is_default(),
            Step::Set(..) => true,
            Step::Add(_) | Step::Rem(_) | Step::Disc(_) => false,
        }
    }

    /// Does it to a graph.
    pub fn apply(self, graph: &mut Graph) -> Result<(), Undefined> {
        match self {
            Step::Add(resource) => {
                graph.add(resource);
                Ok(())
            }
            Step::Rem(resource) => graph.remove(resource),
            Step::Con(edge, kind) => graph.connect(edge, kind),
            Step::Disc(edge) => graph.disconnect(edge),
            Step::Set(resource, attribute, value) => graph.set(resource, attribute, value),
        }
    }

    /// The step as it is written in a term, without the graph it applies to.
    pub fn describe(self, names: &Names) -> String {
        let mut text = self.symbol().to_owned();
        self.resources().for_each(|resource| text.extend([" ", names.of(resource)]));
        self.qualifiers().for_each(|name| text.extend([" ", name]));
        text
    }
}

/// A program without a meaning: the step that has none, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllFormed {
    /// The index of the step, counted from the innermost.
    pub at: usize,
    /// The step.
    pub step: Step,
    /// What is wrong with it.
    pub why: Undefined,
}

impl IllFormed {
    /// The error as a sentence, with the names of the resources.
    pub fn describe(&self, names: &Names) -> String {
        let why = match self.why {
            Undefined::Absent(resource) => {
                format!("{} is not in the graph at this point; add it first", names.of(resource))
            }
            Undefined::Backward(edge) if edge.dependency == edge.dependent => {
                "a resource cannot depend on itself".to_owned()
            }
            Undefined::Backward(edge) => {
                let (from, to) = (names.of(edge.dependency), names.of(edge.dependent));
                format!("{from} comes after {to} in the fixed order; edges go upward")
            }
        };
        format!("({} …): {why}", self.step.describe(names))
    }
}

/// The derivation of a graph: a sequence of steps from the empty graph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Derivation(Vec<Step>);

impl Derivation {
    /// The derivation of these steps, innermost first.
    pub fn new(steps: Vec<Step>) -> Self {
        Self(steps)
    }

    /// The derivation that adds the graph's nodes in order, then sets its values, then adds its edges, each in order.
    /// None is shorter.
    pub fn canonical(graph: &Graph) -> Self {
        let values = graph.values().map(|(resource, attribute, value)| Step::Set(resource, attribute, value));
        let edges = graph.kinds().map(|(edge, kind)| Step::Con(edge, kind));
        Self(graph.nodes().map(Step::Add).chain(values).chain(edges).collect())
    }

    /// Its steps, innermost first.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// How many steps it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it is `empty` itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The graph it means, if it is well-formed.
    pub fn eval(&self) -> Result<Graph, IllFormed> {
        self.eval_each(|_| {})
    }

    /// Evaluates it and shows the graph after each step.
    pub fn eval_each(&self, mut after_step: impl FnMut(&Graph)) -> Result<Graph, IllFormed> {
        let mut graph = Graph::default();
        for (at, &step) in self.0.iter().enumerate() {
            step.apply(&mut graph).map_err(|why| IllFormed { at, step, why })?;
            after_step(&graph);
        }
        Ok(graph)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_derivation_of_every_small_graph_means_that_graph() {
        let attributed = Signature::part(&[2, 2], 2);
        for graph in Graph::all_over(4, Signature::bare()).chain(Graph::all_over(3, &attributed)) {
            let program = Derivation::canonical(&graph);
            assert_eq!(program.len(), graph.size());
            assert_eq!(program.eval(), Ok(graph));
        }
    }

    #[test]
    fn an_ill_formed_derivation_names_its_innermost_bad_step() {
        let resource = Resource::new(0);
        let program = Derivation::new(vec![Step::Add(resource), Step::Rem(resource), Step::Rem(resource)]);
        let error = program.eval().unwrap_err();
        assert_eq!(error.at, 2);
        assert_eq!(
            error.describe(&Names::numbered(1)),
            "(rem r0 …): r0 is not in the graph at this point; add it first"
        );
    }
}
