use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use std::collections::BTreeSet;

use super::*;
use crate::batch::{Cuts, cut};
use crate::implicit::steps_from;
use crate::program::Derivation;
use crate::signature::Signature;
use crate::source::Source;

fn source(nodes: u32, edges: u64, seed: u64) -> Graph {
    Source::random(nodes..=nodes, edges..=edges, &mut ChaCha8Rng::seed_from_u64(seed)).graph
}

fn dressed(nodes: u32, edges: u64, weights: &Weights, seed: u64) -> Graph {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Source::random(nodes..=nodes, edges..=edges, &mut rng).dressed(weights, &mut rng).graph
}

/// Weights of all sorts: some values and kinds weigh nothing, and some attributes have no choice at all.
fn some_weights(seed: u64) -> Weights {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let signature = Signature::attributed();
    let mut draw = |count: usize| -> Vec<u32> { (0..count).map(|_| rng.random_range(0..3)).collect() };
    let mut weights = Weights::even(signature).with_kinds(&draw(signature.kinds().len()));
    for (id, attribute) in (0..).map(AttributeId::new).zip(signature.attributes()) {
        weights = weights.with_values(id, &draw(attribute.values().len()));
    }
    weights
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn every_walk_means_its_source_and_keeps_its_bound(
        nodes in 0u32..12, edges in 0u64..30, foreign in 0u32..3,
        epsilon in 0.0..=1.0f64, spare in 0usize..60, seed: u64,
    ) {
        let graph = source(nodes, edges, seed);
        let bound = graph.size() + spare;
        let pace = Pace::Escape { escape: Escape::new(epsilon).unwrap(), bound };
        let mut walker = Walker::new(&graph, nodes + foreign, pace, 0.5, Weights::bare());
        let program = Derivation::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
        prop_assert!(program.len() <= bound);
        prop_assert_eq!(program.eval(), Ok(graph));
    }

    #[test]
    fn a_walk_of_given_length_has_that_length(
        nodes in 2u32..12, edges in 0u64..30, foreign in 0u32..3, spare in 0usize..60, seed: u64,
    ) {
        let graph = source(nodes, edges, seed);
        let length = graph.size() + spare;
        let mut walker = Walker::new(&graph, nodes + foreign, Pace::Length(length), 0.5, Weights::bare());
        let program = Derivation::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
        prop_assert_eq!(program.len(), length);
        prop_assert_eq!(program.eval(), Ok(graph));
    }

    #[test]
    fn every_walk_with_attributes_means_its_source_and_keeps_its_bound(
        nodes in 0u32..9, edges in 0u64..20, foreign in 0u32..3,
        epsilon in 0.0..=1.0f64, spare in 0usize..60, seed: u64,
    ) {
        let graph = dressed(nodes, edges, &Weights::even(Signature::attributed()), seed);
        let bound = graph.size() + spare;
        let pace = Pace::Escape { escape: Escape::new(epsilon).unwrap(), bound };
        let mut walker = Walker::new(&graph, nodes + foreign, pace, 0.5, &some_weights(seed));
        let program = Derivation::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
        prop_assert!(program.len() <= bound);
        prop_assert_eq!(program.eval(), Ok(graph));
    }

    #[test]
    fn a_walk_of_given_length_with_attributes_has_that_length(
        nodes in 2u32..9, edges in 0u64..20, foreign in 0u32..3, spare in 0usize..60, seed: u64,
    ) {
        let graph = dressed(nodes, edges, &Weights::even(Signature::attributed()), seed);
        let length = graph.size() + spare;
        let mut walker = Walker::new(&graph, nodes + foreign, Pace::Length(length), 0.5, &some_weights(seed));
        let program = Derivation::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
        prop_assert_eq!(program.len(), length);
        prop_assert_eq!(program.eval(), Ok(graph));
    }
}

#[test]
fn an_empty_source_has_long_programs_too() {
    let mut walker = Walker::new(&Graph::default(), 2, Pace::Length(20), 0.5, Weights::bare());
    for seed in 0..50 {
        let program = Derivation::new(walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec());
        assert_eq!((program.len(), program.eval()), (20, Ok(Graph::default())));
    }
}

fn walks(escape: f64, leave: f64) -> Vec<Vec<Step>> {
    let graph = source(5, 6, 1);
    let pace = Pace::Escape { escape: Escape::new(escape).unwrap(), bound: 60 };
    let mut walker = Walker::new(&graph, 7, pace, leave, Weights::bare());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..200).map(|_| walker.walk(&mut rng).to_vec()).collect()
}

#[test]
fn without_escapes_every_program_is_shortest() {
    assert!(walks(0.0, 0.5).iter().all(|steps| steps.len() == 11));
}

#[test]
fn with_nothing_but_escapes_a_walk_uses_its_bound() {
    let lengths: Vec<usize> = walks(1.0, 0.5).iter().map(Vec::len).collect();
    assert!(lengths.iter().filter(|&&length| length >= 59).count() > 150, "{lengths:?}");
}

#[test]
fn a_walk_leaves_for_foreign_resources_only_if_told_to() {
    let foreign =
        |steps: &Vec<Step>| steps.iter().any(|step| step.resources().any(|resource| resource.index() >= 5));
    assert_eq!(walks(0.4, 0.0).iter().filter(|steps| foreign(steps)).count(), 0);
    assert!(walks(0.4, 1.0).iter().filter(|steps| foreign(steps)).count() > 100);
}

#[test]
fn a_walk_depends_on_its_random_numbers_alone_not_on_the_walks_before() {
    let graph = source(9, 12, 4);
    let pace = Pace::Escape { escape: Escape::new(0.5).unwrap(), bound: 90 };
    let mut used = Walker::new(&graph, 11, pace, 0.5, Weights::bare());
    (0..20).for_each(|seed| drop(used.walk(&mut ChaCha8Rng::seed_from_u64(seed)).to_vec()));
    let fresh =
        Walker::new(&graph, 11, pace, 0.5, Weights::bare()).walk(&mut ChaCha8Rng::seed_from_u64(99)).to_vec();
    assert_eq!(used.walk(&mut ChaCha8Rng::seed_from_u64(99)), fresh);
}

/// Complete: whatever e-node there is, some walk follows it.
#[test]
fn walks_follow_every_e_node_of_a_small_e_graph() {
    for (signature, resources) in [(Signature::bare().clone(), 3), (Signature::part(&[3], 2), 2)] {
        let all: BTreeSet<(Graph, Step)> = Graph::all_over(resources, &signature)
            .flat_map(|graph| {
                // A walk ends in the class of `empty`, and follows no e-node of it.
                let steps: Vec<Step> = steps_from(&graph, resources, &signature)
                    .filter(|(_, after)| after.size() > 0)
                    .map(|(step, _)| step)
                    .collect();
                steps.into_iter().map(move |step| (graph.clone(), step))
            })
            .collect();
        let weights = Weights::even(&signature);
        let pace = Pace::Escape { escape: Escape::new(0.9).unwrap(), bound: 400 };
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut followed = BTreeSet::new();
        let source = dressed(resources, 1, &weights, 5);
        let mut walker = Walker::new(&source, resources, pace, 0.5, &weights);
        for _ in 0..3000 {
            let program = Derivation::new(walker.walk(&mut rng).to_vec());
            let mut graph = Graph::default();
            for &step in program.steps() {
                followed.insert((graph.clone(), step));
                step.apply(&mut graph).unwrap();
            }
        }
        let missed: Vec<&(Graph, Step)> = all.difference(&followed).collect();
        assert!(missed.is_empty(), "{} of {}: {:?}", missed.len(), all.len(), &missed[..missed.len().min(5)]);
        assert!(followed.is_subset(&all));
    }
}

/// What campaigns want to see: an attribute that changes in a later batch, a setting that comes and goes, an edge that
/// changes its kind.
#[test]
fn between_batches_values_and_kinds_change_in_most_walks() {
    let weights = Weights::half_default(Signature::attributed());
    let graph = dressed(7, 8, &weights, 1);
    let pace = Pace::Escape { escape: Escape::new(0.25).unwrap(), bound: 4 * graph.size() + 16 };
    let mut walker = Walker::new(&graph, 9, pace, 0.5, &weights);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut set, mut changed, mut unset, mut other_kind) = (0, 0, 0, 0);
    for _ in 0..500 {
        let program = Derivation::new(walker.walk(&mut rng).to_vec());
        let mut ends = cut(program.len(), 4, Cuts::Random, &mut rng);
        ends.push(program.len());
        let batches: Vec<Graph> = ends
            .iter()
            .map(|&end| Derivation::new(program.steps()[..end].to_vec()).eval().unwrap())
            .collect();
        let changes = |wanted: &dyn Fn(ValueId, ValueId) -> bool| {
            batches.windows(2).any(|pair| {
                pair[0].nodes().filter(|&node| pair[1].contains(node)).any(|node| {
                    (0..4).map(AttributeId::new).any(|attribute| {
                        let (from, to) = (pair[0].value(node, attribute), pair[1].value(node, attribute));
                        from != to && wanted(from, to)
                    })
                })
            })
        };
        set += usize::from(changes(&|from, _| from.is_default()));
        changed += usize::from(changes(&|from, to| !from.is_default() && !to.is_default()));
        unset += usize::from(changes(&|_, to| to.is_default()));
        let turned = |pair: &[Graph]| {
            pair[0].kinds().any(|(edge, kind)| pair[1].kind(edge).is_some_and(|other| other != kind))
        };
        other_kind += usize::from(batches.windows(2).any(turned));
    }
    let figures = [set, changed, unset, other_kind];
    assert!(figures.iter().zip([450, 80, 220, 180]).all(|(&count, least)| count > least), "{figures:?}");
}

/// Pinned, so that a seed gives the same programs from one release to the next. The figures are those of the walker
/// before there were attributes.
#[test]
fn walks_of_the_bare_algebra_stay_the_same_from_release_to_release() {
    let graph = source(7, 9, 3);
    let digest = |pace: Pace| {
        let mut walker = Walker::new(&graph, 9, pace, 0.5, Weights::bare());
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for seed in 0..200 {
            for step in walker.walk(&mut ChaCha8Rng::seed_from_u64(seed)) {
                let [first, second] = match *step {
                    Step::Add(node) => [node.index(), 100],
                    Step::Rem(node) => [node.index(), 200],
                    Step::Con(edge, kind) => {
                        assert!(kind.is_default());
                        [edge.dependency.index(), 300 + edge.dependent.index()]
                    }
                    Step::Disc(edge) => [edge.dependency.index(), 400 + edge.dependent.index()],
                    Step::Set(..) => unreachable!("there are no attributes"),
                };
                hash = (hash ^ u64::from(first * 1000 + second)).wrapping_mul(0x100_0000_01b3);
            }
        }
        hash
    };
    let escape = Escape::new(0.4).unwrap();
    assert_eq!(digest(Pace::Escape { escape, bound: 80 }), 17_445_794_652_379_430_217);
    assert_eq!(digest(Pace::Length(40)), 13_208_245_555_274_147_679);
}
