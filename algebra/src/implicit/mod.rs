//! The implicit e-graph: its classes are the graphs themselves, and the e-nodes of a class are computed from its graph.
//!
//! All symbols but `empty` take one graph, so an e-node is a labelled step from one class to another, and a program is
//! a path from the class of `empty`. [`steps_from`] gives the steps out of a class; a [`Walker`] goes the other way,
//! from the source back to `empty`, and needs to see no more than the class it stands in.

mod indexed_set;
mod state;
mod walker;

use crate::graph::{Edge, Graph, Resource};
use crate::program::Step;
use crate::signature::Signature;

pub use walker::{Escape, Pace, Walker};

/// Every step that is defined on a graph, over the first `resources` resources, and the graph it leads to.
pub fn steps_from<'a>(
    graph: &'a Graph,
    resources: u32,
    signature: &'a Signature,
) -> impl Iterator<Item = (Step, Graph)> + 'a {
    let all = move || (0..resources).map(Resource::new);
    let edges =
        move || all().flat_map(move |to| (0..to.index()).map(move |from| Edge::new(Resource::new(from), to)));
    let steps = all()
        .map(Step::Add)
        .chain(all().map(Step::Rem))
        .chain(edges().flat_map(|edge| signature.kind_numbers().map(move |kind| Step::Con(edge, kind))))
        .chain(edges().map(Step::Disc))
        .chain(
            all().flat_map(|node| signature.values().map(move |(name, value)| Step::Set(node, name, value))),
        );
    steps.filter_map(|step| {
        let mut next = graph.clone();
        step.apply(&mut next).ok().map(|()| (step, next))
    })
}
