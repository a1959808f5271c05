//! The modes of running an engine that users may choose between make no difference to what it does.

use std::collections::BTreeSet;
use std::time::Duration;

use equiform::algebra::graph::NamedGraph;
use equiform::campaign::Settings;
use equiform::case::Case;
use equiform::case::stage::{Defect, JudgedAs, ProgramRef, Stage};
use equiform::deploy::Start;
use equiform::engines::driver::{ProviderMode, Syntax};
use equiform::evidence::Evidence;
use equiform::judge::observe::graph_of;
use equiform::judge::oracles::{ORACLES, Oracle};
use equiform::judge::variant as judge;
use equiform::judge::verdict::VariantResult;
use equiform::spec::{Action, Options, ResourceOperation};

use super::support::{engine, provider, runner};

/// What was done in each stage, and the graph that it led to.
type Behaviour = Vec<(BTreeSet<ResourceOperation>, NamedGraph)>;

fn behaviour(case: &Case, spec: &str, mode: ProviderMode, syntax: Syntax) -> Vec<Behaviour> {
    let (folder, provider) = (tempfile::tempdir().unwrap(), provider(mode));
    let mut runner = runner(&engine(spec), &provider, Duration::from_secs(120));
    runner.syntax = syntax;
    let case = &case.clone().on(runner.engine.engine().recorded());
    let oracles: Vec<&Oracle> = ORACLES.iter().collect();
    let behaviour_of = |variant| {
        let place = judge::variant_folder(folder.path(), variant);
        runner.deploy(case, variant, &place, Start::Cold).unwrap();
        let verdict = judge::variant(case, variant, &place, &oracles);
        assert_eq!(verdict, VariantResult::Pass, "{mode:?} {syntax:?}");
        let mut evidence =
            Evidence::open(&place, &case.variants[variant].stages, runner.engine.profile().reader).unwrap();
        let mut behaviour = Behaviour::new();
        while let Some((stage, world)) = evidence.next_stage().unwrap() {
            let operations = stage.operations.into_iter().map(|observed| observed.operation);
            behaviour.push((operations.collect(), graph_of(world).0));
        }
        behaviour
    };
    (0..case.variants.len()).map(behaviour_of).collect()
}

fn all_modes_do_the_same(spec: &str) {
    let settings = Settings {
        seed: 6,
        sources: 1,
        variants: 2,
        batches: 3,
        resources: 5..=5,
        edges: 6..=6,
        ..Settings::default()
    };
    let case = settings.case(0);
    let usual = behaviour(&case, spec, ProviderMode::Reattach, Syntax::Hcl);
    assert!(usual.iter().flatten().any(|(operations, _)| !operations.is_empty()));
    assert_eq!(behaviour(&case, spec, ProviderMode::Init, Syntax::Hcl), usual);
    assert_eq!(behaviour(&case, spec, ProviderMode::Reattach, Syntax::Json), usual);
}

#[test]
fn terraform_does_the_same_with_a_provider_that_it_installs_and_with_programs_in_json() {
    all_modes_do_the_same("terraform@1.15.5");
}

#[test]
fn opentofu_does_the_same_with_a_provider_that_it_installs_and_with_programs_in_json() {
    all_modes_do_the_same("tofu@1.12.6");
}

#[test]
fn a_folder_is_prepared_even_if_the_first_program_is_one_that_init_refuses() {
    let settings = Settings { sources: 1, variants: 1, batches: 1, ..Settings::default() };
    let mut case = settings.case(0);
    let resource = case.batches(0).unwrap()[0].order[0].clone();
    let program = ProgramRef::Broken { batch: 1, defect: Defect::Twice { resource } };
    let apply = Action::Apply(Options::default());
    case.variants[0].stages.insert(0, Stage::new("refused", apply, program, JudgedAs::Refused));
    behaviour(&case, "terraform@1.15.5", ProviderMode::Init, Syntax::Hcl);
}
