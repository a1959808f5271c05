//! The explicit e-graph, made for an algebra whose symbols take one graph each.
//!
//! [`core`](EGraph) holds classes and e-nodes; `saturate` applies the rules to it; what comes out is frozen for
//! extraction, drawing and the cache.

mod cache;
mod core;
mod denotation;
mod directed;
pub mod draw;
mod extract;
mod frozen;
mod ground;
mod matching;
mod operations;
mod saturate;
mod table;

pub use cache::{Cache, CacheError, GraphOrigin};
pub use core::{EGraph, Unsound};
pub use denotation::{Denotation, Packed, Sparse, Wide};
pub use extract::Extraction;
pub use frozen::{Frozen, Stats};
pub use operations::{Op, Operations};
pub use saturate::{Ending, Limits, Progress, UnsoundRule, saturate};
pub use table::{ClassId, Dense, Lists, Table};

/// The e-graph of the bare algebra for up to ten resources: a graph is a word, the hash-cons an array.
pub type SmallEGraph = EGraph<Packed, Dense>;

/// The e-graph for up to seven resources with attributes and kinds.
pub type WideEGraph = EGraph<Wide, Dense>;

/// The e-graph for any universe.
pub type LargeEGraph = EGraph<Sparse, Lists>;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::graph::Graph;
    use crate::implicit::steps_from;
    use crate::program::{Derivation, parse};
    use crate::rules::{Rules, StepKind};
    use crate::signature::Signature;

    fn saturated<D: Denotation, T: Table>(resources: u32, rules: &Rules) -> EGraph<D, T> {
        saturated_over(resources, Signature::bare(), rules)
    }

    fn saturated_over<D: Denotation, T: Table>(
        resources: u32,
        signature: &Signature,
        rules: &Rules,
    ) -> EGraph<D, T> {
        let mut egraph = EGraph::new(resources, signature);
        let ending = saturate(&mut egraph, rules, Limits::default(), |_| {}).unwrap();
        assert_eq!(ending, Ending::Saturated);
        egraph
    }

    fn assert_a_class_for_each_graph<D: Denotation, T: Table>(egraph: &EGraph<D, T>, classes: usize) {
        let graphs: BTreeSet<Graph> = egraph.classes().map(|class| egraph.graph(class).graph()).collect();
        assert_eq!((graphs.len(), egraph.class_count()), (classes, classes));
    }

    #[test]
    fn saturation_ends_by_itself_with_a_class_for_each_graph() {
        for (resources, classes) in [(0, 1), (1, 2), (2, 5), (3, 18), (4, 113), (5, 1_450), (6, 40_069)] {
            assert_a_class_for_each_graph::<Packed, Dense>(&saturated(resources, &Rules::algebra()), classes);
        }
    }

    #[test]
    fn with_attributes_and_kinds_saturation_ends_with_a_class_for_each_graph() {
        let signatures: [(&[usize], usize); 6] =
            [(&[], 1), (&[2], 1), (&[], 2), (&[2], 2), (&[3], 1), (&[], 4)];
        let universes = [2, 3].into_iter().flat_map(|resources| signatures.map(|part| (resources, part)));
        let more: [(u32, (&[usize], usize)); 3] = [(2, (&[2, 2], 1)), (2, (&[2, 2], 2)), (2, (&[4, 3], 5))];
        for (resources, (values, kinds)) in universes.chain(more) {
            let signature = Signature::part(values, kinds);
            let classes = usize::try_from(signature.graphs(resources).unwrap()).unwrap();
            let egraph = saturated_over(resources, &signature, &Rules::attributed());
            assert_a_class_for_each_graph::<Wide, Dense>(&egraph, classes);
        }
        assert_a_class_for_each_graph::<Wide, Dense>(
            &saturated_over(1, Signature::attributed(), &Rules::attributed()),
            1 + 48,
        );
    }

    #[test]
    fn the_large_e_graph_saturates_to_the_same_classes_with_attributes_and_kinds() {
        let signature = Signature::part(&[2], 2);
        let egraph = saturated_over(3, &signature, &Rules::attributed());
        assert_a_class_for_each_graph::<Sparse, Lists>(&egraph, 259);
    }

    #[test]
    fn the_large_e_graph_saturates_to_the_same_classes() {
        for (resources, classes) in [(2, 5), (3, 18), (4, 113), (5, 1_450)] {
            assert_a_class_for_each_graph::<Sparse, Lists>(&saturated(resources, &Rules::algebra()), classes);
        }
    }

    /// With `and` where `or` belongs, the rules are sound but cannot prove all that is true: the classes come from the
    /// rules, not from the graphs they denote.
    #[test]
    fn the_rules_with_the_narrow_guard_are_incomplete() {
        let text = include_str!("../rules/algebra.rules").replace("a != c or b != d", "a != c and b != d");
        let rules = Rules::from_user_file(&text, Signature::bare()).unwrap();
        assert_eq!(saturated::<Packed, Dense>(3, &rules).class_count(), 28);
        assert_eq!(saturated::<Packed, Dense>(4, &rules).class_count(), 1_551);
    }

    #[test]
    fn explicit_and_implicit_e_graph_have_the_same_classes_and_e_nodes() {
        let universes = (0..=4).map(|resources| (resources, Signature::bare().clone()));
        let attributed = [(2, Signature::part(&[3, 2], 3)), (3, Signature::part(&[2], 2))];
        for (resources, signature) in universes.chain(attributed) {
            let signature = &signature;
            let egraph: WideEGraph = saturated_over(resources, signature, &Rules::over(signature));
            let everything = 0..egraph.operations().count();
            let explicit: BTreeSet<(Graph, _, Graph)> = egraph
                .classes()
                .flat_map(|child| {
                    egraph.table().row(child, everything.clone()).map(move |(op, class)| (child, op, class))
                })
                .map(|(child, op, class)| {
                    (egraph.graph(child).graph(), egraph.operations().step(op), egraph.graph(class).graph())
                })
                .collect();
            let mut reached = BTreeSet::from([Graph::default()]);
            let mut queue = vec![Graph::default()];
            let mut implicit = BTreeSet::new();
            while let Some(graph) = queue.pop() {
                for (step, next) in steps_from(&graph, resources, signature) {
                    implicit.insert((graph.clone(), step, next.clone()));
                    if reached.insert(next.clone()) {
                        queue.push(next);
                    }
                }
            }
            assert_eq!(reached, egraph.classes().map(|class| egraph.graph(class).graph()).collect());
            assert_eq!(explicit, implicit);
        }
    }

    #[test]
    fn saturation_is_deterministic() {
        let rows = || {
            Frozen::build(4, Signature::bare(), &[], &Rules::algebra(), Limits::default(), |_| {})
                .unwrap()
                .entries
        };
        assert_eq!(rows(), rows());
    }

    #[test]
    fn the_analysis_refuses_a_rule_that_joins_different_graphs() {
        let rules = Rules::parse("false vanish (add a g) = g").unwrap();
        let seed = parse("(add a empty)").unwrap().derivation;
        let error =
            Frozen::build(1, Signature::bare(), &[seed], &rules, Limits::default(), |_| {}).unwrap_err();
        insta::assert_snapshot!(error);
    }

    #[test]
    fn the_analysis_refuses_an_absorption_that_invents_a_resource() {
        let text = include_str!("../rules/algebra.rules").replace("if b in g", "").replace("if a in g", "");
        let error = Frozen::build(
            2,
            Signature::bare(),
            &[],
            &Rules::parse(&text).unwrap(),
            Limits::default(),
            |_| {},
        )
        .unwrap_err();
        assert!(matches!(*error.what, Unsound::Undefined { .. }), "{error}");
    }

    #[test]
    fn limits_are_kept() {
        let build = |limits| {
            Frozen::build(7, Signature::bare(), &[], &Rules::algebra(), limits, |_| {}).unwrap().stats.ending
        };
        assert_eq!(build(Limits { classes: Some(100), ..Limits::default() }), Ending::ClassLimit);
        assert_eq!(build(Limits { nodes: Some(100), ..Limits::default() }), Ending::NodeLimit);
        assert_eq!(
            build(Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() }),
            Ending::TimeOut
        );
    }

    /// Programs that mean the same are in one class of the saturated e-graph, others are not.
    fn classes_of(terms: &[&str]) -> Vec<ClassId> {
        let names = ["a", "b", "r1", "r2", "r3"];
        let used: Vec<&str> =
            names.into_iter().filter(|name| terms.iter().any(|term| term.contains(name))).collect();
        let count = u32::try_from(used.len()).unwrap();
        let rules = Rules::algebra();
        let egraph = Frozen::build(count, Signature::bare(), &[], &rules, Limits::default(), |_| {}).unwrap();
        let operations = egraph.operations();
        let place = |parsed: &crate::program::Parsed, number: u32| {
            let name = parsed.names.of(crate::graph::Resource::new(number));
            used.iter().position(|used| *used == name).unwrap() as u32
        };
        let class = |term: &&str| {
            let parsed = parse(term).unwrap();
            let steps: Vec<_> = parsed
                .derivation
                .steps()
                .iter()
                .map(|&step| {
                    let (kind, [first, second, rest]) = StepKind::of(step);
                    let second = if kind.takes_edge() { place(&parsed, second) } else { 0 };
                    kind.step([place(&parsed, first), second, rest])
                })
                .collect();
            egraph.lookup(&operations, &steps).unwrap()
        };
        terms.iter().map(class).collect()
    }

    #[test]
    fn removing_what_was_added_is_equal_to_nothing_at_all() {
        let classes = classes_of(&[
            "empty",
            "(rem a (add a empty))",
            "(rem a (add a (rem a (add a empty))))",
            "(add a empty)",
        ]);
        assert_eq!(classes[..3], [Frozen::EMPTY; 3]);
        assert_ne!(classes[3], Frozen::EMPTY);
    }

    #[test]
    fn removing_a_resource_that_does_not_exist_is_in_no_class() {
        let egraph: SmallEGraph = saturated(2, &Rules::algebra());
        let rem = egraph.operations().of_kind(StepKind::Rem);
        assert_eq!(egraph.table().row(SmallEGraph::EMPTY, rem).count(), 0);
    }

    #[test]
    fn a_resource_added_and_removed_around_another_leaves_the_other() {
        let classes =
            classes_of(&["(rem a (add b (add a empty)))", "(add b empty)", "(add b (rem a (add a empty)))"]);
        assert_eq!(classes[0], classes[1]);
        assert_eq!(classes[0], classes[2]);
    }

    #[test]
    fn a_third_resource_may_come_and_go() {
        let classes = classes_of(&[
            "(con r1 r2 (add r2 (add r1 empty)))",
            "(rem r3 (con r1 r2 (con r2 r3 (add r3 (add r2 (add r1 empty))))))",
            "(con r1 r2 (rem r3 (con r1 r3 (add r2 (add r3 (add r1 empty))))))",
            "(con r1 r2 (con r2 r3 (add r3 (add r2 (add r1 empty)))))",
        ]);
        assert_eq!(classes[0], classes[1]);
        assert_eq!(classes[0], classes[2]);
        assert_ne!(classes[0], classes[3]);
    }

    #[test]
    fn a_program_is_in_an_e_graph_it_was_seeded_with_even_if_that_stops_early() {
        let source = (0..15).map(crate::graph::Resource::new).map(crate::program::Step::Add).collect();
        let seed = Derivation::new(source);
        let limits = Limits { classes: Some(500), ..Limits::default() };
        let egraph = Frozen::build(
            15,
            Signature::bare(),
            std::slice::from_ref(&seed),
            &Rules::algebra(),
            limits,
            |_| {},
        )
        .unwrap();
        assert_eq!(egraph.stats.ending, Ending::ClassLimit);
        assert!(egraph.lookup(&egraph.operations(), seed.steps()).is_some());
    }
}
