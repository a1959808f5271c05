//! Prints in one run how the parts compare: saturation against `egg`, a walk of each generator, and diversity.
//!
//! `EQUIFORM_BENCH_SEVEN=1` adds saturation over 7 resources, which takes minutes and gigabytes.

mod egg_algebra;

use std::time::{Duration, Instant};

use equiform_algebra::egraph::{ClassId, Extraction, Frozen, Limits};
use equiform_algebra::generate::{Generator, stream, variants};
use equiform_algebra::implicit::{Escape, Pace};
use equiform_algebra::program::Derivation;
use equiform_algebra::rewrite::Budget;
use equiform_algebra::rules::Rules;
use equiform_algebra::signature::Signature;
use equiform_algebra::source::Source;
use equiform_algebra::study::Tally;
use equiform_algebra::weights::Weights;

fn main() {
    // A test run starts benches without this flag, to see that they start at all.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    saturation();
    saturation_with_attributes();
    let rules = Rules::algebra();
    walks(&rules);
    diversity(&rules);
}

fn saturation() {
    println!("Saturation from `empty`, the same guarded rules");
    println!("{:>9} {:>9} {:>12} {:>12} {:>8}", "resources", "classes", "equiform", "egg", "times");
    let most = if std::env::var_os("EQUIFORM_BENCH_SEVEN").is_some() { 7 } else { 6 };
    for resources in 3..=most {
        let bare = Signature::bare();
        let frozen = Frozen::build(resources, bare, &[], &Rules::algebra(), Limits::default(), |_| {})
            .expect("the rules are sound");
        let seconds = frozen.stats.seconds;
        let classes = frozen.stats.classes;
        if resources <= 5 {
            let (egg_classes, time) = egg_algebra::saturate(resources);
            assert_eq!(egg_classes, classes, "both find the same classes");
            let times = time.as_secs_f64() / seconds;
            println!(
                "{resources:>9} {classes:>9} {seconds:>10.4} s {:>10.4} s {times:>8.0}",
                time.as_secs_f64()
            );
        } else {
            let memory = frozen.stats.bytes >> 20;
            println!("{resources:>9} {classes:>9} {seconds:>10.4} s {:>12} ({memory} MiB)", "-");
        }
    }
}

fn saturation_with_attributes() {
    println!("\nSaturation from `empty` with d states of a resource and k kinds of edges");
    println!("{:>9} {:>3} {:>3} {:>9} {:>9} {:>12}", "resources", "d", "k", "classes", "made", "equiform");
    let universes: [(u32, &[usize], usize); 6] =
        [(3, &[2], 2), (3, &[2, 2], 2), (4, &[2], 1), (4, &[], 2), (4, &[2], 2), (2, &[4, 3, 2, 2], 5)];
    for (resources, values, kinds) in universes {
        let (signature, rules) = (Signature::part(values, kinds), Rules::attributed());
        let frozen = Frozen::build(resources, &signature, &[], &rules, Limits::default(), |_| {})
            .expect("the rules are sound");
        let stats = frozen.stats;
        assert_eq!(Some(stats.classes as u128), signature.graphs(resources), "a class for each graph");
        let (states, classes, made) = (signature.states(), stats.classes, stats.classes_made);
        println!("{resources:>9} {states:>3} {kinds:>3} {classes:>9} {made:>9} {:>10.4} s", stats.seconds);
    }
}

/// A source with edges as real programs have them.
fn source(resources: u32, seed: u64) -> Source {
    let mut rng = stream(seed, None);
    let edges = u64::from(resources) * 89 / 109;
    Source::random(resources..=resources, edges..=edges, &mut rng)
        .with_foreign(resources.div_ceil(5), &mut rng)
}

/// What each generator works with for a source.
struct Setting<'a> {
    source: Source,
    extraction: Extraction,
    class: ClassId,
    rules: &'a Rules,
    bound: usize,
}

impl<'a> Setting<'a> {
    fn new(resources: u32, seed: u64, time: Duration, rules: &'a Rules) -> Self {
        let source = source(resources, seed);
        let canonical = Derivation::canonical(&source.graph);
        let limits = Limits { time: Some(time), classes: Some(100_000), nodes: None };
        let universe = source.names.count();
        let seeds = std::slice::from_ref(&canonical);
        let frozen = Frozen::build(universe, Signature::bare(), seeds, rules, limits, |_| {})
            .expect("the rules are sound");
        let class = frozen.lookup(&frozen.operations(), canonical.steps()).expect("seeded with it");
        Self { source, extraction: Extraction::new(&frozen), class, rules, bound: 4 * canonical.len() + 16 }
    }

    fn generators(&self, epsilon: f64, rewriting: Budget) -> [(&'static str, Generator<'_>); 3] {
        let (escape, bound) = (Escape::new(epsilon).expect("a probability"), self.bound);
        let (pace, signature) = (Pace::Escape { escape, bound }, Signature::bare());
        [
            ("implicit", Generator::Implicit { pace, leave: 0.5, weights: Weights::bare() }),
            ("e-graph", Generator::EGraph { extraction: &self.extraction, class: self.class, escape, bound }),
            ("rewriting", Generator::Rewrite { rules: self.rules, signature, budget: rewriting, bound }),
        ]
    }
}

fn walks(rules: &Rules) {
    println!("\nA test, ε 25 % (the e-graph stopped after 2 s, rewriting makes 381 rewrites)");
    println!("{:>9} {:>10} {:>12} {:>8} {:>14}", "resources", "generator", "µs a test", "steps", "ns a step");
    for resources in [15, 50, 120, 1000] {
        let setting = Setting::new(resources, 1, Duration::from_secs(2), rules);
        for (name, generator) in setting.generators(0.25, Budget::Rewrites(381)) {
            let (start, mut tests, mut steps) = (Instant::now(), 0u32, 0);
            for program in variants(&setting.source, generator, 1) {
                steps += program.len();
                tests += 1;
                if tests.is_multiple_of(16) && start.elapsed() > Duration::from_millis(500) {
                    break;
                }
            }
            let micros = start.elapsed().as_secs_f64() * 1e6 / f64::from(tests);
            let length = steps as f64 / f64::from(tests);
            println!(
                "{resources:>9} {name:>10} {micros:>12.2} {length:>8.1} {:>14.1}",
                micros * 1000.0 / length
            );
        }
    }
}

fn diversity(rules: &Rules) {
    for (title, same_time) in [("100 tests", false), ("0.1 s of tests, 2 s of saturation not counted", true)]
    {
        println!("\nDistinct graphs visited in {title}, mean of 5 sources, ε 25 %");
        println!(
            "{:>9} {:>10} {:>10} {:>11} {:>6} {:>9}",
            "resources", "generator", "diversity", "redundancy", "size", "tests"
        );
        for resources in [5, 15, 50] {
            let mut sums = [("", [0.0; 4]); 3];
            for seed in 0..5 {
                let setting = Setting::new(resources, seed, Duration::from_secs(2), rules);
                for (sum, (name, generator)) in
                    sums.iter_mut().zip(setting.generators(0.25, Budget::Rewrites(381)))
                {
                    let (start, mut tally, mut tests) = (Instant::now(), Tally::default(), 0);
                    let mut programs = variants(&setting.source, generator, seed);
                    let mut spent = Duration::ZERO;
                    while if same_time { spent < Duration::from_millis(100) } else { tests < 100 } {
                        let before = start.elapsed();
                        let program = programs.next().expect("generators do not run dry");
                        spent += start.elapsed() - before;
                        tally.count(&program);
                        tests += 1;
                    }
                    let figures = tally.diversity(setting.source.graph.size());
                    *sum = (
                        name,
                        [
                            sum.1[0] + figures.graphs / 5.0,
                            sum.1[1] + figures.redundancy / 5.0,
                            sum.1[2] + figures.size / 5.0,
                            sum.1[3] + f64::from(tests) / 5.0,
                        ],
                    );
                }
            }
            for (name, [graphs, redundancy, size, tests]) in sums {
                println!(
                    "{resources:>9} {name:>10} {graphs:>10.1} {redundancy:>11.3} {size:>6.2} {tests:>9.0}"
                );
            }
        }
    }
}
