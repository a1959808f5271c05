//! The explicit e-graph, made for an algebra whose symbols take one graph each.
//!
//! [`core`](EGraph) holds classes and e-nodes; [`saturate`] applies the rules to it; what comes out is frozen for
//! extraction, drawing and the cache.

mod core;
mod denotation;
mod directed;
mod ground;
mod matching;
mod operations;
mod saturate;
mod table;

pub use core::{EGraph, Unsound};
pub use denotation::{Denotation, Packed, Sparse};
pub use operations::{Op, Operations};
pub use saturate::{Ending, Limits, Progress, UnsoundRule, saturate};
pub use table::{ClassId, Dense, Lists, Table};

/// The e-graph for universes of up to ten resources: a graph is a word, the hash-cons an array.
pub type SmallEGraph = EGraph<Packed, Dense>;

/// The e-graph for any universe.
pub type LargeEGraph = EGraph<Sparse, Lists>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;

    fn saturated<D: Denotation, T: Table>(resources: u32, rules: &Rules) -> EGraph<D, T> {
        let mut egraph = EGraph::new(resources);
        let start = std::time::Instant::now();
        let ending = saturate(&mut egraph, rules, Limits::default(), |_| {}).unwrap();
        eprintln!(
            "{resources}: {:?} made {} classes {} nodes {}",
            start.elapsed(),
            egraph.classes_made(),
            egraph.class_count(),
            egraph.node_count()
        );
        assert_eq!(ending, Ending::Saturated);
        egraph
    }

    #[test]
    fn saturation_ends_by_itself_with_a_class_for_each_graph() {
        for (resources, classes) in [(0, 1), (1, 2), (2, 5), (3, 18), (4, 113), (5, 1_450), (6, 40_069)] {
            assert_eq!(saturated::<Packed, Dense>(resources, &Rules::algebra()).class_count(), classes);
        }
        for (resources, classes) in [(2, 5), (3, 18), (4, 113), (5, 1450)] {
            assert_eq!(saturated::<Sparse, Lists>(resources, &Rules::algebra()).class_count(), classes);
        }
    }

    #[test]
    fn the_rules_with_the_narrow_guard_are_incomplete() {
        let text = include_str!("../rules/algebra.rules").replace("a != c or b != d", "a != c and b != d");
        let rules = Rules::from_user_file(&text).unwrap();
        assert_eq!(saturated::<Packed, Dense>(3, &rules).class_count(), 28);
        assert_eq!(saturated::<Packed, Dense>(4, &rules).class_count(), 1_551);
    }
}
