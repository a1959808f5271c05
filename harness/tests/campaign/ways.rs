//! The ways to run an engine that users may choose between make no difference to what it does.

use std::collections::BTreeSet;
use std::time::Duration;

use equiform::campaign::{Settings, judge};
use equiform::case::Case;
use equiform::deploy::access::Way;
use equiform::deploy::evidence::Evidence;
use equiform::graph::NamedGraph;
use equiform::model::ExpectedOperation;
use equiform::observe::graph_of;
use equiform::oracle::{ORACLES, Oracle};
use equiform::render::Syntax;

use super::support::{engine, provider, runner};

/// What was done in each stage, and the graph that it led to.
type Deeds = Vec<(BTreeSet<ExpectedOperation>, NamedGraph)>;

fn deeds(case: &Case, spec: &str, way: Way, syntax: Syntax) -> Vec<Deeds> {
    let (folder, provider) = (tempfile::tempdir().unwrap(), provider(way));
    let mut runner = runner(&engine(spec), &provider, Duration::from_secs(120));
    runner.syntax = syntax;
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let deeds_of = |variant| {
        let place = judge::variant_folder(folder.path(), variant);
        runner.deploy(case, variant, &place).unwrap();
        let verdict = judge::variant(case, variant, &place, &oracles);
        assert_eq!(verdict, equiform::campaign::verdict::Result::Pass, "{way:?} {syntax:?}");
        let mut evidence = Evidence::open(&place, case.batches(variant).unwrap().len()).unwrap();
        let mut deeds = Deeds::new();
        while let Some((stage, world)) = evidence.next_stage().unwrap() {
            let operations = stage.operations.into_iter().map(|observed| observed.operation);
            deeds.push((operations.collect(), graph_of(world).0));
        }
        deeds
    };
    (0..case.variants.len()).map(deeds_of).collect()
}

fn all_ways_do_the_same(spec: &str) {
    let settings = Settings {
        seed: 4,
        sources: 1,
        variants: 2,
        batches: 3,
        resources: 5..=5,
        edges: 6..=6,
        ..Settings::default()
    };
    let case = settings.case(0);
    let usual = deeds(&case, spec, Way::Reattach, Syntax::Hcl);
    assert!(usual.iter().flatten().any(|(operations, _)| !operations.is_empty()));
    assert_eq!(deeds(&case, spec, Way::Init, Syntax::Hcl), usual);
    assert_eq!(deeds(&case, spec, Way::Reattach, Syntax::Json), usual);
}

#[test]
fn terraform_does_the_same_with_a_provider_that_it_installs_and_with_programs_in_json() {
    all_ways_do_the_same("terraform@1.15.5");
}

#[test]
fn opentofu_does_the_same_with_a_provider_that_it_installs_and_with_programs_in_json() {
    all_ways_do_the_same("tofu@1.12.6");
}
