//! Variants of a source, by any of the generators, on all cores and in order.
//!
//! Each variant has a random stream of its own, numbered by its place, so what comes out depends on the seed alone.
//! Variants are made a chunk at a time; memory does not grow with their number.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::batch::{Cuts, cut};
#[cfg(feature = "laboratory")]
use crate::egraph::{ClassId, Extraction};
#[cfg(feature = "laboratory")]
use crate::implicit::Escape;
use crate::implicit::{Pace, Walker};
use crate::program::{Derivation, Step};
#[cfg(feature = "laboratory")]
use crate::rewrite::{Budget, Rewriter};
#[cfg(feature = "laboratory")]
use crate::rules::Rules;
#[cfg(feature = "laboratory")]
use crate::signature::Signature;
use crate::source::Source;
use crate::weights::Weights;

/// How variants are made.
#[derive(Debug, Clone, Copy)]
pub enum Generator<'a> {
    /// Walks on the implicit e-graph.
    Implicit {
        /// What decides their length.
        pace: Pace,
        /// How often they leave for resources that are not in the source.
        leave: f64,
        /// Which values and kinds their detours have.
        weights: &'a Weights,
    },
    /// Walks on an e-graph that was built.
    #[cfg(feature = "laboratory")]
    EGraph {
        /// What extraction kept of it.
        extraction: &'a Extraction,
        /// The class of the source.
        class: ClassId,
        /// The escape probability.
        escape: Escape,
        /// The greatest number of steps.
        bound: usize,
    },
    /// Random rewriting of the canonical program.
    #[cfg(feature = "laboratory")]
    Rewrite {
        /// The rules.
        rules: &'a Rules,
        /// What the source's resources and edges can be like.
        signature: &'a Signature,
        /// When to stop.
        budget: Budget,
        /// The greatest number of steps.
        bound: usize,
    },
}

/// Where variants are cut.
#[derive(Debug, Clone, Copy)]
pub struct Batching {
    /// Into how many batches.
    pub batches: usize,
    /// By which choice of places.
    pub cuts: Cuts,
}

/// A program that means its source, and where it is cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its steps.
    pub derivation: Derivation,
    /// Where batches end before the end of the program, in steps done.
    pub cuts: Vec<usize>,
}

/// The stream of random numbers for a variant; the source has one of its own.
pub fn stream(seed: u64, variant: Option<u64>) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(variant.map_or(0, |variant| variant + 1));
    rng
}

/// What a thread needs to make variants, kept from one to the next.
enum Worker<'a> {
    /// It borrows nothing, unlike those of the laboratory.
    Implicit(Box<Walker>, PhantomData<&'a Weights>),
    #[cfg(feature = "laboratory")]
    EGraph { extraction: &'a Extraction, class: ClassId, escape: Escape, bound: usize, steps: Vec<Step> },
    #[cfg(feature = "laboratory")]
    Rewrite { rewriter: Rewriter<'a>, canonical: Derivation, budget: Budget },
}

impl<'a> Worker<'a> {
    fn new(source: &Source, generator: Generator<'a>) -> Self {
        match generator {
            Generator::Implicit { pace, leave, weights } => {
                let walker = Walker::new(&source.graph, source.names.count(), pace, leave, weights);
                Worker::Implicit(Box::new(walker), PhantomData)
            }
            #[cfg(feature = "laboratory")]
            Generator::EGraph { extraction, class, escape, bound } =>
            {
                #[cfg(feature = "laboratory")]
                Worker::EGraph { extraction, class, escape, bound, steps: Vec::new() }
            }
            #[cfg(feature = "laboratory")]
            Generator::Rewrite { rules, signature, budget, bound } => Worker::Rewrite {
                rewriter: Rewriter::new(rules, source.names.count(), signature, bound),
                canonical: Derivation::canonical(&source.graph),
                budget,
            },
        }
    }

    fn make(&mut self, rng: &mut ChaCha8Rng) -> &[Step] {
        match self {
            Worker::Implicit(walker, _) => walker.walk(rng),
            #[cfg(feature = "laboratory")]
            Worker::EGraph { extraction, class, escape, bound, steps } => {
                extraction.walk(*class, *escape, *bound, rng, steps);
                steps
            }
            #[cfg(feature = "laboratory")]
            Worker::Rewrite { rewriter, canonical, budget } => rewriter.rewrite(canonical, *budget, rng).0,
        }
    }
}

/// Makes variants one after the other on this thread, with stream numbers from 0.
pub fn variants<'a>(
    source: &Source,
    generator: Generator<'a>,
    seed: u64,
) -> impl Iterator<Item = Derivation> + use<'a> {
    let mut worker = Worker::new(source, generator);
    (0..).map(move |number| Derivation::new(worker.make(&mut stream(seed, Some(number))).to_vec()))
}

/// How many variants are made before the first of them is handed on.
pub const CHUNK: u64 = 1024;

/// Makes so many variants on all cores, renders each on the core that made it, and hands what came out on in order.
pub fn generate<T: Send>(
    source: &Source,
    generator: Generator,
    batching: Batching,
    seed: u64,
    count: u64,
    render: impl Fn(u64, &Variant) -> T + Sync,
    mut take: impl FnMut(T) -> ControlFlow<()>,
) {
    for start in (0..count).step_by(CHUNK as usize) {
        let numbers = start..count.min(start + CHUNK);
        let made: Vec<T> = numbers
            .into_par_iter()
            .map_init(
                || Worker::new(source, generator),
                |worker, number| {
                    let mut rng = stream(seed, Some(number));
                    let derivation = Derivation::new(worker.make(&mut rng).to_vec());
                    let cuts = cut(derivation.len(), batching.batches, batching.cuts, &mut rng);
                    render(number, &Variant { derivation, cuts })
                },
            )
            .collect();
        for item in made {
            if take(item).is_break() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::batches;
    #[cfg(feature = "laboratory")]
    use crate::egraph::{Frozen, Limits};
    use crate::implicit::Escape;
    use crate::signature::Signature;

    const BATCHING: Batching = Batching { batches: 4, cuts: Cuts::Random };

    fn collect(source: &Source, generator: Generator, threads: usize) -> Vec<Variant> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut all = Vec::new();
        pool.install(|| {
            generate(
                source,
                generator,
                BATCHING,
                5,
                1500,
                |_, variant| variant.clone(),
                |variant| {
                    all.push(variant);
                    ControlFlow::Continue(())
                },
            );
        });
        all
    }

    /// Each generator, without and with attributes.
    fn with_each_generator(mut test: impl FnMut(&Source, Generator)) {
        let mut rng = stream(5, None);
        let bare = Source::random(4..=4, 3..=3, &mut rng).with_foreign(1, &mut rng);
        test(&bare, implicit(Weights::bare()));
        #[cfg(feature = "laboratory")]
        with_those_of_the_laboratory(&bare, Signature::bare(), &mut test);
        let signature = Signature::part(&[2], 2);
        let weights = Weights::even(&signature);
        let source = Source::random(2..=2, 1..=1, &mut rng).dressed(&weights, &mut rng);
        let source = source.with_foreign(1, &mut rng);
        test(&source, implicit(&weights));
        #[cfg(feature = "laboratory")]
        with_those_of_the_laboratory(&source, &signature, &mut test);
    }

    fn escape() -> Escape {
        Escape::new(0.4).unwrap()
    }

    fn implicit(weights: &Weights) -> Generator<'_> {
        Generator::Implicit { pace: Pace::Escape { escape: escape(), bound: 40 }, leave: 0.5, weights }
    }

    #[cfg(feature = "laboratory")]
    fn with_those_of_the_laboratory(
        source: &Source,
        signature: &Signature,
        test: &mut impl FnMut(&Source, Generator),
    ) {
        let rules = Rules::over(signature);
        let resources = source.names.count();
        let frozen = Frozen::build(resources, signature, &[], &rules, Limits::default(), |_| {}).unwrap();
        let extraction = Extraction::new(&frozen);
        let canonical = Derivation::canonical(&source.graph);
        let class = frozen.lookup(&frozen.operations(), canonical.steps()).unwrap();
        test(source, Generator::EGraph { extraction: &extraction, class, escape: escape(), bound: 40 });
        let budget = Budget::Rewrites(30);
        test(source, Generator::Rewrite { rules: &rules, signature, budget, bound: 40 });
    }

    #[test]
    fn every_variant_of_every_generator_means_its_source_and_every_batch_is_well_formed() {
        with_each_generator(|source, generator| {
            let variants = collect(source, generator, 2);
            assert_eq!(variants.len(), 1500);
            for Variant { derivation: program, cuts } in variants {
                assert!(program.len() <= 40);
                assert_eq!(program.eval().as_ref(), Ok(&source.graph));
                for batch in batches(program.len(), &cuts) {
                    assert!(!batch.is_empty());
                    assert!(Derivation::new(program.steps()[..batch.end].to_vec()).eval().is_ok());
                }
            }
        });
    }

    #[test]
    fn the_number_of_threads_changes_nothing() {
        with_each_generator(|source, generator| {
            assert_eq!(collect(source, generator, 1), collect(source, generator, 3));
        });
    }

    #[test]
    fn generation_stops_when_nobody_takes_more() {
        with_each_generator(|source, generator| {
            let mut taken = 0;
            generate(
                source,
                generator,
                BATCHING,
                5,
                u64::MAX / 2,
                |number, _| number,
                |_| {
                    taken += 1;
                    if taken == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                },
            );
            assert_eq!(taken, 10);
        });
    }
}
