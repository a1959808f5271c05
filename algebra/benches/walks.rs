//! A walk of the implicit generator by resources, and saturation: for comparison with an earlier run.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use equiform_algebra::egraph::{Limits, SmallEGraph, saturate};
use equiform_algebra::generate::stream;
use equiform_algebra::implicit::{Escape, Pace, Walker};
use equiform_algebra::rules::Rules;
use equiform_algebra::signature::Signature;
use equiform_algebra::source::Source;
use equiform_algebra::weights::Weights;

fn implicit_walk(criterion: &mut Criterion) {
    implicit_walk_with(criterion, "implicit walk, ε 25 %", Weights::bare());
    let weights = Weights::half_default(Signature::attributed());
    implicit_walk_with(criterion, "implicit walk with attributes, ε 25 %", &weights);
}

fn implicit_walk_with(criterion: &mut Criterion, name: &str, weights: &Weights) {
    let mut group = criterion.benchmark_group(name);
    for resources in [15u32, 50, 120, 1000] {
        let mut rng = stream(1, None);
        let edges = u64::from(resources) * 89 / 109;
        let source = Source::random(resources..=resources, edges..=edges, &mut rng);
        let source = source.dressed(weights, &mut rng).with_foreign(resources.div_ceil(5), &mut rng);
        let escape = Escape::new(0.25).expect("a probability");
        let pace = Pace::Escape { escape, bound: 4 * source.graph.size() + 16 };
        let mut walker = Walker::new(&source.graph, source.names.count(), pace, 0.5, weights);
        let mut variant = 0;
        group.throughput(Throughput::Elements(source.graph.size() as u64));
        group.bench_function(BenchmarkId::from_parameter(resources), |bencher| {
            bencher.iter(|| {
                variant += 1;
                walker.walk(&mut stream(1, Some(variant))).len()
            });
        });
    }
}

fn saturation(criterion: &mut Criterion) {
    let rules = Rules::algebra();
    let mut group = criterion.benchmark_group("saturation");
    group.sample_size(10);
    for resources in [3, 4, 5] {
        group.bench_function(BenchmarkId::from_parameter(resources), |bencher| {
            bencher.iter(|| {
                let mut egraph = SmallEGraph::new(resources, Signature::bare());
                saturate(&mut egraph, &rules, Limits::default(), |_| {}).expect("the rules are sound")
            });
        });
    }
}

criterion_group!(benches, implicit_walk, saturation);
criterion_main!(benches);
