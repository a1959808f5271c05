//! What the analysis holds for each class: the graph its programs denote.

mod packed;
mod sparse;
mod wide;

use std::fmt::Debug;

pub use packed::Packed;
pub use sparse::Sparse;
pub use wide::Wide;

use crate::graph::{Graph, Resource};
use crate::program::Step;

/// A graph in a form made for an e-graph: cheap to compare, to copy and to change by one operation.
pub trait Denotation: Clone + Eq + Debug {
    /// The empty graph.
    fn empty() -> Self;

    /// Whether the resource is there.
    fn contains(&self, resource: Resource) -> bool;

    /// The graph after a step, or nothing if that is not defined. Edges come in the fixed order.
    fn after(&self, step: Step) -> Option<Self>;

    /// Its number of nodes, edges and values that are not the default: the length of its shortest program.
    fn size(&self) -> usize;

    /// The graph as others know it.
    fn graph(&self) -> Graph;

    /// How many bytes it takes beside its own size.
    fn heap_bytes(&self) -> usize;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::egraph::Operations;
    use crate::egraph::operations::Op;
    use crate::implicit::steps_from;
    use crate::signature::Signature;

    fn agrees_with_the_algebra<D: Denotation>(resources: u32, signature: &Signature) {
        let operations = Operations::over(resources, signature);
        let mut seen = BTreeMap::from([(Graph::default(), D::empty())]);
        let mut queue = vec![Graph::default()];
        while let Some(graph) = queue.pop() {
            let denotation = seen[&graph].clone();
            assert_eq!(denotation.graph(), graph);
            assert_eq!(denotation.size(), graph.size());
            for (step, after) in steps_from(&graph, resources, signature) {
                let denoted = denotation.after(step).expect("defined on the graph");
                assert_eq!(denoted.graph(), after);
                seen.entry(after).or_insert_with_key(|after| {
                    queue.push(after.clone());
                    denoted
                });
            }
            let all = (0..operations.count()).map(|number| operations.step(Op(number)));
            let defined = all.filter(|&step| denotation.after(step).is_some()).count();
            assert_eq!(defined, steps_from(&graph, resources, signature).count());
        }
        assert_eq!(Some(seen.len() as u128), signature.graphs(resources));
    }

    #[test]
    fn packed_graphs_follow_the_algebra() {
        agrees_with_the_algebra::<Packed>(4, Signature::bare());
    }

    #[test]
    fn sparse_graphs_follow_the_algebra() {
        agrees_with_the_algebra::<Sparse>(4, Signature::bare());
        agrees_with_the_algebra::<Sparse>(3, &Signature::part(&[2, 2], 2));
    }

    #[test]
    fn wide_graphs_follow_the_algebra() {
        agrees_with_the_algebra::<Wide>(4, Signature::bare());
        agrees_with_the_algebra::<Wide>(3, &Signature::part(&[2, 2], 2));
        agrees_with_the_algebra::<Wide>(1, Signature::attributed());
        assert!(Wide::fits(7, Signature::attributed()));
    }
}
